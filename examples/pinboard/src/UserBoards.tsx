import { useCallback, useState } from "react";
import { graphql, usePaginationFragment } from "react-relay";
import type { UserBoards_user$key } from "./__generated__/UserBoards_user.graphql.ts";
import type { UserBoardsQuery } from "./__generated__/UserBoardsQuery.graphql.ts";
import { ArrangeBoards } from "./ArrangeBoards.tsx";
import { BoardTile } from "./BoardTile.tsx";
import { LoadMore } from "./LoadMore.tsx";

const PAGE = 12;

export function UserBoards(props: { readonly user: UserBoards_user$key }) {
	const [isArranging, setArranging] = useState(false);
	const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<
		UserBoardsQuery,
		UserBoards_user$key
	>(
		graphql`
			fragment UserBoards_user on User
			@refetchable(queryName: "UserBoardsQuery")
			@argumentDefinitions(
				count: { type: "Int", defaultValue: 12 }
				cursor: { type: "String" }
			) {
				isViewer
				boards(first: $count, after: $cursor)
					@connection(key: "UserBoards_boards") {
					edges {
						node {
							id
							...BoardTile_board
						}
					}
					...ArrangeBoards_boards
				}
			}
		`,
		props.user,
	);
	const load = useCallback(() => void loadNext(PAGE), [loadNext]);
	return (
		<>
			{data.isViewer && (data.boards?.edges.length ?? 0) > 1 && (
				<button
					type="button"
					className="arranges"
					aria-pressed={isArranging}
					onClick={() => setArranging(!isArranging)}
				>
					{isArranging ? "Done" : "Arrange boards"}
				</button>
			)}
			{isArranging && data.boards ? (
				<ArrangeBoards boards={data.boards} />
			) : (
				<ul className="boards">
					{data.boards?.edges.map(
						({ node: board }) =>
							board && (
								<li key={board.id} data-board={board.id}>
									<BoardTile board={board} />
								</li>
							),
					)}
				</ul>
			)}
			<LoadMore hasMore={hasNext} isLoading={isLoadingNext} load={load} />
		</>
	);
}
