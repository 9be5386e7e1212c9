import { useCallback } from "react";
import { graphql, usePaginationFragment } from "react-relay";
import type { UserBoards_user$key } from "./__generated__/UserBoards_user.graphql.ts";
import type { UserBoardsQuery } from "./__generated__/UserBoardsQuery.graphql.ts";
import { LoadMore } from "./LoadMore.tsx";
import { Picture } from "./Picture.tsx";
import { address } from "./route.ts";

const PAGE = 12;

export function UserBoards(props: { readonly user: UserBoards_user$key }) {
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
				boards(first: $count, after: $cursor)
					@connection(key: "UserBoards_boards") {
					edges {
						node {
							id
							name
							secret
							pins(first: 3) {
								totalCount
								nodes {
									id
									image {
										url
										alt
									}
								}
							}
						}
					}
				}
			}
		`,
		props.user,
	);
	const load = useCallback(() => void loadNext(PAGE), [loadNext]);
	return (
		<>
			<ul className="boards">
				{data.boards?.edges.map(
					({ node: board }) =>
						board && (
							<li key={board.id} data-board={board.id}>
								<a href={address("board", board.id)}>
									<span className="collage">
										{board.pins?.nodes.map(
											(pin) =>
												pin && (
													<Picture
														key={pin.id}
														seed={pin.image?.url ?? pin.id}
														alt={pin.image?.alt ?? ""}
														width={300}
														height={300}
													/>
												),
										)}
									</span>
									<strong>{board.name}</strong>
									<span>
										{board.pins?.totalCount} pins
										{board.secret && <small className="secret">secret</small>}
									</span>
								</a>
							</li>
						),
				)}
			</ul>
			<LoadMore hasMore={hasNext} isLoading={isLoadingNext} load={load} />
		</>
	);
}
