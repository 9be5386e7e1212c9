/**
 * @generated SignedSource<<a4bbdabb73022119ccb23528bae0d9bd>>
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
  readonly users: ReadonlyArray<{
    readonly id: string;
    readonly isViewer: boolean;
    readonly name: string;
    readonly username: string;
  } | null | undefined> | null | undefined;
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
    "concreteType": "User",
    "kind": "LinkedField",
    "name": "users",
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
    "cacheID": "2485ecd1549cba7b6c4702ec307bb007",
    "id": null,
    "metadata": {},
    "name": "useUsersQuery",
    "operationKind": "query",
    "text": "query useUsersQuery(\n  $startsWith: String!\n) {\n  users(startsWith: $startsWith, first: 5) {\n    id\n    name\n    username\n    isViewer\n  }\n}\n"
  }
};
})();

(node as any).hash = "01b48879c848e89e62fd279bda8a20f1";

export default node;
