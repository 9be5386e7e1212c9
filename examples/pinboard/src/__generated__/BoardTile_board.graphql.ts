/**
 * @generated SignedSource<<16c3b564019a831b354eaf72c65091ab>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ReaderFragment } from 'relay-runtime';
import { FragmentRefs } from "relay-runtime";
export type BoardTile_board$data = {
  readonly id: string;
  readonly name: string;
  readonly preview: {
    readonly nodes: ReadonlyArray<{
      readonly id: string;
      readonly image: {
        readonly alt: string | null | undefined;
        readonly url: string;
      } | null | undefined;
    } | null | undefined>;
    readonly totalCount: number | null | undefined;
  } | null | undefined;
  readonly secret: boolean;
  readonly " $fragmentType": "BoardTile_board";
};
export type BoardTile_board$key = {
  readonly " $data"?: BoardTile_board$data;
  readonly " $fragmentSpreads": FragmentRefs<"BoardTile_board">;
};

const node: ReaderFragment = (function(){
var v0 = {
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
  "name": "BoardTile_board",
  "selections": [
    (v0/*:: as any*/),
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
      "name": "secret",
      "storageKey": null
    },
    {
      "alias": "preview",
      "args": [
        {
          "kind": "Literal",
          "name": "first",
          "value": 3
        }
      ],
      "concreteType": "PinConnection",
      "kind": "LinkedField",
      "name": "pins",
      "plural": false,
      "selections": [
        {
          "alias": null,
          "args": null,
          "kind": "ScalarField",
          "name": "totalCount",
          "storageKey": null
        },
        {
          "alias": null,
          "args": null,
          "concreteType": "Pin",
          "kind": "LinkedField",
          "name": "nodes",
          "plural": true,
          "selections": [
            (v0/*:: as any*/),
            {
              "alias": null,
              "args": null,
              "concreteType": "Image",
              "kind": "LinkedField",
              "name": "image",
              "plural": false,
              "selections": [
                {
                  "alias": null,
                  "args": null,
                  "kind": "ScalarField",
                  "name": "url",
                  "storageKey": null
                },
                {
                  "alias": null,
                  "args": null,
                  "kind": "ScalarField",
                  "name": "alt",
                  "storageKey": null
                }
              ],
              "storageKey": null
            }
          ],
          "storageKey": null
        }
      ],
      "storageKey": "pins(first:3)"
    }
  ],
  "type": "Board",
  "abstractKey": null
};
})();

(node as any).hash = "e79a1573df6761f17b3fa577950c2c79";

export default node;
