import { graphql, useLazyLoadQuery } from "react-relay";
import type { BoardPageQuery } from "./__generated__/BoardPageQuery.graphql.ts";
import { Avatar } from "./Avatar.tsx";
import { BoardCounts } from "./BoardCounts.tsx";
import { BoardPins } from "./BoardPins.tsx";
import { FollowBoard } from "./FollowBoard.tsx";
import { Missing } from "./Missing.tsx";
import { OwnBoard } from "./OwnBoard.tsx";
import { address } from "./route.ts";

export function BoardPage({ id }: { readonly id: string }) {
	const { board, viewer } = useLazyLoadQuery<BoardPageQuery>(
		graphql`
			query BoardPageQuery($id: ID!) {
				viewer {
					id
				}
				board(id: $id) {
					name
					description
					secret
					owner {
						id
						name
						username
					}
					...BoardCounts_board
					followers(first: 0) {
						totalCount
					}
					...OwnBoard_board
					...FollowBoard_board
					...BoardPins_board
				}
			}
		`,
		{ id },
	);
	if (!board) return <Missing what="board" />;
	return (
		<>
			<header className="heading">
				<h1>
					{board.name}
					{board.secret && <small className="secret">secret</small>}
				</h1>
				<p>{board.description}</p>
				<div className="facts">
					{board.owner && (
						<a className="person" href={address("user", board.owner.username)}>
							<Avatar name={board.owner.name} />
							<span>{board.owner.name}</span>
						</a>
					)}
					<BoardCounts board={board} />
					<span data-followers>{board.followers?.totalCount} followers</span>
					{board.owner?.id === viewer?.id ? (
						<OwnBoard board={board} />
					) : (
						<FollowBoard board={board} />
					)}
				</div>
			</header>
			<BoardPins board={board} />
		</>
	);
}
