import { graphql, useFragment, useMutation } from "react-relay";
import type { FollowBoard_board$key } from "./__generated__/FollowBoard_board.graphql.ts";
import type { FollowBoardFollowMutation } from "./__generated__/FollowBoardFollowMutation.graphql.ts";
import type { FollowBoardUnfollowMutation } from "./__generated__/FollowBoardUnfollowMutation.graphql.ts";
import { FollowToggle } from "./FollowToggle.tsx";
import { useSession } from "./session.tsx";

export function FollowBoard(props: { readonly board: FollowBoard_board$key }) {
	const { say } = useSession();
	const board = useFragment(
		graphql`
			fragment FollowBoard_board on Board {
				id
				name
				viewerFollows
				followers(first: 0) {
					totalCount
				}
			}
		`,
		props.board,
	);
	const [follow] = useMutation<FollowBoardFollowMutation>(graphql`
		mutation FollowBoardFollowMutation($input: FollowBoardInput!) {
			followBoard(input: $input) {
				board {
					...FollowBoard_board
				}
			}
		}
	`);
	const [unfollow] = useMutation<FollowBoardUnfollowMutation>(graphql`
		mutation FollowBoardUnfollowMutation($input: UnfollowBoardInput!) {
			unfollowBoard(input: $input) {
				board {
					...FollowBoard_board
				}
			}
		}
	`);
	const count = board.followers?.totalCount ?? 0;
	function toggle(follows: boolean) {
		const after = {
			board: {
				id: board.id,
				name: board.name,
				viewerFollows: follows,
				followers: { totalCount: follows ? count + 1 : count - 1 },
			},
		};
		const how = {
			variables: { input: { boardId: board.id } },
			onError: (error: Error) => say(`Not saved: ${error.message}`),
		};
		if (follows) {
			follow({ ...how, optimisticResponse: { followBoard: after } });
		} else {
			unfollow({ ...how, optimisticResponse: { unfollowBoard: after } });
		}
	}
	return (
		<FollowToggle
			follows={board.viewerFollows === true}
			name={board.name}
			onToggle={toggle}
		/>
	);
}
