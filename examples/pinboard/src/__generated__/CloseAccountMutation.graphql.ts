/**
 * @generated SignedSource<<0cad554453e0376283ba1470e549c99d>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
export type DeactivateUserInput = {
  userId: string;
};
export type CloseAccountMutation$variables = {
  input: DeactivateUserInput;
};
export type CloseAccountMutation$data = {
  readonly deactivateUser: {
    readonly deactivatedUserId: string | null | undefined;
  } | null | undefined;
};
export type CloseAccountMutation = {
  response: CloseAccountMutation$data;
  variables: CloseAccountMutation$variables;
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
    "concreteType": "DeactivateUserPayload",
    "kind": "LinkedField",
    "name": "deactivateUser",
    "plural": false,
    "selections": [
      {
        "alias": null,
        "args": null,
        "kind": "ScalarField",
        "name": "deactivatedUserId",
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
    "name": "CloseAccountMutation",
    "selections": (v1/*:: as any*/),
    "type": "Mutation",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "CloseAccountMutation",
    "selections": (v1/*:: as any*/)
  },
  "params": {
    "cacheID": "2495abeb84c1b2c706434a3db05c4246",
    "id": null,
    "metadata": {},
    "name": "CloseAccountMutation",
    "operationKind": "mutation",
    "text": "mutation CloseAccountMutation(\n  $input: DeactivateUserInput!\n) {\n  deactivateUser(input: $input) {\n    deactivatedUserId\n  }\n}\n"
  }
};
})();

(node as any).hash = "4f1aa45376dcb06547d17055cf41aad3";

export default node;
