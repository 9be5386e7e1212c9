import {
	type Client,
	gql,
	type OperationResult,
	type RequestPolicy,
} from "@urql/core";

interface BoardPins {
	readonly board: null | {
		readonly pins: {
			readonly nodes: readonly ({ readonly id: string } | null)[];
			readonly pageInfo: {
				readonly endCursor: string | null;
				readonly hasNextPage: boolean;
			};
		};
	};
}

export const BOARD_PINS = gql<
	BoardPins,
	{ id: string; first: number; after: string | null }
>`
	query BoardPins($id: ID!, $first: Int!, $after: String) {
		board(id: $id) {
			id
			pins(first: $first, after: $after) {
				nodes {
					id
				}
				pageInfo {
					endCursor
					hasNextPage
				}
			}
		}
	}
`;

/** A page at a time: each is an entry of the cache by its cursor. */
export async function allPins(
	client: Client,
	id: string,
	first: number,
): Promise<readonly string[]> {
	const pins: string[] = [];
	let after: string | null = null;
	do {
		const page: OperationResult<BoardPins> = await client.query(BOARD_PINS, {
			id,
			first,
			after,
		});
		if (!page.data) throw page.error;
		if (!page.data.board) return [];
		const { nodes, pageInfo } = page.data.board.pins;
		for (const pin of nodes) if (pin !== null) pins.push(pin.id);
		after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
	} while (after !== null);
	return pins;
}

const FEED = gql`
	query Feed($first: Int, $after: String, $last: Int, $before: String) {
		viewer {
			id
			homeFeed(first: $first, after: $after, last: $last, before: $before) {
				edges { node { id } }
				pageInfo { startCursor endCursor hasNextPage hasPreviousPage }
			}
		}
	}
`;

/** The home feed in the order it is shown: urql keeps whole answers, so pages are put together here. */
export async function shownFeed(client: Client, size: number) {
	const read = async (
		variables: Record<string, unknown>,
		requestPolicy: RequestPolicy = "cache-first",
	) => {
		const { data, error } = await client.query(FEED, variables, {
			requestPolicy,
		});
		if (error !== undefined) throw error;
		return data.viewer.homeFeed as {
			edges: { node: { id: string } }[];
			pageInfo: {
				startCursor: string | null;
				endCursor: string | null;
				hasNextPage: boolean;
				hasPreviousPage: boolean;
			};
		};
	};
	const first = await read({ first: size });
	let { startCursor, endCursor } = first.pageInfo;
	let pins = first.edges.map(({ node }) => node.id);
	return {
		ids: () => pins,
		async older(): Promise<boolean> {
			const page = await read({ first: size, after: endCursor });
			pins = [...pins, ...page.edges.map(({ node }) => node.id)];
			endCursor = page.pageInfo.endCursor ?? endCursor;
			return page.pageInfo.hasNextPage;
		},
		async newer(): Promise<boolean> {
			// Whether there are new pins was asked before, with the same variables.
			const page = await read(
				{ last: size, before: startCursor },
				"network-only",
			);
			pins = [...page.edges.map(({ node }) => node.id), ...pins];
			startCursor = page.pageInfo.startCursor ?? startCursor;
			return page.pageInfo.hasPreviousPage;
		},
	};
}
