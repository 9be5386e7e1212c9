/**
 * @generated SignedSource<<b55234105d8998610c6d369237f58c94>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ReaderFragment } from 'relay-runtime';
import { FragmentRefs } from "relay-runtime";
export type FeedGrid_pins$data = {
  readonly edges: ReadonlyArray<{
    readonly node: {
      readonly id: string;
      readonly image: {
        readonly height: number | null | undefined;
        readonly width: number | null | undefined;
      } | null | undefined;
      readonly " $fragmentSpreads": FragmentRefs<"HidePin_pin" | "PinCard_pin" | "Reason_pin">;
    } | null | undefined;
  }>;
  readonly " $fragmentType": "FeedGrid_pins";
};
export type FeedGrid_pins$key = {
  readonly " $data"?: FeedGrid_pins$data;
  readonly " $fragmentSpreads": FragmentRefs<"FeedGrid_pins">;
};

const node: ReaderFragment = {
  "argumentDefinitions": [],
  "kind": "Fragment",
  "metadata": null,
  "name": "FeedGrid_pins",
  "selections": [
    {
      "alias": null,
      "args": null,
      "concreteType": "PinEdge",
      "kind": "LinkedField",
      "name": "edges",
      "plural": true,
      "selections": [
        {
          "alias": null,
          "args": null,
          "concreteType": "Pin",
          "kind": "LinkedField",
          "name": "node",
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
              "concreteType": "Image",
              "kind": "LinkedField",
              "name": "image",
              "plural": false,
              "selections": [
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
                }
              ],
              "storageKey": null
            },
            {
              "args": null,
              "kind": "FragmentSpread",
              "name": "PinCard_pin"
            },
            {
              "args": null,
              "kind": "FragmentSpread",
              "name": "Reason_pin"
            },
            {
              "args": null,
              "kind": "FragmentSpread",
              "name": "HidePin_pin"
            }
          ],
          "storageKey": null
        }
      ],
      "storageKey": null
    }
  ],
  "type": "PinConnection",
  "abstractKey": null
};

(node as any).hash = "249695e84d2176e30442b07501be27c2";

export default node;
