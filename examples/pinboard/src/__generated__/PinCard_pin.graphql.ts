/**
 * @generated SignedSource<<cad396bf9d528db5b31a7e7409f22cf2>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ReaderFragment } from 'relay-runtime';
import { FragmentRefs } from "relay-runtime";
export type PinCard_pin$data = {
  readonly details: string | null | undefined;
  readonly id: string;
  readonly image: {
    readonly alt: string | null | undefined;
    readonly height: number | null | undefined;
    readonly url: string;
    readonly width: number | null | undefined;
  } | null | undefined;
  readonly owner: {
    readonly name: string;
    readonly username: string;
  } | null | undefined;
  readonly title: string | null | undefined;
  readonly " $fragmentSpreads": FragmentRefs<"LikeButton_pin" | "SaveButton_pin">;
  readonly " $fragmentType": "PinCard_pin";
};
export type PinCard_pin$key = {
  readonly " $data"?: PinCard_pin$data;
  readonly " $fragmentSpreads": FragmentRefs<"PinCard_pin">;
};

const node: ReaderFragment = {
  "argumentDefinitions": [],
  "kind": "Fragment",
  "metadata": null,
  "name": "PinCard_pin",
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
          "name": "width",
          "storageKey": null
        },
        {
          "alias": null,
          "args": null,
          "kind": "ScalarField",
          "name": "height",
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
    },
    {
      "alias": null,
      "args": null,
      "concreteType": "User",
      "kind": "LinkedField",
      "name": "owner",
      "plural": false,
      "selections": [
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
          "name": "username",
          "storageKey": null
        }
      ],
      "storageKey": null
    },
    {
      "args": null,
      "kind": "FragmentSpread",
      "name": "LikeButton_pin"
    },
    {
      "args": null,
      "kind": "FragmentSpread",
      "name": "SaveButton_pin"
    }
  ],
  "type": "Pin",
  "abstractKey": null
};

(node as any).hash = "2f297780bfea4d6b3758a0ca33c45d65";

export default node;
