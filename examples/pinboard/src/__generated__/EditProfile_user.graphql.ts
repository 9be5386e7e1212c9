/**
 * @generated SignedSource<<d827190c2398d26c72caf89b217813b9>>
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
  readonly " $fragmentSpreads": FragmentRefs<"BlockedUsers_user" | "CloseAccount_user">;
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
    },
    {
      "args": null,
      "kind": "FragmentSpread",
      "name": "BlockedUsers_user"
    },
    {
      "args": null,
      "kind": "FragmentSpread",
      "name": "CloseAccount_user"
    }
  ],
  "type": "User",
  "abstractKey": null
};

(node as any).hash = "4b27d9f9ec38a3895bb08b62cd9e4f07";

export default node;
