/**
 * @generated SignedSource<<3b234670485a0863f673e8f6987346ef>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
import { FragmentRefs } from "relay-runtime";
export type UnfollowBoardInput = {
  boardId: string;
};
export type FollowBoardUnfollowMutation$variables = {
  input: UnfollowBoardInput;
};
export type FollowBoardUnfollowMutation$data = {
  readonly unfollowBoard: {
    readonly board: {
      readonly " $fragmentSpreads": FragmentRefs<"FollowBoard_board">;
    } | null | undefined;
  } | null | undefined;
};
export type FollowBoardUnfollowMutation = {
  response: FollowBoardUnfollowMutation$data;
  variables: FollowBoardUnfollowMutation$variables;
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
    "name": "FollowBoardUnfollowMutation",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "UnfollowBoardPayload",
        "kind": "LinkedField",
        "name": "unfollowBoard",
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
    "name": "FollowBoardUnfollowMutation",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "UnfollowBoardPayload",
        "kind": "LinkedField",
        "name": "unfollowBoard",
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
    "cacheID": "c2e7eb28c64101ac11dc0f8546d430d1",
    "id": null,
    "metadata": {},
    "name": "FollowBoardUnfollowMutation",
    "operationKind": "mutation",
    "text": "mutation FollowBoardUnfollowMutation(\n  $input: UnfollowBoardInput!\n) {\n  unfollowBoard(input: $input) {\n    board {\n      ...FollowBoard_board\n      id\n    }\n  }\n}\n\nfragment FollowBoard_board on Board {\n  id\n  name\n  viewerFollows\n  followers(first: 0) {\n    totalCount\n  }\n}\n"
  }
};
})();

(node as any).hash = "da797dec25ba7fe8f19c2c11b27f1052";

export default node;
