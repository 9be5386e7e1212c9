/**
 * @generated SignedSource<<bed31decbfb59c0bde52411b8549f2dd>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
export type UpdateSectionInput = {
  name?: string | null | undefined;
  sectionId: string;
};
export type EditSectionsRenameMutation$variables = {
  input: UpdateSectionInput;
};
export type EditSectionsRenameMutation$data = {
  readonly updateSection: {
    readonly section: {
      readonly id: string;
      readonly name: string;
    } | null | undefined;
  } | null | undefined;
};
export type EditSectionsRenameMutation = {
  response: EditSectionsRenameMutation$data;
  variables: EditSectionsRenameMutation$variables;
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
    "concreteType": "UpdateSectionPayload",
    "kind": "LinkedField",
    "name": "updateSection",
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
          },
          {
            "alias": null,
            "args": null,
            "kind": "ScalarField",
            "name": "name",
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
    "name": "EditSectionsRenameMutation",
    "selections": (v1/*:: as any*/),
    "type": "Mutation",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "EditSectionsRenameMutation",
    "selections": (v1/*:: as any*/)
  },
  "params": {
    "cacheID": "748f839040b095061c847d45a57dd3e5",
    "id": null,
    "metadata": {},
    "name": "EditSectionsRenameMutation",
    "operationKind": "mutation",
    "text": "mutation EditSectionsRenameMutation(\n  $input: UpdateSectionInput!\n) {\n  updateSection(input: $input) {\n    section {\n      id\n      name\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "e6d2c56c89ff5e6064a4409da2f7867b";

export default node;
