/**
 * @generated SignedSource<<dd724495a52e7c5756426e135a6df56d>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
export type ReportReason = "ADULT_CONTENT" | "COPYRIGHT" | "HARASSMENT" | "HATE" | "OTHER" | "SPAM" | "%future added value";
export type ReportInput = {
  reason: ReportReason;
  subjectId: string;
  text?: string | null | undefined;
};
export type ReportButtonMutation$variables = {
  input: ReportInput;
};
export type ReportButtonMutation$data = {
  readonly report: {
    readonly subject: {
      readonly id: string;
    } | null | undefined;
  } | null | undefined;
};
export type ReportButtonMutation = {
  response: ReportButtonMutation$data;
  variables: ReportButtonMutation$variables;
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
    "kind": "Variable",
    "name": "input",
    "variableName": "input"
  }
],
v2 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "id",
  "storageKey": null
};
return {
  "fragment": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Fragment",
    "metadata": null,
    "name": "ReportButtonMutation",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "ReportPayload",
        "kind": "LinkedField",
        "name": "report",
        "plural": false,
        "selections": [
          {
            "alias": null,
            "args": null,
            "concreteType": null,
            "kind": "LinkedField",
            "name": "subject",
            "plural": false,
            "selections": [
              (v2/*:: as any*/)
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
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "ReportButtonMutation",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "ReportPayload",
        "kind": "LinkedField",
        "name": "report",
        "plural": false,
        "selections": [
          {
            "alias": null,
            "args": null,
            "concreteType": null,
            "kind": "LinkedField",
            "name": "subject",
            "plural": false,
            "selections": [
              {
                "alias": null,
                "args": null,
                "kind": "ScalarField",
                "name": "__typename",
                "storageKey": null
              },
              (v2/*:: as any*/)
            ],
            "storageKey": null
          }
        ],
        "storageKey": null
      }
    ]
  },
  "params": {
    "cacheID": "1f59404573ea619a541cc43fb9e0685e",
    "id": null,
    "metadata": {},
    "name": "ReportButtonMutation",
    "operationKind": "mutation",
    "text": "mutation ReportButtonMutation(\n  $input: ReportInput!\n) {\n  report(input: $input) {\n    subject {\n      __typename\n      id\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "61d6583dfbbd9ffa1f7ae2c0f26a1489";

export default node;
