/**
 * @generated SignedSource<<64ac54d56966c3cd0f5b4aefa85ae38e>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ReaderFragment } from 'relay-runtime';
import { FragmentRefs } from "relay-runtime";
export type PinList_pins$data = {
  readonly edges: ReadonlyArray<{
    readonly __typename: "PinEdge";
  }>;
  readonly " $fragmentSpreads": FragmentRefs<"ArrangePins_pins" | "PinGrid_pins">;
  readonly " $fragmentType": "PinList_pins";
};
export type PinList_pins$key = {
  readonly " $data"?: PinList_pins$data;
  readonly " $fragmentSpreads": FragmentRefs<"PinList_pins">;
};

const node: ReaderFragment = {
  "argumentDefinitions": [],
  "kind": "Fragment",
  "metadata": null,
  "name": "PinList_pins",
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
          "kind": "ScalarField",
          "name": "__typename",
          "storageKey": null
        }
      ],
      "storageKey": null
    },
    {
      "args": null,
      "kind": "FragmentSpread",
      "name": "PinGrid_pins"
    },
    {
      "args": null,
      "kind": "FragmentSpread",
      "name": "ArrangePins_pins"
    }
  ],
  "type": "PinConnection",
  "abstractKey": null
};

(node as any).hash = "fba2e3e353604f81e013cfb847edec9e";

export default node;
