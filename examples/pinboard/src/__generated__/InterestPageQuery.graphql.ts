/**
 * @generated SignedSource<<512ce885cfc3bc844c9a783bc53e7b5a>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import { ConcreteRequest } from 'relay-runtime';
import { FragmentRefs } from "relay-runtime";
export type InterestPageQuery$variables = {
  slug: string;
};
export type InterestPageQuery$data = {
  readonly interest: {
    readonly all: {
      readonly totalCount: number | null | undefined;
    } | null | undefined;
    readonly followers: {
      readonly totalCount: number | null | undefined;
    } | null | undefined;
    readonly name: string;
    readonly " $fragmentSpreads": FragmentRefs<"FollowInterest_interest" | "InterestPins_interest">;
  } | null | undefined;
};
export type InterestPageQuery = {
  response: InterestPageQuery$data;
  variables: InterestPageQuery$variables;
};

const node: ConcreteRequest = (function(){
var v0 = [
  {
    "defaultValue": null,
    "kind": "LocalArgument",
    "name": "slug"
  }
],
v1 = [
  {
    "fields": [
      {
        "kind": "Variable",
        "name": "slug",
        "variableName": "slug"
      }
    ],
    "kind": "ObjectValue",
    "name": "by"
  }
],
v2 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "name",
  "storageKey": null
},
v3 = [
  {
    "kind": "Literal",
    "name": "first",
    "value": 0
  }
],
v4 = [
  {
    "alias": null,
    "args": null,
    "kind": "ScalarField",
    "name": "totalCount",
    "storageKey": null
  }
],
v5 = {
  "alias": "all",
  "args": (v3/*:: as any*/),
  "concreteType": "PinConnection",
  "kind": "LinkedField",
  "name": "pins",
  "plural": false,
  "selections": (v4/*:: as any*/),
  "storageKey": "pins(first:0)"
},
v6 = {
  "alias": null,
  "args": (v3/*:: as any*/),
  "concreteType": "FollowerConnection",
  "kind": "LinkedField",
  "name": "followers",
  "plural": false,
  "selections": (v4/*:: as any*/),
  "storageKey": "followers(first:0)"
},
v7 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "id",
  "storageKey": null
},
v8 = [
  {
    "kind": "Literal",
    "name": "first",
    "value": 12
  }
],
v9 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "__typename",
  "storageKey": null
};
return {
  "fragment": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Fragment",
    "metadata": null,
    "name": "InterestPageQuery",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "Interest",
        "kind": "LinkedField",
        "name": "interest",
        "plural": false,
        "selections": [
          (v2/*:: as any*/),
          (v5/*:: as any*/),
          (v6/*:: as any*/),
          {
            "args": null,
            "kind": "FragmentSpread",
            "name": "FollowInterest_interest"
          },
          {
            "args": null,
            "kind": "FragmentSpread",
            "name": "InterestPins_interest"
          }
        ],
        "storageKey": null
      }
    ],
    "type": "Query",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "InterestPageQuery",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "Interest",
        "kind": "LinkedField",
        "name": "interest",
        "plural": false,
        "selections": [
          (v2/*:: as any*/),
          (v5/*:: as any*/),
          (v6/*:: as any*/),
          (v7/*:: as any*/),
          {
            "alias": null,
            "args": null,
            "kind": "ScalarField",
            "name": "viewerFollows",
            "storageKey": null
          },
          {
            "alias": null,
            "args": (v8/*:: as any*/),
            "concreteType": "PinConnection",
            "kind": "LinkedField",
            "name": "pins",
            "plural": false,
            "selections": [
              {
                "alias": null,
                "args": null,
                "concreteType": "PinEdge",
                "kind": "LinkedField",
                "name": "edges",
                "plural": true,
                "selections": [
                  (v9/*:: as any*/),
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
                    "concreteType": "Pin",
                    "kind": "LinkedField",
                    "name": "node",
                    "plural": false,
                    "selections": [
                      (v9/*:: as any*/),
                      (v7/*:: as any*/),
                      {
                        "alias": null,
                        "args": null,
                        "concreteType": "Image",
                        "kind": "LinkedField",
                        "name": "image",
                        "plural": false,
                        "selections": [
                          {
                            "alias": null,
                            "args": null,
                            "kind": "ScalarField",
                            "name": "width",
                            "storageKey": null
                          },
                          {
                            "alias": null,
                            "args": null,
                            "kind": "ScalarField",
                            "name": "height",
                            "storageKey": null
                          },
                          {
                            "alias": null,
                            "args": null,
                            "kind": "ScalarField",
                            "name": "url",
                            "storageKey": null
                          },
                          {
                            "alias": null,
                            "args": null,
                            "kind": "ScalarField",
                            "name": "alt",
                            "storageKey": null
                          }
                        ],
                        "storageKey": null
                      },
                      {
                        "alias": null,
                        "args": null,
                        "kind": "ScalarField",
                        "name": "title",
                        "storageKey": null
                      },
                      {
                        "alias": null,
                        "args": null,
                        "kind": "ScalarField",
                        "name": "details",
                        "storageKey": null
                      },
                      {
                        "alias": null,
                        "args": null,
                        "concreteType": "User",
                        "kind": "LinkedField",
                        "name": "owner",
                        "plural": false,
                        "selections": [
                          (v2/*:: as any*/),
                          {
                            "alias": null,
                            "args": null,
                            "kind": "ScalarField",
                            "name": "username",
                            "storageKey": null
                          },
                          (v7/*:: as any*/)
                        ],
                        "storageKey": null
                      },
                      {
                        "alias": null,
                        "args": null,
                        "kind": "ScalarField",
                        "name": "viewerLikes",
                        "storageKey": null
                      },
                      {
                        "alias": "likes",
                        "args": (v3/*:: as any*/),
                        "concreteType": "LikerConnection",
                        "kind": "LinkedField",
                        "name": "likedBy",
                        "plural": false,
                        "selections": (v4/*:: as any*/),
                        "storageKey": "likedBy(first:0)"
                      },
                      {
                        "alias": null,
                        "args": null,
                        "kind": "ScalarField",
                        "name": "viewerHasSaved",
                        "storageKey": null
                      }
                    ],
                    "storageKey": null
                  }
                ],
                "storageKey": null
              },
              {
                "alias": null,
                "args": null,
                "concreteType": "PageInfo",
                "kind": "LinkedField",
                "name": "pageInfo",
                "plural": false,
                "selections": [
                  {
                    "alias": null,
                    "args": null,
                    "kind": "ScalarField",
                    "name": "endCursor",
                    "storageKey": null
                  },
                  {
                    "alias": null,
                    "args": null,
                    "kind": "ScalarField",
                    "name": "hasNextPage",
                    "storageKey": null
                  }
                ],
                "storageKey": null
              }
            ],
            "storageKey": "pins(first:12)"
          },
          {
            "alias": null,
            "args": (v8/*:: as any*/),
            "filters": null,
            "handle": "connection",
            "key": "InterestPins_pins",
            "kind": "LinkedHandle",
            "name": "pins"
          }
        ],
        "storageKey": null
      }
    ]
  },
  "params": {
    "cacheID": "d05eb90a28ed67104f1313e931f61fb4",
    "id": null,
    "metadata": {},
    "name": "InterestPageQuery",
    "operationKind": "query",
    "text": "query InterestPageQuery(\n  $slug: String!\n) {\n  interest(by: {slug: $slug}) {\n    name\n    all: pins(first: 0) {\n      totalCount\n    }\n    followers(first: 0) {\n      totalCount\n    }\n    ...FollowInterest_interest\n    ...InterestPins_interest\n    id\n  }\n}\n\nfragment FollowInterest_interest on Interest {\n  id\n  name\n  viewerFollows\n  followers(first: 0) {\n    totalCount\n  }\n}\n\nfragment InterestPins_interest on Interest {\n  pins(first: 12) {\n    edges {\n      __typename\n      cursor\n      node {\n        __typename\n        id\n      }\n    }\n    ...PinGrid_pins\n    pageInfo {\n      endCursor\n      hasNextPage\n    }\n  }\n  id\n}\n\nfragment LikeButton_pin on Pin {\n  id\n  viewerLikes\n  likes: likedBy(first: 0) {\n    totalCount\n  }\n}\n\nfragment PinCard_pin on Pin {\n  id\n  title\n  details\n  image {\n    url\n    width\n    height\n    alt\n  }\n  owner {\n    name\n    username\n    id\n  }\n  ...LikeButton_pin\n  ...SaveButton_pin\n}\n\nfragment PinGrid_pins on PinConnection {\n  edges {\n    node {\n      id\n      image {\n        width\n        height\n      }\n      ...PinCard_pin\n    }\n  }\n}\n\nfragment SaveButton_pin on Pin {\n  id\n  title\n  details\n  viewerHasSaved\n}\n"
  }
};
})();

(node as any).hash = "6f70d983120f76ad555f25c364c2cb83";

export default node;
