import { graphql, useFragment, useMutation } from "react-relay";
import type { FollowUser_user$key } from "./__generated__/FollowUser_user.graphql.ts";
import type { FollowUserFollowMutation } from "./__generated__/FollowUserFollowMutation.graphql.ts";
import type { FollowUserUnfollowMutation } from "./__generated__/FollowUserUnfollowMutation.graphql.ts";
import { FollowToggle } from "./FollowToggle.tsx";
import { useSession } from "./session.tsx";

export function FollowUser(props: { readonly user: FollowUser_user$key }) {
	const { say } = useSession();
	const user = useFragment(
		graphql`
			fragment FollowUser_user on User {
				id
				name
				viewerFollows
				followers(first: 0) {
					totalCount
				}
			}
		`,
		props.user,
	);
	const [follow] = useMutation<FollowUserFollowMutation>(graphql`
		mutation FollowUserFollowMutation($input: FollowUserInput!) {
			followUser(input: $input) {
				user {
					...FollowUser_user
				}
			}
		}
	`);
	const [unfollow] = useMutation<FollowUserUnfollowMutation>(graphql`
		mutation FollowUserUnfollowMutation($input: UnfollowUserInput!) {
			unfollowUser(input: $input) {
				user {
					...FollowUser_user
				}
			}
		}
	`);
	const count = user.followers?.totalCount ?? 0;
	function toggle(follows: boolean) {
		const after = {
			user: {
				id: user.id,
				name: user.name,
				viewerFollows: follows,
				followers: { totalCount: follows ? count + 1 : count - 1 },
			},
		};
		const how = {
			variables: { input: { userId: user.id } },
			onError: (error: Error) => say(`Not saved: ${error.message}`),
		};
		if (follows) {
			follow({ ...how, optimisticResponse: { followUser: after } });
		} else {
			unfollow({ ...how, optimisticResponse: { unfollowUser: after } });
		}
	}
	return (
		<FollowToggle
			follows={user.viewerFollows === true}
			name={user.name}
			onToggle={toggle}
		/>
	);
}
