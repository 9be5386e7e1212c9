/**
 * @generated SignedSource<<6fae0dba07d2d4dac2884a146eef02fd>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
import { FragmentRefs } from "relay-runtime";
export type LikePinInput = {
  pinId: string;
};
export type LikeButtonLikeMutation$variables = {
  input: LikePinInput;
};
export type LikeButtonLikeMutation$data = {
  readonly likePin: {
    readonly pin: {
      readonly " $fragmentSpreads": FragmentRefs<"LikeButton_pin">;
    } | null | undefined;
  } | null | undefined;
};
export type LikeButtonLikeMutation = {
  response: LikeButtonLikeMutation$data;
  variables: LikeButtonLikeMutation$variables;
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
    "name": "LikeButtonLikeMutation",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "LikePinPayload",
        "kind": "LinkedField",
        "name": "likePin",
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
    "name": "LikeButtonLikeMutation",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "LikePinPayload",
        "kind": "LinkedField",
        "name": "likePin",
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
    "cacheID": "74101644e2ea6f5e2b43981fd1465459",
    "id": null,
    "metadata": {},
    "name": "LikeButtonLikeMutation",
    "operationKind": "mutation",
    "text": "mutation LikeButtonLikeMutation(\n  $input: LikePinInput!\n) {\n  likePin(input: $input) {\n    pin {\n      ...LikeButton_pin\n      id\n    }\n  }\n}\n\nfragment LikeButton_pin on Pin {\n  id\n  viewerLikes\n  likes: likedBy(first: 0) {\n    totalCount\n  }\n}\n"
  }
};
})();

(node as any).hash = "0079d33dff53d1191d74f97da9b18b45";

export default node;
