/**
 * @generated SignedSource<<74c4af5756857b4ed51a3da828c93f56>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ReaderFragment } from 'relay-runtime';
import { FragmentRefs } from "relay-runtime";
export type LikeButton_pin$data = {
  readonly id: string;
  readonly likes: {
    readonly totalCount: number | null | undefined;
  } | null | undefined;
  readonly viewerLikes: boolean | null | undefined;
  readonly " $fragmentType": "LikeButton_pin";
};
export type LikeButton_pin$key = {
  readonly " $data"?: LikeButton_pin$data;
  readonly " $fragmentSpreads": FragmentRefs<"LikeButton_pin">;
};

const node: ReaderFragment = {
  "argumentDefinitions": [],
  "kind": "Fragment",
  "metadata": null,
  "name": "LikeButton_pin",
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
  "type": "Pin",
  "abstractKey": null
};

(node as any).hash = "850bd84d05bfc0ddfb1a795e3484826e";

export default node;
