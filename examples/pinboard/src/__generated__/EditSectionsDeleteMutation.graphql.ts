/**
 * @generated SignedSource<<9f2fae03aea8e9910638e8f518a974c5>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
export type DeleteSectionInput = {
  sectionId: string;
};
export type EditSectionsDeleteMutation$variables = {
  connections: ReadonlyArray<string>;
  input: DeleteSectionInput;
};
export type EditSectionsDeleteMutation$data = {
  readonly deleteSection: {
    readonly deletedSectionId: string | null | undefined;
  } | null | undefined;
};
export type EditSectionsDeleteMutation = {
  response: EditSectionsDeleteMutation$data;
  variables: EditSectionsDeleteMutation$variables;
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
  "name": "deletedSectionId",
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
    "name": "EditSectionsDeleteMutation",
    "selections": [
      {
        "alias": null,
        "args": (v2/*:: as any*/),
        "concreteType": "DeleteSectionPayload",
        "kind": "LinkedField",
        "name": "deleteSection",
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
    "name": "EditSectionsDeleteMutation",
    "selections": [
      {
        "alias": null,
        "args": (v2/*:: as any*/),
        "concreteType": "DeleteSectionPayload",
        "kind": "LinkedField",
        "name": "deleteSection",
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
            "name": "deletedSectionId",
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
    "cacheID": "1c18fd442b6f7209ba0276ad98453eb8",
    "id": null,
    "metadata": {},
    "name": "EditSectionsDeleteMutation",
    "operationKind": "mutation",
    "text": "mutation EditSectionsDeleteMutation(\n  $input: DeleteSectionInput!\n) {\n  deleteSection(input: $input) {\n    deletedSectionId\n  }\n}\n"
  }
};
})();

(node as any).hash = "1a267c06b9bac7cb750b6892acad3a59";

export default node;
