/**
 * @generated SignedSource<<b0b5118b3cdd88372326b7f44eaf8098>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
export type UpdateCommentInput = {
  commentId: string;
  text: string;
};
export type CommentItemUpdateMutation$variables = {
  input: UpdateCommentInput;
};
export type CommentItemUpdateMutation$data = {
  readonly updateComment: {
    readonly comment: {
      readonly editedAt: string | null | undefined;
      readonly id: string;
      readonly text: string;
    } | null | undefined;
  } | null | undefined;
};
export type CommentItemUpdateMutation = {
  response: CommentItemUpdateMutation$data;
  variables: CommentItemUpdateMutation$variables;
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
    "concreteType": "UpdateCommentPayload",
    "kind": "LinkedField",
    "name": "updateComment",
    "plural": false,
    "selections": [
      {
        "alias": null,
        "args": null,
        "concreteType": "Comment",
        "kind": "LinkedField",
        "name": "comment",
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
            "name": "text",
            "storageKey": null
          },
          {
            "alias": null,
            "args": null,
            "kind": "ScalarField",
            "name": "editedAt",
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
    "name": "CommentItemUpdateMutation",
    "selections": (v1/*:: as any*/),
    "type": "Mutation",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "CommentItemUpdateMutation",
    "selections": (v1/*:: as any*/)
  },
  "params": {
    "cacheID": "52043059b4ad63223f7d39553c61630c",
    "id": null,
    "metadata": {},
    "name": "CommentItemUpdateMutation",
    "operationKind": "mutation",
    "text": "mutation CommentItemUpdateMutation(\n  $input: UpdateCommentInput!\n) {\n  updateComment(input: $input) {\n    comment {\n      id\n      text\n      editedAt\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "aa3910960876b8837c66f13d975521cb";

export default node;
