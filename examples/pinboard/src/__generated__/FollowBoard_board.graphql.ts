/**
 * @generated SignedSource<<8ff93b610a25d936070a82b997b5dd70>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ReaderFragment } from 'relay-runtime';
import { FragmentRefs } from "relay-runtime";
export type FollowBoard_board$data = {
  readonly followers: {
    readonly totalCount: number | null | undefined;
  } | null | undefined;
  readonly id: string;
  readonly name: string;
  readonly viewerFollows: boolean | null | undefined;
  readonly " $fragmentType": "FollowBoard_board";
};
export type FollowBoard_board$key = {
  readonly " $data"?: FollowBoard_board$data;
  readonly " $fragmentSpreads": FragmentRefs<"FollowBoard_board">;
};

const node: ReaderFragment = {
  "argumentDefinitions": [],
  "kind": "Fragment",
  "metadata": null,
  "name": "FollowBoard_board",
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
  "type": "Board",
  "abstractKey": null
};

(node as any).hash = "a4543a56f101987abef0d514e14fa6c8";

export default node;
