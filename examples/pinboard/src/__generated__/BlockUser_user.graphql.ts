/**
 * @generated SignedSource<<161a772075e2d5262930436d7aedc385>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ReaderFragment } from 'relay-runtime';
import { FragmentRefs } from "relay-runtime";
export type BlockUser_user$data = {
  readonly id: string;
  readonly name: string;
  readonly username: string;
  readonly " $fragmentType": "BlockUser_user";
};
export type BlockUser_user$key = {
  readonly " $data"?: BlockUser_user$data;
  readonly " $fragmentSpreads": FragmentRefs<"BlockUser_user">;
};

const node: ReaderFragment = {
  "argumentDefinitions": [],
  "kind": "Fragment",
  "metadata": null,
  "name": "BlockUser_user",
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

(node as any).hash = "32bf9745c637fd98b993462686f79909";

export default node;
