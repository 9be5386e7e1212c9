/**
 * @generated SignedSource<<8e656adfde6fd5cb61570da2e27b167d>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
export type MoveBoardInput = {
  afterBoardId?: string | null | undefined;
  beforeBoardId?: string | null | undefined;
  boardId: string;
};
export type ArrangeBoardsMutation$variables = {
  input: MoveBoardInput;
};
export type ArrangeBoardsMutation$data = {
  readonly moveBoard: {
    readonly board: {
      readonly id: string;
    } | null | undefined;
  } | null | undefined;
};
export type ArrangeBoardsMutation = {
  response: ArrangeBoardsMutation$data;
  variables: ArrangeBoardsMutation$variables;
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
    "concreteType": "MoveBoardPayload",
    "kind": "LinkedField",
    "name": "moveBoard",
    "plural": false,
    "selections": [
      {
        "alias": null,
        "args": null,
        "concreteType": "Board",
        "kind": "LinkedField",
        "name": "board",
        "plural": false,
        "selections": [
          {
            "alias": null,
            "args": null,
            "kind": "ScalarField",
            "name": "id",
            "storageKey": null
          }
        ],
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
    "name": "ArrangeBoardsMutation",
    "selections": (v1/*:: as any*/),
    "type": "Mutation",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "ArrangeBoardsMutation",
    "selections": (v1/*:: as any*/)
  },
  "params": {
    "cacheID": "590809dd791c6259b8f25e8c56eb3b52",
    "id": null,
    "metadata": {},
    "name": "ArrangeBoardsMutation",
    "operationKind": "mutation",
    "text": "mutation ArrangeBoardsMutation(\n  $input: MoveBoardInput!\n) {\n  moveBoard(input: $input) {\n    board {\n      id\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "c0478bb782b553a9d8e6329faf1b6478";

export default node;
