/**
 * @generated SignedSource<<151c08c6a00f986eb4179c1476fe994e>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
import { FragmentRefs } from "relay-runtime";
export type FollowBoardInput = {
  boardId: string;
};
export type FollowBoardFollowMutation$variables = {
  input: FollowBoardInput;
};
export type FollowBoardFollowMutation$data = {
  readonly followBoard: {
    readonly board: {
      readonly " $fragmentSpreads": FragmentRefs<"FollowBoard_board">;
    } | null | undefined;
  } | null | undefined;
};
export type FollowBoardFollowMutation = {
  response: FollowBoardFollowMutation$data;
  variables: FollowBoardFollowMutation$variables;
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
];
return {
  "fragment": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Fragment",
    "metadata": null,
    "name": "FollowBoardFollowMutation",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "FollowBoardPayload",
        "kind": "LinkedField",
        "name": "followBoard",
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
                "name": "FollowBoard_board"
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
    "name": "FollowBoardFollowMutation",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "FollowBoardPayload",
        "kind": "LinkedField",
        "name": "followBoard",
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
                "alias": null,
                "args": null,
                "kind": "ScalarField",
                "name": "id",
                "storageKey": null
              },
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
                "name": "viewerFollows",
                "storageKey": null
              },
              {
                "alias": null,
                "args": [
                  {
                    "kind": "Literal",
                    "name": "first",
                    "value": 0
                  }
                ],
                "concreteType": "FollowerConnection",
                "kind": "LinkedField",
                "name": "followers",
                "plural": false,
                "selections": [
                  {
                    "alias": null,
                    "args": null,
                    "kind": "ScalarField",
                    "name": "totalCount",
                    "storageKey": null
                  }
                ],
                "storageKey": "followers(first:0)"
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
    "cacheID": "1939cb5f88565067b9e1c80554d9b4ea",
    "id": null,
    "metadata": {},
    "name": "FollowBoardFollowMutation",
    "operationKind": "mutation",
    "text": "mutation FollowBoardFollowMutation(\n  $input: FollowBoardInput!\n) {\n  followBoard(input: $input) {\n    board {\n      ...FollowBoard_board\n      id\n    }\n  }\n}\n\nfragment FollowBoard_board on Board {\n  id\n  name\n  viewerFollows\n  followers(first: 0) {\n    totalCount\n  }\n}\n"
  }
};
})();

(node as any).hash = "668848c2a19fdc2fad77cc609ea13f16";

export default node;
