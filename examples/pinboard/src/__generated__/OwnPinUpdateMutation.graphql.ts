/**
 * @generated SignedSource<<0444b091770afe45e87e8a081419eb74>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
import { FragmentRefs } from "relay-runtime";
export type UpdatePinInput = {
  details?: string | null | undefined;
  image?: ImageInput | null | undefined;
  interests?: ReadonlyArray<string> | null | undefined;
  link?: string | null | undefined;
  pinId: string;
  title?: string | null | undefined;
};
export type ImageInput = {
  alt?: string | null | undefined;
  height?: number | null | undefined;
  url: string;
  width?: number | null | undefined;
};
export type OwnPinUpdateMutation$variables = {
  input: UpdatePinInput;
};
export type OwnPinUpdateMutation$data = {
  readonly updatePin: {
    readonly pin: {
      readonly " $fragmentSpreads": FragmentRefs<"OwnPin_pin">;
    } | null | undefined;
  } | null | undefined;
};
export type OwnPinUpdateMutation = {
  response: OwnPinUpdateMutation$data;
  variables: OwnPinUpdateMutation$variables;
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
    "kind": "Variable",
    "name": "input",
    "variableName": "input"
  }
],
v2 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "id",
  "storageKey": null
},
v3 = [
  (v2/*:: as any*/)
];
return {
  "fragment": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Fragment",
    "metadata": null,
    "name": "OwnPinUpdateMutation",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "UpdatePinPayload",
        "kind": "LinkedField",
        "name": "updatePin",
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
                "args": null,
                "kind": "FragmentSpread",
                "name": "OwnPin_pin"
              }
            ],
            "storageKey": null
          }
        ],
        "storageKey": null
      }
    ],
    "type": "Mutation",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "OwnPinUpdateMutation",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "UpdatePinPayload",
        "kind": "LinkedField",
        "name": "updatePin",
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
              (v2/*:: as any*/),
              {
                "alias": null,
                "args": null,
                "kind": "ScalarField",
                "name": "title",
                "storageKey": null
              },
              {
                "alias": null,
                "args": null,
                "kind": "ScalarField",
                "name": "details",
                "storageKey": null
              },
              {
                "alias": null,
                "args": null,
                "kind": "ScalarField",
                "name": "link",
                "storageKey": null
              },
              {
                "alias": null,
                "args": null,
                "kind": "ScalarField",
                "name": "viewerCanUpdate",
                "storageKey": null
              },
              {
                "alias": null,
                "args": null,
                "kind": "ScalarField",
                "name": "viewerCanDelete",
                "storageKey": null
              },
              {
                "alias": null,
                "args": [
                  {
                    "kind": "Literal",
                    "name": "first",
                    "value": 10
                  }
                ],
                "concreteType": "InterestConnection",
                "kind": "LinkedField",
                "name": "interests",
                "plural": false,
                "selections": [
                  {
                    "alias": null,
                    "args": null,
                    "concreteType": "Interest",
                    "kind": "LinkedField",
                    "name": "nodes",
                    "plural": true,
                    "selections": [
                      {
                        "alias": null,
                        "args": null,
                        "kind": "ScalarField",
                        "name": "slug",
                        "storageKey": null
                      },
                      {
                        "alias": null,
                        "args": null,
                        "kind": "ScalarField",
                        "name": "name",
                        "storageKey": null
                      },
                      (v2/*:: as any*/)
                    ],
                    "storageKey": null
                  }
                ],
                "storageKey": "interests(first:10)"
              },
              {
                "alias": null,
                "args": null,
                "concreteType": "Board",
                "kind": "LinkedField",
                "name": "board",
                "plural": false,
                "selections": (v3/*:: as any*/),
                "storageKey": null
              },
              {
                "alias": null,
                "args": null,
                "concreteType": "Section",
                "kind": "LinkedField",
                "name": "section",
                "plural": false,
                "selections": (v3/*:: as any*/),
                "storageKey": null
              }
            ],
            "storageKey": null
          }
        ],
        "storageKey": null
      }
    ]
  },
  "params": {
    "cacheID": "cbb3747d79a0456806140b2b8ddcf8a3",
    "id": null,
    "metadata": {},
    "name": "OwnPinUpdateMutation",
    "operationKind": "mutation",
    "text": "mutation OwnPinUpdateMutation(\n  $input: UpdatePinInput!\n) {\n  updatePin(input: $input) {\n    pin {\n      ...OwnPin_pin\n      id\n    }\n  }\n}\n\nfragment MovePin_pin on Pin {\n  id\n  board {\n    id\n  }\n  section {\n    id\n  }\n}\n\nfragment OwnPin_pin on Pin {\n  id\n  title\n  details\n  link\n  viewerCanUpdate\n  viewerCanDelete\n  interests(first: 10) {\n    nodes {\n      slug\n      name\n      id\n    }\n  }\n  board {\n    id\n  }\n  section {\n    id\n  }\n  ...MovePin_pin\n}\n"
  }
};
})();

(node as any).hash = "97adf2e0268f408109f9415c6e93c216";

export default node;
