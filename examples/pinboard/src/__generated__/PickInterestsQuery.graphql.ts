/**
 * @generated SignedSource<<540f5993fac681df40147011ed6945b4>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
import { FragmentRefs } from "relay-runtime";
export type PickInterestsQuery$variables = Record<PropertyKey, never>;
export type PickInterestsQuery$data = {
  readonly popularInterests: ReadonlyArray<{
    readonly id: string;
    readonly name: string;
    readonly " $fragmentSpreads": FragmentRefs<"FollowInterest_interest">;
  } | null | undefined> | null | undefined;
};
export type PickInterestsQuery = {
  response: PickInterestsQuery$data;
  variables: PickInterestsQuery$variables;
};

const node: ConcreteRequest = (function(){
var v0 = [
  {
    "kind": "Literal",
    "name": "first",
    "value": 8
  }
],
v1 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "id",
  "storageKey": null
},
v2 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "name",
  "storageKey": null
};
return {
  "fragment": {
    "argumentDefinitions": [],
    "kind": "Fragment",
    "metadata": null,
    "name": "PickInterestsQuery",
    "selections": [
      {
        "alias": null,
        "args": (v0/*:: as any*/),
        "concreteType": "Interest",
        "kind": "LinkedField",
        "name": "popularInterests",
        "plural": true,
        "selections": [
          (v1/*:: as any*/),
          (v2/*:: as any*/),
          {
            "args": null,
            "kind": "FragmentSpread",
            "name": "FollowInterest_interest"
          }
        ],
        "storageKey": "popularInterests(first:8)"
      }
    ],
    "type": "Query",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": [],
    "kind": "Operation",
    "name": "PickInterestsQuery",
    "selections": [
      {
        "alias": null,
        "args": (v0/*:: as any*/),
        "concreteType": "Interest",
        "kind": "LinkedField",
        "name": "popularInterests",
        "plural": true,
        "selections": [
          (v1/*:: as any*/),
          (v2/*:: as any*/),
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
        "storageKey": "popularInterests(first:8)"
      }
    ]
  },
  "params": {
    "cacheID": "6822fe4c50d58b315c48368fc655b5e7",
    "id": null,
    "metadata": {},
    "name": "PickInterestsQuery",
    "operationKind": "query",
    "text": "query PickInterestsQuery {\n  popularInterests(first: 8) {\n    id\n    name\n    ...FollowInterest_interest\n  }\n}\n\nfragment FollowInterest_interest on Interest {\n  id\n  name\n  viewerFollows\n  followers(first: 0) {\n    totalCount\n  }\n}\n"
  }
};
})();

(node as any).hash = "2fe8a45fb720837d46e8f69f24a4794f";

export default node;
