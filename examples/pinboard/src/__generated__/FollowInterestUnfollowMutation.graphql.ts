/**
 * @generated SignedSource<<b14b76e63878515262bf4b1c06c38796>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
import { FragmentRefs } from "relay-runtime";
export type UnfollowInterestInput = {
  interestId: string;
};
export type FollowInterestUnfollowMutation$variables = {
  input: UnfollowInterestInput;
};
export type FollowInterestUnfollowMutation$data = {
  readonly unfollowInterest: {
    readonly interest: {
      readonly " $fragmentSpreads": FragmentRefs<"FollowInterest_interest">;
    } | null | undefined;
  } | null | undefined;
};
export type FollowInterestUnfollowMutation = {
  response: FollowInterestUnfollowMutation$data;
  variables: FollowInterestUnfollowMutation$variables;
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
    "name": "FollowInterestUnfollowMutation",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "UnfollowInterestPayload",
        "kind": "LinkedField",
        "name": "unfollowInterest",
        "plural": false,
        "selections": [
          {
            "alias": null,
            "args": null,
            "concreteType": "Interest",
            "kind": "LinkedField",
            "name": "interest",
            "plural": false,
            "selections": [
              {
                "args": null,
                "kind": "FragmentSpread",
                "name": "FollowInterest_interest"
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
    "name": "FollowInterestUnfollowMutation",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "UnfollowInterestPayload",
        "kind": "LinkedField",
        "name": "unfollowInterest",
        "plural": false,
        "selections": [
          {
            "alias": null,
            "args": null,
            "concreteType": "Interest",
            "kind": "LinkedField",
            "name": "interest",
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
    "cacheID": "35e853ef5dfcfba20bc2d6f4418a46c1",
    "id": null,
    "metadata": {},
    "name": "FollowInterestUnfollowMutation",
    "operationKind": "mutation",
    "text": "mutation FollowInterestUnfollowMutation(\n  $input: UnfollowInterestInput!\n) {\n  unfollowInterest(input: $input) {\n    interest {\n      ...FollowInterest_interest\n      id\n    }\n  }\n}\n\nfragment FollowInterest_interest on Interest {\n  id\n  name\n  viewerFollows\n  followers(first: 0) {\n    totalCount\n  }\n}\n"
  }
};
})();

(node as any).hash = "37c2e04b05aca75c97e3d74dcd8d6e0b";

export default node;
