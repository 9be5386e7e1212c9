/**
 * @generated SignedSource<<c31f28c1808254fed78bcbe6fae4d8bd>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
export type DeletePinInput = {
  pinId: string;
};
export type OwnPinDeleteMutation$variables = {
  connections: ReadonlyArray<string>;
  input: DeletePinInput;
};
export type OwnPinDeleteMutation$data = {
  readonly deletePin: {
    readonly deletedPinId: string | null | undefined;
  } | null | undefined;
};
export type OwnPinDeleteMutation = {
  response: OwnPinDeleteMutation$data;
  variables: OwnPinDeleteMutation$variables;
};

const node: ConcreteRequest = (function(){
var v0 = {
  "defaultValue": null,
  "kind": "LocalArgument",
  "name": "connections"
},
v1 = {
  "defaultValue": null,
  "kind": "LocalArgument",
  "name": "input"
},
v2 = [
  {
    "kind": "Variable",
    "name": "input",
    "variableName": "input"
  }
],
v3 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "deletedPinId",
  "storageKey": null
};
return {
  "fragment": {
    "argumentDefinitions": [
      (v0/*:: as any*/),
      (v1/*:: as any*/)
    ],
    "kind": "Fragment",
    "metadata": null,
    "name": "OwnPinDeleteMutation",
    "selections": [
      {
        "alias": null,
        "args": (v2/*:: as any*/),
        "concreteType": "DeletePinPayload",
        "kind": "LinkedField",
        "name": "deletePin",
        "plural": false,
        "selections": [
          (v3/*:: as any*/)
        ],
        "storageKey": null
      }
    ],
    "type": "Mutation",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": [
      (v1/*:: as any*/),
      (v0/*:: as any*/)
    ],
    "kind": "Operation",
    "name": "OwnPinDeleteMutation",
    "selections": [
      {
        "alias": null,
        "args": (v2/*:: as any*/),
        "concreteType": "DeletePinPayload",
        "kind": "LinkedField",
        "name": "deletePin",
        "plural": false,
        "selections": [
          (v3/*:: as any*/),
          {
            "alias": null,
            "args": null,
            "filters": null,
            "handle": "deleteEdge",
            "key": "",
            "kind": "ScalarHandle",
            "name": "deletedPinId",
            "handleArgs": [
              {
                "kind": "Variable",
                "name": "connections",
                "variableName": "connections"
              }
            ]
          }
        ],
        "storageKey": null
      }
    ]
  },
  "params": {
    "cacheID": "1cd2f59e49e12b86775d238b2052477d",
    "id": null,
    "metadata": {},
    "name": "OwnPinDeleteMutation",
    "operationKind": "mutation",
    "text": "mutation OwnPinDeleteMutation(\n  $input: DeletePinInput!\n) {\n  deletePin(input: $input) {\n    deletedPinId\n  }\n}\n"
  }
};
})();

(node as any).hash = "9658ebf80315e04f75425800195f4517";

export default node;
