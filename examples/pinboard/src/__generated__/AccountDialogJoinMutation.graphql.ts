/**
 * @generated SignedSource<<8cf36ae72386ecaa375f420fe01058e1>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
export type CreateUserInput = {
  avatar?: ImageInput | null | undefined;
  bio?: string | null | undefined;
  email?: string | null | undefined;
  idempotencyKey?: string | null | undefined;
  name?: string | null | undefined;
  username: string;
  website?: string | null | undefined;
};
export type ImageInput = {
  alt?: string | null | undefined;
  height?: number | null | undefined;
  url: string;
  width?: number | null | undefined;
};
export type AccountDialogJoinMutation$variables = {
  input: CreateUserInput;
};
export type AccountDialogJoinMutation$data = {
  readonly createUser: {
    readonly token: string | null | undefined;
    readonly user: {
      readonly id: string;
    } | null | undefined;
  } | null | undefined;
};
export type AccountDialogJoinMutation = {
  response: AccountDialogJoinMutation$data;
  variables: AccountDialogJoinMutation$variables;
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
    "alias": null,
    "args": [
      {
        "kind": "Variable",
        "name": "input",
        "variableName": "input"
      }
    ],
    "concreteType": "CreateUserPayload",
    "kind": "LinkedField",
    "name": "createUser",
    "plural": false,
    "selections": [
      {
        "alias": null,
        "args": null,
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
          }
        ],
        "storageKey": null
      },
      {
        "alias": null,
        "args": null,
        "kind": "ScalarField",
        "name": "token",
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
    "name": "AccountDialogJoinMutation",
    "selections": (v1/*:: as any*/),
    "type": "Mutation",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "AccountDialogJoinMutation",
    "selections": (v1/*:: as any*/)
  },
  "params": {
    "cacheID": "9784aa252960ea30fe0744de373e1da0",
    "id": null,
    "metadata": {},
    "name": "AccountDialogJoinMutation",
    "operationKind": "mutation",
    "text": "mutation AccountDialogJoinMutation(\n  $input: CreateUserInput!\n) {\n  createUser(input: $input) {\n    user {\n      id\n    }\n    token\n  }\n}\n"
  }
};
})();

(node as any).hash = "23150dd211014310f0644dc5cb39f4a1";

export default node;
