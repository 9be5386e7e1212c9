/**
 * @generated SignedSource<<13160f7653d9ed171d13c212e9762bee>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
export type HideFromHomeFeedInput = {
  pinId: string;
};
export type HidePinMutation$variables = {
  connections: ReadonlyArray<string>;
  input: HideFromHomeFeedInput;
};
export type HidePinMutation$data = {
  readonly hideFromHomeFeed: {
    readonly hiddenPinId: string | null | undefined;
  } | null | undefined;
};
export type HidePinMutation = {
  response: HidePinMutation$data;
  variables: HidePinMutation$variables;
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
  "name": "hiddenPinId",
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
    "name": "HidePinMutation",
    "selections": [
      {
        "alias": null,
        "args": (v2/*:: as any*/),
        "concreteType": "HideFromHomeFeedPayload",
        "kind": "LinkedField",
        "name": "hideFromHomeFeed",
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
    "name": "HidePinMutation",
    "selections": [
      {
        "alias": null,
        "args": (v2/*:: as any*/),
        "concreteType": "HideFromHomeFeedPayload",
        "kind": "LinkedField",
        "name": "hideFromHomeFeed",
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
            "name": "hiddenPinId",
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
    "cacheID": "51d5726125a88d0dc8b59411ba301bc9",
    "id": null,
    "metadata": {},
    "name": "HidePinMutation",
    "operationKind": "mutation",
    "text": "mutation HidePinMutation(\n  $input: HideFromHomeFeedInput!\n) {\n  hideFromHomeFeed(input: $input) {\n    hiddenPinId\n  }\n}\n"
  }
};
})();

(node as any).hash = "cd0afc89ae5f86884c029bc4b6556e02";

export default node;
