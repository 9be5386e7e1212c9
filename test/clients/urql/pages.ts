import { type Client, gql, type OperationResult } from "@urql/core";

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
