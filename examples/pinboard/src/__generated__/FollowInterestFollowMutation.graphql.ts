/**
 * @generated SignedSource<<3dbb0a1d5edb09c228593ca5cdb08b7c>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
import { FragmentRefs } from "relay-runtime";
export type FollowInterestInput = {
  interestId: string;
};
export type FollowInterestFollowMutation$variables = {
  input: FollowInterestInput;
};
export type FollowInterestFollowMutation$data = {
  readonly followInterest: {
    readonly interest: {
      readonly " $fragmentSpreads": FragmentRefs<"FollowInterest_interest">;
    } | null | undefined;
  } | null | undefined;
};
export type FollowInterestFollowMutation = {
  response: FollowInterestFollowMutation$data;
  variables: FollowInterestFollowMutation$variables;
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
    "name": "FollowInterestFollowMutation",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "FollowInterestPayload",
        "kind": "LinkedField",
        "name": "followInterest",
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
    "name": "FollowInterestFollowMutation",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "FollowInterestPayload",
        "kind": "LinkedField",
        "name": "followInterest",
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
    "cacheID": "661ba3554f5ae03dfa350af6655dee74",
    "id": null,
    "metadata": {},
    "name": "FollowInterestFollowMutation",
    "operationKind": "mutation",
    "text": "mutation FollowInterestFollowMutation(\n  $input: FollowInterestInput!\n) {\n  followInterest(input: $input) {\n    interest {\n      ...FollowInterest_interest\n      id\n    }\n  }\n}\n\nfragment FollowInterest_interest on Interest {\n  id\n  name\n  viewerFollows\n  followers(first: 0) {\n    totalCount\n  }\n}\n"
  }
};
})();

(node as any).hash = "8c9729cdb3030a923079b128abd5a817";

export default node;
