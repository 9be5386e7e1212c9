/**
 * @generated SignedSource<<5ce147842bdb3169c654e840485a9ebf>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
export type useWaitingQuery$variables = Record<PropertyKey, never>;
export type useWaitingQuery$data = {
  readonly viewer: {
    readonly homeFeedWaiting: number | null | undefined;
  } | null | undefined;
};
export type useWaitingQuery = {
  response: useWaitingQuery$data;
  variables: useWaitingQuery$variables;
};

const node: ConcreteRequest = (function(){
var v0 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "homeFeedWaiting",
  "storageKey": null
};
return {
  "fragment": {
    "argumentDefinitions": [],
    "kind": "Fragment",
    "metadata": null,
    "name": "useWaitingQuery",
    "selections": [
      {
        "alias": null,
        "args": null,
        "concreteType": "User",
        "kind": "LinkedField",
        "name": "viewer",
        "plural": false,
        "selections": [
          (v0/*:: as any*/)
        ],
        "storageKey": null
      }
    ],
    "type": "Query",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": [],
    "kind": "Operation",
    "name": "useWaitingQuery",
    "selections": [
      {
        "alias": null,
        "args": null,
        "concreteType": "User",
        "kind": "LinkedField",
        "name": "viewer",
        "plural": false,
        "selections": [
          (v0/*:: as any*/),
          {
            "alias": null,
            "args": null,
            "kind": "ScalarField",
            "name": "id",
            "storageKey": null
          }
        ],
        "storageKey": null
      }
    ]
  },
  "params": {
    "cacheID": "c44e35bee7d6dba981068f36802dcccf",
    "id": null,
    "metadata": {},
    "name": "useWaitingQuery",
    "operationKind": "query",
    "text": "query useWaitingQuery {\n  viewer {\n    homeFeedWaiting\n    id\n  }\n}\n"
  }
};
})();

(node as any).hash = "401d06a29d04fc6e7bc683a7ded1d14b";

export default node;
