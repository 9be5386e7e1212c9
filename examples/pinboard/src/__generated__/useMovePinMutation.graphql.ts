/**
 * @generated SignedSource<<ae74cf2e17e1fa8b0e25682e870d8211>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
export type MovePinInput = {
  afterPinId?: string | null | undefined;
  beforePinId?: string | null | undefined;
  boardId?: string | null | undefined;
  pinId: string;
  sectionId?: string | null | undefined;
};
export type useMovePinMutation$variables = {
  input: MovePinInput;
};
export type useMovePinMutation$data = {
  readonly movePin: {
    readonly pin: {
      readonly id: string;
    } | null | undefined;
  } | null | undefined;
};
export type useMovePinMutation = {
  response: useMovePinMutation$data;
  variables: useMovePinMutation$variables;
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
    "concreteType": "MovePinPayload",
    "kind": "LinkedField",
    "name": "movePin",
    "plural": false,
    "selections": [
      {
        "alias": null,
        "args": null,
        "concreteType": "Pin",
        "kind": "LinkedField",
        "name": "pin",
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
    "name": "useMovePinMutation",
    "selections": (v1/*:: as any*/),
    "type": "Mutation",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "useMovePinMutation",
    "selections": (v1/*:: as any*/)
  },
  "params": {
    "cacheID": "55abf30e578ee16bd79d9e8073efeb82",
    "id": null,
    "metadata": {},
    "name": "useMovePinMutation",
    "operationKind": "mutation",
    "text": "mutation useMovePinMutation(\n  $input: MovePinInput!\n) {\n  movePin(input: $input) {\n    pin {\n      id\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "f9f76f3f506b297594f9186395be0293";

export default node;
