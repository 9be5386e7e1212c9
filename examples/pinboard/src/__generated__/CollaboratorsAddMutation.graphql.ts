/**
 * @generated SignedSource<<d465ea9a3efbd81da224923ea54bb341>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
export type AddCollaboratorInput = {
  boardId: string;
  userId: string;
};
export type CollaboratorsAddMutation$variables = {
  connections: ReadonlyArray<string>;
  input: AddCollaboratorInput;
};
export type CollaboratorsAddMutation$data = {
  readonly addCollaborator: {
    readonly collaboratorEdge: {
      readonly cursor: string;
      readonly node: {
        readonly id: string;
        readonly isViewer: boolean;
        readonly name: string;
        readonly username: string;
      } | null | undefined;
    } | null | undefined;
  } | null | undefined;
};
export type CollaboratorsAddMutation = {
  response: CollaboratorsAddMutation$data;
  variables: CollaboratorsAddMutation$variables;
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
  "concreteType": "CollaboratorEdge",
  "kind": "LinkedField",
  "name": "collaboratorEdge",
  "plural": false,
  "selections": [
    {
      "alias": null,
      "args": null,
      "kind": "ScalarField",
      "name": "cursor",
      "storageKey": null
    },
    {
      "alias": null,
      "args": null,
      "concreteType": "User",
      "kind": "LinkedField",
      "name": "node",
      "plural": false,
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
          "name": "username",
          "storageKey": null
        },
        {
          "alias": null,
          "args": null,
          "kind": "ScalarField",
          "name": "isViewer",
          "storageKey": null
        }
      ],
      "storageKey": null
    }
  ],
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
    "name": "CollaboratorsAddMutation",
    "selections": [
      {
        "alias": null,
        "args": (v2/*:: as any*/),
        "concreteType": "AddCollaboratorPayload",
        "kind": "LinkedField",
        "name": "addCollaborator",
        "plural": false,
        "selections": [
          (v3/*:: as any*/)
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
    "name": "CollaboratorsAddMutation",
    "selections": [
      {
        "alias": null,
        "args": (v2/*:: as any*/),
        "concreteType": "AddCollaboratorPayload",
        "kind": "LinkedField",
        "name": "addCollaborator",
        "plural": false,
        "selections": [
          (v3/*:: as any*/),
          {
            "alias": null,
            "args": null,
            "filters": null,
            "handle": "prependEdge",
            "key": "",
            "kind": "LinkedHandle",
            "name": "collaboratorEdge",
            "handleArgs": [
              {
                "kind": "Variable",
                "name": "connections",
                "variableName": "connections"
              }
            ]
          }
        ],
        "storageKey": null
      }
    ]
  },
  "params": {
    "cacheID": "15c2b15b1fc28e6842d2b8f46653e37c",
    "id": null,
    "metadata": {},
    "name": "CollaboratorsAddMutation",
    "operationKind": "mutation",
    "text": "mutation CollaboratorsAddMutation(\n  $input: AddCollaboratorInput!\n) {\n  addCollaborator(input: $input) {\n    collaboratorEdge {\n      cursor\n      node {\n        id\n        name\n        username\n        isViewer\n      }\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "db9f9bd736435de540f2f62856c0d48c";

export default node;
