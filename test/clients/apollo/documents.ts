import { gql, type TypedDocumentNode } from "@apollo/client";

interface Page<Node> {
	readonly edges: readonly { readonly node: Node }[];
	readonly pageInfo: {
		readonly hasNextPage: boolean;
		readonly hasPreviousPage: boolean;
		readonly startCursor: string | null;
		readonly endCursor: string | null;
	};
}

export const BOARD_PINS: TypedDocumentNode<
	{
		board: {
			id: string;
			pins: Page<{ id: string; viewerLikes: boolean | null }>;
		} | null;
	},
	{ id: string; first: number; after?: string | null }
> = gql`
	query BoardPins($id: ID!, $first: Int!, $after: String) {
		board(id: $id) {
			id
			pins(first: $first, after: $after) {
				edges {
					cursor
					node {
						id
						viewerLikes
					}
				}
				pageInfo {
					startCursor
					endCursor
					hasNextPage
					hasPreviousPage
				}
			}
		}
	}
`;

export const HOME_FEED: TypedDocumentNode<
	{ viewer: { id: string; homeFeed: Page<{ id: string }> } | null },
	{
		first?: number | null;
		after?: string | null;
		last?: number | null;
		before?: string | null;
	}
> = gql`
	query HomeFeed($first: Int, $after: String, $last: Int, $before: String) {
		viewer {
			id
			homeFeed(first: $first, after: $after, last: $last, before: $before) {
				edges {
					cursor
					node {
						id
					}
				}
				pageInfo {
					startCursor
					endCursor
					hasNextPage
					hasPreviousPage
				}
			}
		}
	}
`;

export const PIN_COMMENTS: TypedDocumentNode<
	{ pin: { id: string; comments: Page<{ id: string; text: string }> } },
	{ id: string; last: number; before?: string | null }
> = gql`
	query PinComments($id: ID!, $last: Int!, $before: String) {
		pin(id: $id) {
			id
			comments(last: $last, before: $before) {
				edges {
					cursor
					node {
						id
						text
					}
				}
				pageInfo {
					startCursor
					endCursor
					hasNextPage
					hasPreviousPage
				}
			}
		}
	}
`;

export const COUNT_PINS: TypedDocumentNode<
	{ board: { id: string; pins: { totalCount: number } } },
	{ id: string }
> = gql`
	query CountPins($id: ID!) {
		board(id: $id) {
			id
			pins(first: 0) {
				totalCount
			}
		}
	}
`;

export const PREVIEW_PINS: TypedDocumentNode<
	{ board: { id: string; pins: Pick<Page<{ id: string }>, "edges"> } | null },
	{ id: string }
> = gql`
	query PreviewPins($id: ID!) {
		board(id: $id) {
			id
			pins(first: 2) @connection(key: "preview") {
				edges {
					node {
						id
					}
				}
			}
		}
	}
`;

export const LIKE_PIN: TypedDocumentNode<
	{ likePin: { pin: { id: string; viewerLikes: boolean } } | null },
	{ id: string }
> = gql`
	mutation LikePin($id: ID!) {
		likePin(input: { pinId: $id }) {
			pin {
				id
				viewerLikes
			}
		}
	}
`;

export const VIEWER: TypedDocumentNode<{
	viewer: { id: string; username: string } | null;
}> = gql`
	query Viewer {
		viewer {
			id
			username
		}
	}
`;
