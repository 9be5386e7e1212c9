/**
 * @generated SignedSource<<f5d2650262baaf9027739dfc4c1b35f3>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
import { FragmentRefs } from "relay-runtime";
export type CreatePinInput = {
  boardId: string;
  details?: string | null | undefined;
  idempotencyKey?: string | null | undefined;
  image?: ImageInput | null | undefined;
  interests?: ReadonlyArray<string> | null | undefined;
  link?: string | null | undefined;
  sectionId?: string | null | undefined;
  title?: string | null | undefined;
};
export type ImageInput = {
  alt?: string | null | undefined;
  height?: number | null | undefined;
  url: string;
  width?: number | null | undefined;
};
export type CreateDialogPinMutation$variables = {
  connections: ReadonlyArray<string>;
  input: CreatePinInput;
};
export type CreateDialogPinMutation$data = {
  readonly createPin: {
    readonly board: {
      readonly " $fragmentSpreads": FragmentRefs<"BoardCounts_board">;
    } | null | undefined;
    readonly pinEdge: {
      readonly cursor: string;
      readonly node: {
        readonly id: string;
        readonly image: {
          readonly height: number | null | undefined;
          readonly width: number | null | undefined;
        } | null | undefined;
        readonly " $fragmentSpreads": FragmentRefs<"PinCard_pin">;
      } | null | undefined;
    } | null | undefined;
  } | null | undefined;
};
export type CreateDialogPinMutation = {
  response: CreateDialogPinMutation$data;
  variables: CreateDialogPinMutation$variables;
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
  "name": "cursor",
  "storageKey": null
},
v4 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "id",
  "storageKey": null
},
v5 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "width",
  "storageKey": null
},
v6 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "height",
  "storageKey": null
},
v7 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "url",
  "storageKey": null
},
v8 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "alt",
  "storageKey": null
},
v9 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "name",
  "storageKey": null
},
v10 = [
  {
    "kind": "Literal",
    "name": "first",
    "value": 0
  }
],
v11 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "totalCount",
  "storageKey": null
},
v12 = [
  (v11/*:: as any*/)
];
return {
  "fragment": {
    "argumentDefinitions": [
      (v0/*:: as any*/),
      (v1/*:: as any*/)
    ],
    "kind": "Fragment",
    "metadata": null,
    "name": "CreateDialogPinMutation",
    "selections": [
      {
        "alias": null,
        "args": (v2/*:: as any*/),
        "concreteType": "CreatePinPayload",
        "kind": "LinkedField",
        "name": "createPin",
        "plural": false,
        "selections": [
          {
            "alias": null,
            "args": null,
            "concreteType": "PinEdge",
            "kind": "LinkedField",
            "name": "pinEdge",
            "plural": false,
            "selections": [
              (v3/*:: as any*/),
              {
                "alias": null,
                "args": null,
                "concreteType": "Pin",
                "kind": "LinkedField",
                "name": "node",
                "plural": false,
                "selections": [
                  (v4/*:: as any*/),
                  {
                    "alias": null,
                    "args": null,
                    "concreteType": "Image",
                    "kind": "LinkedField",
                    "name": "image",
                    "plural": false,
                    "selections": [
                      (v5/*:: as any*/),
                      (v6/*:: as any*/)
                    ],
                    "storageKey": null
                  },
                  {
                    "args": null,
                    "kind": "FragmentSpread",
                    "name": "PinCard_pin"
                  }
                ],
                "storageKey": null
              }
            ],
            "storageKey": null
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
    "name": "CreateDialogPinMutation",
    "selections": [
      {
        "alias": null,
        "args": (v2/*:: as any*/),
        "concreteType": "CreatePinPayload",
        "kind": "LinkedField",
        "name": "createPin",
        "plural": false,
        "selections": [
          {
            "alias": null,
            "args": null,
            "concreteType": "PinEdge",
            "kind": "LinkedField",
            "name": "pinEdge",
            "plural": false,
            "selections": [
              (v3/*:: as any*/),
              {
                "alias": null,
                "args": null,
                "concreteType": "Pin",
                "kind": "LinkedField",
                "name": "node",
                "plural": false,
                "selections": [
                  (v4/*:: as any*/),
                  {
                    "alias": null,
                    "args": null,
                    "concreteType": "Image",
                    "kind": "LinkedField",
                    "name": "image",
                    "plural": false,
                    "selections": [
                      (v5/*:: as any*/),
                      (v6/*:: as any*/),
                      (v7/*:: as any*/),
                      (v8/*:: as any*/)
                    ],
                    "storageKey": null
                  },
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
                    "concreteType": "User",
                    "kind": "LinkedField",
                    "name": "owner",
                    "plural": false,
                    "selections": [
                      (v9/*:: as any*/),
                      {
                        "alias": null,
                        "args": null,
                        "kind": "ScalarField",
                        "name": "username",
                        "storageKey": null
                      },
                      (v4/*:: as any*/)
                    ],
                    "storageKey": null
                  },
                  {
                    "alias": null,
                    "args": null,
                    "kind": "ScalarField",
                    "name": "viewerLikes",
                    "storageKey": null
                  },
                  {
                    "alias": "likes",
                    "args": (v10/*:: as any*/),
                    "concreteType": "LikerConnection",
                    "kind": "LinkedField",
                    "name": "likedBy",
                    "plural": false,
                    "selections": (v12/*:: as any*/),
                    "storageKey": "likedBy(first:0)"
                  },
                  {
                    "alias": null,
                    "args": null,
                    "kind": "ScalarField",
                    "name": "viewerHasSaved",
                    "storageKey": null
                  }
                ],
                "storageKey": null
              }
            ],
            "storageKey": null
          },
          {
            "alias": null,
            "args": null,
            "filters": null,
            "handle": "prependEdge",
            "key": "",
            "kind": "LinkedHandle",
            "name": "pinEdge",
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
                "args": (v10/*:: as any*/),
                "concreteType": "PinConnection",
                "kind": "LinkedField",
                "name": "pins",
                "plural": false,
                "selections": (v12/*:: as any*/),
                "storageKey": "pins(first:0)"
              },
              (v4/*:: as any*/),
              (v9/*:: as any*/),
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
                  (v11/*:: as any*/),
                  {
                    "alias": null,
                    "args": null,
                    "concreteType": "Pin",
                    "kind": "LinkedField",
                    "name": "nodes",
                    "plural": true,
                    "selections": [
                      (v4/*:: as any*/),
                      {
                        "alias": null,
                        "args": null,
                        "concreteType": "Image",
                        "kind": "LinkedField",
                        "name": "image",
                        "plural": false,
                        "selections": [
                          (v7/*:: as any*/),
                          (v8/*:: as any*/)
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
    "cacheID": "5b32d4f3dcb816545b46bea82c24e322",
    "id": null,
    "metadata": {},
    "name": "CreateDialogPinMutation",
    "operationKind": "mutation",
    "text": "mutation CreateDialogPinMutation(\n  $input: CreatePinInput!\n) {\n  createPin(input: $input) {\n    pinEdge {\n      cursor\n      node {\n        id\n        image {\n          width\n          height\n        }\n        ...PinCard_pin\n      }\n    }\n    board {\n      ...BoardCounts_board\n      id\n    }\n  }\n}\n\nfragment BoardCounts_board on Board {\n  all: pins(first: 0) {\n    totalCount\n  }\n  ...BoardTile_board\n}\n\nfragment BoardTile_board on Board {\n  id\n  name\n  secret\n  preview: pins(first: 3) {\n    totalCount\n    nodes {\n      id\n      image {\n        url\n        alt\n      }\n    }\n  }\n}\n\nfragment LikeButton_pin on Pin {\n  id\n  viewerLikes\n  likes: likedBy(first: 0) {\n    totalCount\n  }\n}\n\nfragment PinCard_pin on Pin {\n  id\n  title\n  details\n  image {\n    url\n    width\n    height\n    alt\n  }\n  owner {\n    name\n    username\n    id\n  }\n  ...LikeButton_pin\n  ...SaveButton_pin\n}\n\nfragment SaveButton_pin on Pin {\n  id\n  title\n  details\n  viewerHasSaved\n}\n"
  }
};
})();

(node as any).hash = "faf4883cb7d664e2a3f6c56be8ea26ab";

export default node;
