/**
 * @generated SignedSource<<866efbd170b7f6acc5fa62a4e4e4c493>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
export type MoveSectionInput = {
  afterSectionId?: string | null | undefined;
  beforeSectionId?: string | null | undefined;
  sectionId: string;
};
export type EditSectionsMoveMutation$variables = {
  input: MoveSectionInput;
};
export type EditSectionsMoveMutation$data = {
  readonly moveSection: {
    readonly section: {
      readonly id: string;
    } | null | undefined;
  } | null | undefined;
};
export type EditSectionsMoveMutation = {
  response: EditSectionsMoveMutation$data;
  variables: EditSectionsMoveMutation$variables;
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
    "concreteType": "MoveSectionPayload",
    "kind": "LinkedField",
    "name": "moveSection",
    "plural": false,
    "selections": [
      {
        "alias": null,
        "args": null,
        "concreteType": "Section",
        "kind": "LinkedField",
        "name": "section",
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
    "name": "EditSectionsMoveMutation",
    "selections": (v1/*:: as any*/),
    "type": "Mutation",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "EditSectionsMoveMutation",
    "selections": (v1/*:: as any*/)
  },
  "params": {
    "cacheID": "a65b88255b4c94940fcb2e1786210c66",
    "id": null,
    "metadata": {},
    "name": "EditSectionsMoveMutation",
    "operationKind": "mutation",
    "text": "mutation EditSectionsMoveMutation(\n  $input: MoveSectionInput!\n) {\n  moveSection(input: $input) {\n    section {\n      id\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "601bd07d683875e54722c410316e5b24";

export default node;
