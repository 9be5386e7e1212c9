/**
 * @generated SignedSource<<2e4d2b0cd3550026dd7a99562a3b1519>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ReaderFragment } from 'relay-runtime';
import { FragmentRefs } from "relay-runtime";
export type PinComments_viewer$data = {
  readonly id: string;
  readonly name: string;
  readonly username: string;
  readonly " $fragmentType": "PinComments_viewer";
};
export type PinComments_viewer$key = {
  readonly " $data"?: PinComments_viewer$data;
  readonly " $fragmentSpreads": FragmentRefs<"PinComments_viewer">;
};

const node: ReaderFragment = {
  "argumentDefinitions": [],
  "kind": "Fragment",
  "metadata": null,
  "name": "PinComments_viewer",
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
  "type": "User",
  "abstractKey": null
};

(node as any).hash = "4d16b4591d83180341906adede4e7627";

export default node;
