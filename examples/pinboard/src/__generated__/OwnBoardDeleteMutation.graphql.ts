/**
 * @generated SignedSource<<ffcf37af7b7a5deb17e0bb95dbd517c8>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
export type DeleteBoardInput = {
  boardId: string;
};
export type OwnBoardDeleteMutation$variables = {
  connections: ReadonlyArray<string>;
  input: DeleteBoardInput;
};
export type OwnBoardDeleteMutation$data = {
  readonly deleteBoard: {
    readonly deletedBoardId: string | null | undefined;
  } | null | undefined;
};
export type OwnBoardDeleteMutation = {
  response: OwnBoardDeleteMutation$data;
  variables: OwnBoardDeleteMutation$variables;
};

const node: ConcreteRequest = (function(){
var v0 = {
  "defaultValue": null,
  "kind": "LocalArgument",
  "name": "connections"
},
v1 = {
  "defaultValue": null,
  "kind": "LocalArgument",
  "name": "input"
},
v2 = [
  {
    "kind": "Variable",
    "name": "input",
    "variableName": "input"
  }
],
v3 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "deletedBoardId",
  "storageKey": null
};
return {
  "fragment": {
    "argumentDefinitions": [
      (v0/*:: as any*/),
      (v1/*:: as any*/)
    ],
    "kind": "Fragment",
    "metadata": null,
    "name": "OwnBoardDeleteMutation",
    "selections": [
      {
        "alias": null,
        "args": (v2/*:: as any*/),
        "concreteType": "DeleteBoardPayload",
        "kind": "LinkedField",
        "name": "deleteBoard",
        "plural": false,
        "selections": [
          (v3/*:: as any*/)
        ],
        "storageKey": null
      }
    ],
    "type": "Mutation",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": [
      (v1/*:: as any*/),
      (v0/*:: as any*/)
    ],
    "kind": "Operation",
    "name": "OwnBoardDeleteMutation",
    "selections": [
      {
        "alias": null,
        "args": (v2/*:: as any*/),
        "concreteType": "DeleteBoardPayload",
        "kind": "LinkedField",
        "name": "deleteBoard",
        "plural": false,
        "selections": [
          (v3/*:: as any*/),
          {
            "alias": null,
            "args": null,
            "filters": null,
            "handle": "deleteEdge",
            "key": "",
            "kind": "ScalarHandle",
            "name": "deletedBoardId",
            "handleArgs": [
              {
                "kind": "Variable",
                "name": "connections",
                "variableName": "connections"
              }
            ]
          }
        ],
        "storageKey": null
      }
    ]
  },
  "params": {
    "cacheID": "c99533dc8723e4384d9d822e731995d1",
    "id": null,
    "metadata": {},
    "name": "OwnBoardDeleteMutation",
    "operationKind": "mutation",
    "text": "mutation OwnBoardDeleteMutation(\n  $input: DeleteBoardInput!\n) {\n  deleteBoard(input: $input) {\n    deletedBoardId\n  }\n}\n"
  }
};
})();

(node as any).hash = "27b9f7856bda4a9fb417bed787d1b0e8";

export default node;
