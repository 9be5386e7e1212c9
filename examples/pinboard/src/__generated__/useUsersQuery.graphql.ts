/**
 * @generated SignedSource<<a37b96af027ab7b11bb14234d558f505>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
export type useUsersQuery$variables = {
  startsWith: string;
};
export type useUsersQuery$data = {
  readonly users: {
    readonly nodes: ReadonlyArray<{
      readonly id: string;
      readonly isViewer: boolean;
      readonly name: string;
      readonly username: string;
    } | null | undefined>;
  } | null | undefined;
};
export type useUsersQuery = {
  response: useUsersQuery$data;
  variables: useUsersQuery$variables;
};

const node: ConcreteRequest = (function(){
var v0 = [
  {
    "defaultValue": null,
    "kind": "LocalArgument",
    "name": "startsWith"
  }
],
v1 = [
  {
    "alias": null,
    "args": [
      {
        "kind": "Literal",
        "name": "first",
        "value": 5
      },
      {
        "kind": "Variable",
        "name": "startsWith",
        "variableName": "startsWith"
      }
    ],
    "concreteType": "UserMatches",
    "kind": "LinkedField",
    "name": "users",
    "plural": false,
    "selections": [
      {
        "alias": null,
        "args": null,
        "concreteType": "User",
        "kind": "LinkedField",
        "name": "nodes",
        "plural": true,
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
            "name": "username",
            "storageKey": null
          },
          {
            "alias": null,
            "args": null,
            "kind": "ScalarField",
            "name": "isViewer",
            "storageKey": null
          }
        ],
        "storageKey": null
      }
    ],
    "storageKey": null
  }
];
return {
  "fragment": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Fragment",
    "metadata": null,
    "name": "useUsersQuery",
    "selections": (v1/*:: as any*/),
    "type": "Query",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "useUsersQuery",
    "selections": (v1/*:: as any*/)
  },
  "params": {
    "cacheID": "83822bbb2eb75fea5f63b30a11395fbf",
    "id": null,
    "metadata": {},
    "name": "useUsersQuery",
    "operationKind": "query",
    "text": "query useUsersQuery(\n  $startsWith: String!\n) {\n  users(startsWith: $startsWith, first: 5) {\n    nodes {\n      id\n      name\n      username\n      isViewer\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "a72b216b0061916f3abab51bb4cd5976";

export default node;
