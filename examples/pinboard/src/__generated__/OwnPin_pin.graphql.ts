/**
 * @generated SignedSource<<196e8e93ee540671ae708d963832ec3c>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ReaderFragment } from 'relay-runtime';
import { FragmentRefs } from "relay-runtime";
export type OwnPin_pin$data = {
  readonly board: {
    readonly id: string;
  } | null | undefined;
  readonly details: string | null | undefined;
  readonly id: string;
  readonly link: string | null | undefined;
  readonly title: string | null | undefined;
  readonly " $fragmentType": "OwnPin_pin";
};
export type OwnPin_pin$key = {
  readonly " $data"?: OwnPin_pin$data;
  readonly " $fragmentSpreads": FragmentRefs<"OwnPin_pin">;
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
  "name": "OwnPin_pin",
  "selections": [
    (v0/*:: as any*/),
    {
      "alias": null,
      "args": null,
      "kind": "ScalarField",
      "name": "title",
      "storageKey": null
    },
    {
      "alias": null,
      "args": null,
      "kind": "ScalarField",
      "name": "details",
      "storageKey": null
    },
    {
      "alias": null,
      "args": null,
      "kind": "ScalarField",
      "name": "link",
      "storageKey": null
    },
    {
      "alias": null,
      "args": null,
      "concreteType": "Board",
      "kind": "LinkedField",
      "name": "board",
      "plural": false,
      "selections": [
        (v0/*:: as any*/)
      ],
      "storageKey": null
    }
  ],
  "type": "Pin",
  "abstractKey": null
};
})();

(node as any).hash = "5efbdf8d6dccdf6b565eb070072f3e7d";

export default node;
