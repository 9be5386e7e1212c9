/**
 * @generated SignedSource<<c28324bef1ae085577eace061cb6f405>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ReaderFragment } from 'relay-runtime';
import { FragmentRefs } from "relay-runtime";
export type PinGrid_pins$data = {
  readonly edges: ReadonlyArray<{
    readonly node: {
      readonly id: string;
      readonly image: {
        readonly height: number | null | undefined;
        readonly width: number | null | undefined;
      } | null | undefined;
      readonly " $fragmentSpreads": FragmentRefs<"PinCard_pin">;
    } | null | undefined;
  }>;
  readonly " $fragmentType": "PinGrid_pins";
};
export type PinGrid_pins$key = {
  readonly " $data"?: PinGrid_pins$data;
  readonly " $fragmentSpreads": FragmentRefs<"PinGrid_pins">;
};

const node: ReaderFragment = {
  "argumentDefinitions": [],
  "kind": "Fragment",
  "metadata": null,
  "name": "PinGrid_pins",
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

(node as any).hash = "53ca58337a0176c26778d2e4ad1996a8";

export default node;
