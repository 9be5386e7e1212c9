import { graphql, useFragment } from "react-relay";
import type { BoardCounts_board$key } from "./__generated__/BoardCounts_board.graphql.ts";
import { count } from "./BoardTile.tsx";

/** What mutations of a board's pins select of the board, so that its page and its tile are right without being read again. */
export function BoardCounts(props: { readonly board: BoardCounts_board$key }) {
	const board = useFragment(
		graphql`
			fragment BoardCounts_board on Board {
				all: pins(first: 0) {
					totalCount
				}
				...BoardTile_board
			}
		`,
		props.board,
	);
	return <span>{count(board.all?.totalCount ?? 0, "pin")}</span>;
}
