/**
 * @generated SignedSource<<cd6172c291ceee7501db43fd9d5bdbdf>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
export type RemoveCollaboratorInput = {
  boardId: string;
  userId: string;
};
export type CollaboratorsRemoveMutation$variables = {
  connections: ReadonlyArray<string>;
  input: RemoveCollaboratorInput;
};
export type CollaboratorsRemoveMutation$data = {
  readonly removeCollaborator: {
    readonly board: {
      readonly viewerCanPin: boolean | null | undefined;
    } | null | undefined;
    readonly removedUserId: string | null | undefined;
  } | null | undefined;
};
export type CollaboratorsRemoveMutation = {
  response: CollaboratorsRemoveMutation$data;
  variables: CollaboratorsRemoveMutation$variables;
};

const node: ConcreteRequest = (function(){
var v0 = {
  "defaultValue": null,
  "kind": "LocalArgument",
  "name": "connections"
},
v1 = {
  "defaultValue": null,
  "kind": "LocalArgument",
  "name": "input"
},
v2 = [
  {
    "kind": "Variable",
    "name": "input",
    "variableName": "input"
  }
],
v3 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "removedUserId",
  "storageKey": null
},
v4 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "viewerCanPin",
  "storageKey": null
};
return {
  "fragment": {
    "argumentDefinitions": [
      (v0/*:: as any*/),
      (v1/*:: as any*/)
    ],
    "kind": "Fragment",
    "metadata": null,
    "name": "CollaboratorsRemoveMutation",
    "selections": [
      {
        "alias": null,
        "args": (v2/*:: as any*/),
        "concreteType": "RemoveCollaboratorPayload",
        "kind": "LinkedField",
        "name": "removeCollaborator",
        "plural": false,
        "selections": [
          (v3/*:: as any*/),
          {
            "alias": null,
            "args": null,
            "concreteType": "Board",
            "kind": "LinkedField",
            "name": "board",
            "plural": false,
            "selections": [
              (v4/*:: as any*/)
            ],
            "storageKey": null
          }
        ],
        "storageKey": null
      }
    ],
    "type": "Mutation",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": [
      (v1/*:: as any*/),
      (v0/*:: as any*/)
    ],
    "kind": "Operation",
    "name": "CollaboratorsRemoveMutation",
    "selections": [
      {
        "alias": null,
        "args": (v2/*:: as any*/),
        "concreteType": "RemoveCollaboratorPayload",
        "kind": "LinkedField",
        "name": "removeCollaborator",
        "plural": false,
        "selections": [
          (v3/*:: as any*/),
          {
            "alias": null,
            "args": null,
            "filters": null,
            "handle": "deleteEdge",
            "key": "",
            "kind": "ScalarHandle",
            "name": "removedUserId",
            "handleArgs": [
              {
                "kind": "Variable",
                "name": "connections",
                "variableName": "connections"
              }
            ]
          },
          {
            "alias": null,
            "args": null,
            "concreteType": "Board",
            "kind": "LinkedField",
            "name": "board",
            "plural": false,
            "selections": [
              (v4/*:: as any*/),
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
    ]
  },
  "params": {
    "cacheID": "bb840778d18061a5ffad1dbc47618a12",
    "id": null,
    "metadata": {},
    "name": "CollaboratorsRemoveMutation",
    "operationKind": "mutation",
    "text": "mutation CollaboratorsRemoveMutation(\n  $input: RemoveCollaboratorInput!\n) {\n  removeCollaborator(input: $input) {\n    removedUserId\n    board {\n      viewerCanPin\n      id\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "5050e0c052a1ba9b12a48e896aa96a2e";

export default node;
