/**
 * @generated SignedSource<<9663fd0dd99cda1b3bbbc984fea9a4e3>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ReaderFragment } from 'relay-runtime';
import { FragmentRefs } from "relay-runtime";
export type SaveButton_pin$data = {
  readonly details: string | null | undefined;
  readonly id: string;
  readonly title: string | null | undefined;
  readonly viewerHasSaved: boolean | null | undefined;
  readonly " $fragmentType": "SaveButton_pin";
};
export type SaveButton_pin$key = {
  readonly " $data"?: SaveButton_pin$data;
  readonly " $fragmentSpreads": FragmentRefs<"SaveButton_pin">;
};

const node: ReaderFragment = {
  "argumentDefinitions": [],
  "kind": "Fragment",
  "metadata": null,
  "name": "SaveButton_pin",
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
      "kind": "ScalarField",
      "name": "viewerHasSaved",
      "storageKey": null
    }
  ],
  "type": "Pin",
  "abstractKey": null
};

(node as any).hash = "2f2b04900cfea155ed577b1cb4f0c790";

export default node;
