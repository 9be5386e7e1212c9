/**
 * @generated SignedSource<<960dbe6af4717f8fed7d1c5c31156cfb>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ReaderFragment } from 'relay-runtime';
import { FragmentRefs } from "relay-runtime";
export type FollowUser_user$data = {
  readonly followers: {
    readonly totalCount: number | null | undefined;
  } | null | undefined;
  readonly id: string;
  readonly name: string;
  readonly viewerFollows: boolean | null | undefined;
  readonly " $fragmentType": "FollowUser_user";
};
export type FollowUser_user$key = {
  readonly " $data"?: FollowUser_user$data;
  readonly " $fragmentSpreads": FragmentRefs<"FollowUser_user">;
};

const node: ReaderFragment = {
  "argumentDefinitions": [],
  "kind": "Fragment",
  "metadata": null,
  "name": "FollowUser_user",
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
      "name": "viewerFollows",
      "storageKey": null
    },
    {
      "alias": null,
      "args": [
        {
          "kind": "Literal",
          "name": "first",
          "value": 0
        }
      ],
      "concreteType": "FollowerConnection",
      "kind": "LinkedField",
      "name": "followers",
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
      "storageKey": "followers(first:0)"
    }
  ],
  "type": "User",
  "abstractKey": null
};

(node as any).hash = "a23655c2e5cf2f7bba282aff7cad353b";

export default node;
