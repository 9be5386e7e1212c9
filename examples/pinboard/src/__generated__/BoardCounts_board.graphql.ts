/**
 * @generated SignedSource<<4c35b00b828406d4039e0da43d94b6a8>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ReaderFragment } from 'relay-runtime';
import { FragmentRefs } from "relay-runtime";
export type BoardCounts_board$data = {
  readonly all: {
    readonly totalCount: number | null | undefined;
  } | null | undefined;
  readonly " $fragmentSpreads": FragmentRefs<"BoardTile_board">;
  readonly " $fragmentType": "BoardCounts_board";
};
export type BoardCounts_board$key = {
  readonly " $data"?: BoardCounts_board$data;
  readonly " $fragmentSpreads": FragmentRefs<"BoardCounts_board">;
};

const node: ReaderFragment = {
  "argumentDefinitions": [],
  "kind": "Fragment",
  "metadata": null,
  "name": "BoardCounts_board",
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
        {
          "alias": null,
          "args": null,
          "kind": "ScalarField",
          "name": "totalCount",
          "storageKey": null
        }
      ],
      "storageKey": "pins(first:0)"
    },
    {
      "args": null,
      "kind": "FragmentSpread",
      "name": "BoardTile_board"
    }
  ],
  "type": "Board",
  "abstractKey": null
};

(node as any).hash = "839acea6314213286bc9e7039e2f91d9";

export default node;
