/**
 * @generated SignedSource<<efcc7f676876ef48aa919a365c0d62c3>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ReaderFragment } from 'relay-runtime';
import { FragmentRefs } from "relay-runtime";
export type PinComments_viewer$data = {
  readonly id: string;
  readonly isViewer: boolean;
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
    },
    {
      "alias": null,
      "args": null,
      "kind": "ScalarField",
      "name": "isViewer",
      "storageKey": null
    }
  ],
  "type": "User",
  "abstractKey": null
};

(node as any).hash = "ddb775aa6d2d852386055f9ca178e83f";

export default node;
