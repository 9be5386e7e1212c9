/**
 * @generated SignedSource<<5b47df9778249cf2f8b0228dd32b34a5>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
export type MovePinQuery$variables = Record<PropertyKey, never>;
export type MovePinQuery$data = {
  readonly viewer: {
    readonly boards: {
      readonly nodes: ReadonlyArray<{
        readonly id: string;
        readonly name: string;
        readonly sections: {
          readonly nodes: ReadonlyArray<{
            readonly id: string;
            readonly name: string;
          } | null | undefined>;
        } | null | undefined;
      } | null | undefined>;
    } | null | undefined;
    readonly sharedBoards: {
      readonly nodes: ReadonlyArray<{
        readonly id: string;
        readonly name: string;
        readonly sections: {
          readonly nodes: ReadonlyArray<{
            readonly id: string;
            readonly name: string;
          } | null | undefined>;
        } | null | undefined;
      } | null | undefined>;
    } | null | undefined;
  } | null | undefined;
};
export type MovePinQuery = {
  response: MovePinQuery$data;
  variables: MovePinQuery$variables;
};

const node: ConcreteRequest = (function(){
var v0 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "id",
  "storageKey": null
},
v1 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "name",
  "storageKey": null
},
v2 = [
  {
    "kind": "Literal",
    "name": "first",
    "value": 20
  }
],
v3 = [
  {
    "alias": null,
    "args": null,
    "concreteType": "Board",
    "kind": "LinkedField",
    "name": "nodes",
    "plural": true,
    "selections": [
      (v0/*:: as any*/),
      (v1/*:: as any*/),
      {
        "alias": null,
        "args": (v2/*:: as any*/),
        "concreteType": "SectionConnection",
        "kind": "LinkedField",
        "name": "sections",
        "plural": false,
        "selections": [
          {
            "alias": null,
            "args": null,
            "concreteType": "Section",
            "kind": "LinkedField",
            "name": "nodes",
            "plural": true,
            "selections": [
              (v0/*:: as any*/),
              (v1/*:: as any*/)
            ],
            "storageKey": null
          }
        ],
        "storageKey": "sections(first:20)"
      }
    ],
    "storageKey": null
  }
],
v4 = {
  "alias": null,
  "args": [
    {
      "kind": "Literal",
      "name": "first",
      "value": 50
    }
  ],
  "concreteType": "BoardConnection",
  "kind": "LinkedField",
  "name": "boards",
  "plural": false,
  "selections": (v3/*:: as any*/),
  "storageKey": "boards(first:50)"
},
v5 = {
  "alias": null,
  "args": (v2/*:: as any*/),
  "concreteType": "SharedBoardConnection",
  "kind": "LinkedField",
  "name": "sharedBoards",
  "plural": false,
  "selections": (v3/*:: as any*/),
  "storageKey": "sharedBoards(first:20)"
};
return {
  "fragment": {
    "argumentDefinitions": [],
    "kind": "Fragment",
    "metadata": null,
    "name": "MovePinQuery",
    "selections": [
      {
        "alias": null,
        "args": null,
        "concreteType": "User",
        "kind": "LinkedField",
        "name": "viewer",
        "plural": false,
        "selections": [
          (v4/*:: as any*/),
          (v5/*:: as any*/)
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
    "name": "MovePinQuery",
    "selections": [
      {
        "alias": null,
        "args": null,
        "concreteType": "User",
        "kind": "LinkedField",
        "name": "viewer",
        "plural": false,
        "selections": [
          (v4/*:: as any*/),
          (v5/*:: as any*/),
          (v0/*:: as any*/)
        ],
        "storageKey": null
      }
    ]
  },
  "params": {
    "cacheID": "8a0730e542e8e3e06942d7c87896b427",
    "id": null,
    "metadata": {},
    "name": "MovePinQuery",
    "operationKind": "query",
    "text": "query MovePinQuery {\n  viewer {\n    boards(first: 50) {\n      nodes {\n        id\n        name\n        sections(first: 20) {\n          nodes {\n            id\n            name\n          }\n        }\n      }\n    }\n    sharedBoards(first: 20) {\n      nodes {\n        id\n        name\n        sections(first: 20) {\n          nodes {\n            id\n            name\n          }\n        }\n      }\n    }\n    id\n  }\n}\n"
  }
};
})();

(node as any).hash = "f435a66dc40ae9acf88884d2289dce8c";

export default node;
