/**
 * @generated SignedSource<<29250eee378b72be7fe2f6423be639d5>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
import { FragmentRefs } from "relay-runtime";
export type UnlikePinInput = {
  pinId: string;
};
export type LikeButtonUnlikeMutation$variables = {
  input: UnlikePinInput;
};
export type LikeButtonUnlikeMutation$data = {
  readonly unlikePin: {
    readonly pin: {
      readonly " $fragmentSpreads": FragmentRefs<"LikeButton_pin">;
    } | null | undefined;
  } | null | undefined;
};
export type LikeButtonUnlikeMutation = {
  response: LikeButtonUnlikeMutation$data;
  variables: LikeButtonUnlikeMutation$variables;
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
];
return {
  "fragment": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Fragment",
    "metadata": null,
    "name": "LikeButtonUnlikeMutation",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "UnlikePinPayload",
        "kind": "LinkedField",
        "name": "unlikePin",
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
                "name": "LikeButton_pin"
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
    "name": "LikeButtonUnlikeMutation",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "UnlikePinPayload",
        "kind": "LinkedField",
        "name": "unlikePin",
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
                "args": [
                  {
                    "kind": "Literal",
                    "name": "first",
                    "value": 0
                  }
                ],
                "concreteType": "LikerConnection",
                "kind": "LinkedField",
                "name": "likedBy",
                "plural": false,
                "selections": [
                  {
                    "alias": null,
                    "args": null,
                    "kind": "ScalarField",
                    "name": "totalCount",
                    "storageKey": null
                  }
                ],
                "storageKey": "likedBy(first:0)"
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
    "cacheID": "61d9ae1a77e3a5f1523f4e8781a7be89",
    "id": null,
    "metadata": {},
    "name": "LikeButtonUnlikeMutation",
    "operationKind": "mutation",
    "text": "mutation LikeButtonUnlikeMutation(\n  $input: UnlikePinInput!\n) {\n  unlikePin(input: $input) {\n    pin {\n      ...LikeButton_pin\n      id\n    }\n  }\n}\n\nfragment LikeButton_pin on Pin {\n  id\n  viewerLikes\n  likes: likedBy(first: 0) {\n    totalCount\n  }\n}\n"
  }
};
})();

(node as any).hash = "43d7bfa6797ede9e40d88c2344fae1a8";

export default node;
