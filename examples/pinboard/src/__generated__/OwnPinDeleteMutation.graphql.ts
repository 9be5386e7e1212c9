/**
 * @generated SignedSource<<415f92d68b8b40a4f91670b034ab0975>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
import { FragmentRefs } from "relay-runtime";
export type DeletePinInput = {
  pinId: string;
};
export type OwnPinDeleteMutation$variables = {
  connections: ReadonlyArray<string>;
  input: DeletePinInput;
};
export type OwnPinDeleteMutation$data = {
  readonly deletePin: {
    readonly board: {
      readonly " $fragmentSpreads": FragmentRefs<"BoardCounts_board">;
    } | null | undefined;
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
},
v4 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "totalCount",
  "storageKey": null
},
v5 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "id",
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
          (v3/*:: as any*/),
          {
            "alias": null,
            "args": null,
            "concreteType": "Board",
            "kind": "LinkedField",
            "name": "board",
            "plural": false,
            "selections": [
              {
                "args": null,
                "kind": "FragmentSpread",
                "name": "BoardCounts_board"
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
          },
          {
            "alias": null,
            "args": null,
            "concreteType": "Board",
            "kind": "LinkedField",
            "name": "board",
            "plural": false,
            "selections": [
              {
                "alias": "all",
                "args": [
                  {
                    "kind": "Literal",
                    "name": "first",
                    "value": 0
                  }
                ],
                "concreteType": "PinConnection",
                "kind": "LinkedField",
                "name": "pins",
                "plural": false,
                "selections": [
                  (v4/*:: as any*/)
                ],
                "storageKey": "pins(first:0)"
              },
              (v5/*:: as any*/),
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
                "name": "secret",
                "storageKey": null
              },
              {
                "alias": "preview",
                "args": [
                  {
                    "kind": "Literal",
                    "name": "first",
                    "value": 3
                  }
                ],
                "concreteType": "PinConnection",
                "kind": "LinkedField",
                "name": "pins",
                "plural": false,
                "selections": [
                  (v4/*:: as any*/),
                  {
                    "alias": null,
                    "args": null,
                    "concreteType": "Pin",
                    "kind": "LinkedField",
                    "name": "nodes",
                    "plural": true,
                    "selections": [
                      (v5/*:: as any*/),
                      {
                        "alias": null,
                        "args": null,
                        "concreteType": "Image",
                        "kind": "LinkedField",
                        "name": "image",
                        "plural": false,
                        "selections": [
                          {
                            "alias": null,
                            "args": null,
                            "kind": "ScalarField",
                            "name": "url",
                            "storageKey": null
                          },
                          {
                            "alias": null,
                            "args": null,
                            "kind": "ScalarField",
                            "name": "alt",
                            "storageKey": null
                          }
                        ],
                        "storageKey": null
                      }
                    ],
                    "storageKey": null
                  }
                ],
                "storageKey": "pins(first:3)"
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
    "cacheID": "1111b8277f86eb98446f2ca14b8a885a",
    "id": null,
    "metadata": {},
    "name": "OwnPinDeleteMutation",
    "operationKind": "mutation",
    "text": "mutation OwnPinDeleteMutation(\n  $input: DeletePinInput!\n) {\n  deletePin(input: $input) {\n    deletedPinId\n    board {\n      ...BoardCounts_board\n      id\n    }\n  }\n}\n\nfragment BoardCounts_board on Board {\n  all: pins(first: 0) {\n    totalCount\n  }\n  ...BoardTile_board\n}\n\nfragment BoardTile_board on Board {\n  id\n  name\n  secret\n  preview: pins(first: 3) {\n    totalCount\n    nodes {\n      id\n      image {\n        url\n        alt\n      }\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "88da886da6bd67099c97138346f228ea";

export default node;
