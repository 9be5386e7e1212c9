/**
 * @generated SignedSource<<1ff476e1b28f545e0239ddab47adaf34>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ReaderFragment } from 'relay-runtime';
import { FragmentRefs } from "relay-runtime";
export type MovePin_pin$data = {
  readonly board: {
    readonly id: string;
  } | null | undefined;
  readonly id: string;
  readonly section: {
    readonly id: string;
  } | null | undefined;
  readonly " $fragmentType": "MovePin_pin";
};
export type MovePin_pin$key = {
  readonly " $data"?: MovePin_pin$data;
  readonly " $fragmentSpreads": FragmentRefs<"MovePin_pin">;
};

const node: ReaderFragment = (function(){
var v0 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "id",
  "storageKey": null
},
v1 = [
  (v0/*:: as any*/)
];
return {
  "argumentDefinitions": [],
  "kind": "Fragment",
  "metadata": null,
  "name": "MovePin_pin",
  "selections": [
    (v0/*:: as any*/),
    {
      "alias": null,
      "args": null,
      "concreteType": "Board",
      "kind": "LinkedField",
      "name": "board",
      "plural": false,
      "selections": (v1/*:: as any*/),
      "storageKey": null
    },
    {
      "alias": null,
      "args": null,
      "concreteType": "Section",
      "kind": "LinkedField",
      "name": "section",
      "plural": false,
      "selections": (v1/*:: as any*/),
      "storageKey": null
    }
  ],
  "type": "Pin",
  "abstractKey": null
};
})();

(node as any).hash = "bdded31e5cac12f05bd79a90acfbc2df";

export default node;
