/**
 * @generated SignedSource<<cb2ed8bad9db7ae5cb39fb6b5a4dc12a>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
import { FragmentRefs } from "relay-runtime";
export type UpdateBoardInput = {
  boardId: string;
  cover?: ImageInput | null | undefined;
  description?: string | null | undefined;
  name?: string | null | undefined;
  secret?: boolean | null | undefined;
};
export type ImageInput = {
  alt?: string | null | undefined;
  height?: number | null | undefined;
  url: string;
  width?: number | null | undefined;
};
export type OwnBoardUpdateMutation$variables = {
  input: UpdateBoardInput;
};
export type OwnBoardUpdateMutation$data = {
  readonly updateBoard: {
    readonly board: {
      readonly " $fragmentSpreads": FragmentRefs<"OwnBoard_board">;
    } | null | undefined;
  } | null | undefined;
};
export type OwnBoardUpdateMutation = {
  response: OwnBoardUpdateMutation$data;
  variables: OwnBoardUpdateMutation$variables;
};

const node: ConcreteRequest = (function(){
var v0 = [
  {
    "defaultValue": null,
    "kind": "LocalArgument",
    "name": "input"
  }
],
v1 = [
  {
    "kind": "Variable",
    "name": "input",
    "variableName": "input"
  }
],
v2 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "id",
  "storageKey": null
};
return {
  "fragment": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Fragment",
    "metadata": null,
    "name": "OwnBoardUpdateMutation",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "UpdateBoardPayload",
        "kind": "LinkedField",
        "name": "updateBoard",
        "plural": false,
        "selections": [
          {
            "alias": null,
            "args": null,
            "concreteType": "Board",
            "kind": "LinkedField",
            "name": "board",
            "plural": false,
            "selections": [
              {
                "args": null,
                "kind": "FragmentSpread",
                "name": "OwnBoard_board"
              }
            ],
            "storageKey": null
          }
        ],
        "storageKey": null
      }
    ],
    "type": "Mutation",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "OwnBoardUpdateMutation",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "UpdateBoardPayload",
        "kind": "LinkedField",
        "name": "updateBoard",
        "plural": false,
        "selections": [
          {
            "alias": null,
            "args": null,
            "concreteType": "Board",
            "kind": "LinkedField",
            "name": "board",
            "plural": false,
            "selections": [
              (v2/*:: as any*/),
              {
                "alias": null,
                "args": null,
                "kind": "ScalarField",
                "name": "name",
                "storageKey": null
              },
              {
                "alias": null,
                "args": null,
                "kind": "ScalarField",
                "name": "description",
                "storageKey": null
              },
              {
                "alias": null,
                "args": null,
                "kind": "ScalarField",
                "name": "secret",
                "storageKey": null
              },
              {
                "alias": null,
                "args": null,
                "kind": "ScalarField",
                "name": "viewerCanDelete",
                "storageKey": null
              },
              {
                "alias": null,
                "args": null,
                "concreteType": "User",
                "kind": "LinkedField",
                "name": "owner",
                "plural": false,
                "selections": [
                  (v2/*:: as any*/),
                  {
                    "alias": null,
                    "args": null,
                    "kind": "ScalarField",
                    "name": "username",
                    "storageKey": null
                  }
                ],
                "storageKey": null
              }
            ],
            "storageKey": null
          }
        ],
        "storageKey": null
      }
    ]
  },
  "params": {
    "cacheID": "6fb0ef746cecd2943a9d7d8922aad74c",
    "id": null,
    "metadata": {},
    "name": "OwnBoardUpdateMutation",
    "operationKind": "mutation",
    "text": "mutation OwnBoardUpdateMutation(\n  $input: UpdateBoardInput!\n) {\n  updateBoard(input: $input) {\n    board {\n      ...OwnBoard_board\n      id\n    }\n  }\n}\n\nfragment OwnBoard_board on Board {\n  id\n  name\n  description\n  secret\n  viewerCanDelete\n  owner {\n    id\n    username\n  }\n}\n"
  }
};
})();

(node as any).hash = "acc5af0ee1fe9f2d097f899315bb29c3";

export default node;
