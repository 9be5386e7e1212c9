/**
 * @generated SignedSource<<18d115588b25ad6f6da53dee4b461d5c>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ReaderFragment } from 'relay-runtime';
import { FragmentRefs } from "relay-runtime";
export type CloseAccount_user$data = {
  readonly id: string;
  readonly username: string;
  readonly " $fragmentType": "CloseAccount_user";
};
export type CloseAccount_user$key = {
  readonly " $data"?: CloseAccount_user$data;
  readonly " $fragmentSpreads": FragmentRefs<"CloseAccount_user">;
};

const node: ReaderFragment = {
  "argumentDefinitions": [],
  "kind": "Fragment",
  "metadata": null,
  "name": "CloseAccount_user",
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
      "name": "username",
      "storageKey": null
    }
  ],
  "type": "User",
  "abstractKey": null
};

(node as any).hash = "b46fe7fd43c1d1447a38c5699a0f8680";

export default node;
