/**
 * @generated SignedSource<<a7468b439a5328ac0c9c7e08fc3ce8e7>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ReaderFragment } from 'relay-runtime';
import { FragmentRefs } from "relay-runtime";
export type EditProfile_user$data = {
  readonly bio: string | null | undefined;
  readonly email: string | null | undefined;
  readonly name: string;
  readonly username: string;
  readonly website: string | null | undefined;
  readonly " $fragmentType": "EditProfile_user";
};
export type EditProfile_user$key = {
  readonly " $data"?: EditProfile_user$data;
  readonly " $fragmentSpreads": FragmentRefs<"EditProfile_user">;
};

const node: ReaderFragment = {
  "argumentDefinitions": [],
  "kind": "Fragment",
  "metadata": null,
  "name": "EditProfile_user",
  "selections": [
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
      "name": "name",
      "storageKey": null
    },
    {
      "alias": null,
      "args": null,
      "kind": "ScalarField",
      "name": "bio",
      "storageKey": null
    },
    {
      "alias": null,
      "args": null,
      "kind": "ScalarField",
      "name": "website",
      "storageKey": null
    },
    {
      "alias": null,
      "args": null,
      "kind": "ScalarField",
      "name": "email",
      "storageKey": null
    }
  ],
  "type": "User",
  "abstractKey": null
};

(node as any).hash = "98dfdf4676367750304d5462870e64d7";

export default node;
