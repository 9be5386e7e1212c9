/**
 * @generated SignedSource<<7384f0cfe6b894b9d27b810295fe1d1f>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
export type RefreshHomeFeedInput = {
  userId: string;
};
export type HomeFeedRefreshMutation$variables = {
  input: RefreshHomeFeedInput;
};
export type HomeFeedRefreshMutation$data = {
  readonly refreshHomeFeed: {
    readonly added: number | null | undefined;
  } | null | undefined;
};
export type HomeFeedRefreshMutation = {
  response: HomeFeedRefreshMutation$data;
  variables: HomeFeedRefreshMutation$variables;
};

const node: ConcreteRequest = (function(){
var v0 = [
  {
    "defaultValue": null,
    "kind": "LocalArgument",
    "name": "input"
  }
],
v1 = [
  {
    "alias": null,
    "args": [
      {
        "kind": "Variable",
        "name": "input",
        "variableName": "input"
      }
    ],
    "concreteType": "RefreshHomeFeedPayload",
    "kind": "LinkedField",
    "name": "refreshHomeFeed",
    "plural": false,
    "selections": [
      {
        "alias": null,
        "args": null,
        "kind": "ScalarField",
        "name": "added",
        "storageKey": null
      }
    ],
    "storageKey": null
  }
];
return {
  "fragment": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Fragment",
    "metadata": null,
    "name": "HomeFeedRefreshMutation",
    "selections": (v1/*:: as any*/),
    "type": "Mutation",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "HomeFeedRefreshMutation",
    "selections": (v1/*:: as any*/)
  },
  "params": {
    "cacheID": "353a17a48af1b6720a62f34280965b9f",
    "id": null,
    "metadata": {},
    "name": "HomeFeedRefreshMutation",
    "operationKind": "mutation",
    "text": "mutation HomeFeedRefreshMutation(\n  $input: RefreshHomeFeedInput!\n) {\n  refreshHomeFeed(input: $input) {\n    added\n  }\n}\n"
  }
};
})();

(node as any).hash = "dae37f67e361133b30079ba624ea20e5";

export default node;
