/**
 * @generated SignedSource<<ed1ef60f56fbc333922066d22740c7c5>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ReaderFragment } from 'relay-runtime';
import { FragmentRefs } from "relay-runtime";
export type FollowInterest_interest$data = {
  readonly followers: {
    readonly totalCount: number | null | undefined;
  } | null | undefined;
  readonly id: string;
  readonly name: string;
  readonly viewerFollows: boolean | null | undefined;
  readonly " $fragmentType": "FollowInterest_interest";
};
export type FollowInterest_interest$key = {
  readonly " $data"?: FollowInterest_interest$data;
  readonly " $fragmentSpreads": FragmentRefs<"FollowInterest_interest">;
};

const node: ReaderFragment = {
  "argumentDefinitions": [],
  "kind": "Fragment",
  "metadata": null,
  "name": "FollowInterest_interest",
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
  "type": "Interest",
  "abstractKey": null
};

(node as any).hash = "3a0cdbeadc28ebc9cc889ec7efa8c451";

export default node;
