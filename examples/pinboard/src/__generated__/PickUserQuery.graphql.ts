/**
 * @generated SignedSource<<15c1470f254cad5e22bada6aa3dee2e2>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
export type PickUserQuery$variables = {
  username: string;
};
export type PickUserQuery$data = {
  readonly user: {
    readonly id: string;
    readonly isViewer: boolean;
    readonly name: string;
    readonly username: string;
  } | null | undefined;
};
export type PickUserQuery = {
  response: PickUserQuery$data;
  variables: PickUserQuery$variables;
};

const node: ConcreteRequest = (function(){
var v0 = [
  {
    "defaultValue": null,
    "kind": "LocalArgument",
    "name": "username"
  }
],
v1 = [
  {
    "alias": null,
    "args": [
      {
        "fields": [
          {
            "kind": "Variable",
            "name": "username",
            "variableName": "username"
          }
        ],
        "kind": "ObjectValue",
        "name": "by"
      }
    ],
    "concreteType": "User",
    "kind": "LinkedField",
    "name": "user",
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
    "name": "PickUserQuery",
    "selections": (v1/*:: as any*/),
    "type": "Query",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "PickUserQuery",
    "selections": (v1/*:: as any*/)
  },
  "params": {
    "cacheID": "970a171e9c90f3d06092f6646de8a2c0",
    "id": null,
    "metadata": {},
    "name": "PickUserQuery",
    "operationKind": "query",
    "text": "query PickUserQuery(\n  $username: String!\n) {\n  user(by: {username: $username}) {\n    id\n    name\n    username\n    isViewer\n  }\n}\n"
  }
};
})();

(node as any).hash = "ac9a279c26d89a5b9d82ef15ea34fee0";

export default node;
