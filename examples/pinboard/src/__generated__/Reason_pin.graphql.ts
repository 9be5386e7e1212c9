/**
 * @generated SignedSource<<8dd971322126250e7d9832c80d4267e9>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ReaderFragment } from 'relay-runtime';
export type HomeFeedSource = "FOLLOWED_BOARD" | "FOLLOWED_INTEREST" | "FOLLOWED_USER" | "RELATED" | "%future added value";
import { FragmentRefs } from "relay-runtime";
export type Reason_pin$data = {
  readonly homeFeedReason: {
    readonly source: HomeFeedSource;
    readonly via: {
      readonly __typename: "Board";
      readonly id: string;
      readonly name: string;
    } | {
      readonly __typename: "Interest";
      readonly name: string;
      readonly slug: string;
    } | {
      readonly __typename: "Pin";
      readonly id: string;
      readonly title: string | null | undefined;
    } | {
      readonly __typename: "User";
      readonly name: string;
      readonly username: string;
    } | {
      // This will never be '%other', but we need some
      // value in case none of the concrete values match.
      readonly __typename: "%other";
    } | null | undefined;
  } | null | undefined;
  readonly " $fragmentType": "Reason_pin";
};
export type Reason_pin$key = {
  readonly " $data"?: Reason_pin$data;
  readonly " $fragmentSpreads": FragmentRefs<"Reason_pin">;
};

const node: ReaderFragment = (function(){
var v0 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "name",
  "storageKey": null
},
v1 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "id",
  "storageKey": null
};
return {
  "argumentDefinitions": [],
  "kind": "Fragment",
  "metadata": null,
  "name": "Reason_pin",
  "selections": [
    {
      "alias": null,
      "args": null,
      "concreteType": "HomeFeedReason",
      "kind": "LinkedField",
      "name": "homeFeedReason",
      "plural": false,
      "selections": [
        {
          "alias": null,
          "args": null,
          "kind": "ScalarField",
          "name": "source",
          "storageKey": null
        },
        {
          "alias": null,
          "args": null,
          "concreteType": null,
          "kind": "LinkedField",
          "name": "via",
          "plural": false,
          "selections": [
            {
              "alias": null,
              "args": null,
              "kind": "ScalarField",
              "name": "__typename",
              "storageKey": null
            },
            {
              "kind": "InlineFragment",
              "selections": [
                (v0/*:: as any*/),
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
            },
            {
              "kind": "InlineFragment",
              "selections": [
                (v1/*:: as any*/),
                (v0/*:: as any*/)
              ],
              "type": "Board",
              "abstractKey": null
            },
            {
              "kind": "InlineFragment",
              "selections": [
                {
                  "alias": null,
                  "args": null,
                  "kind": "ScalarField",
                  "name": "slug",
                  "storageKey": null
                },
                (v0/*:: as any*/)
              ],
              "type": "Interest",
              "abstractKey": null
            },
            {
              "kind": "InlineFragment",
              "selections": [
                (v1/*:: as any*/),
                {
                  "alias": null,
                  "args": null,
                  "kind": "ScalarField",
                  "name": "title",
                  "storageKey": null
                }
              ],
              "type": "Pin",
              "abstractKey": null
            }
          ],
          "storageKey": null
        }
      ],
      "storageKey": null
    }
  ],
  "type": "Pin",
  "abstractKey": null
};
})();

(node as any).hash = "6157da43e97229be26f2f48bd1eb02f5";

export default node;
