import { graphql, useFragment, useMutation } from "react-relay";
import type { FollowInterest_interest$key } from "./__generated__/FollowInterest_interest.graphql.ts";
import type { FollowInterestFollowMutation } from "./__generated__/FollowInterestFollowMutation.graphql.ts";
import type { FollowInterestUnfollowMutation } from "./__generated__/FollowInterestUnfollowMutation.graphql.ts";
import { FollowToggle } from "./FollowToggle.tsx";
import { useSession } from "./session.tsx";

export function FollowInterest(props: {
	readonly interest: FollowInterest_interest$key;
}) {
	const { say } = useSession();
	const interest = useFragment(
		graphql`
			fragment FollowInterest_interest on Interest {
				id
				name
				viewerFollows
				followers(first: 0) {
					totalCount
				}
			}
		`,
		props.interest,
	);
	const [follow] = useMutation<FollowInterestFollowMutation>(graphql`
		mutation FollowInterestFollowMutation($input: FollowInterestInput!) {
			followInterest(input: $input) {
				interest {
					...FollowInterest_interest
				}
			}
		}
	`);
	const [unfollow] = useMutation<FollowInterestUnfollowMutation>(graphql`
		mutation FollowInterestUnfollowMutation($input: UnfollowInterestInput!) {
			unfollowInterest(input: $input) {
				interest {
					...FollowInterest_interest
				}
			}
		}
	`);
	const count = interest.followers?.totalCount ?? 0;
	function toggle(follows: boolean) {
		const after = {
			interest: {
				id: interest.id,
				name: interest.name,
				viewerFollows: follows,
				followers: { totalCount: follows ? count + 1 : count - 1 },
			},
		};
		const how = {
			variables: { input: { interestId: interest.id } },
			onError: (error: Error) => say(`Not saved: ${error.message}`),
		};
		if (follows) {
			follow({ ...how, optimisticResponse: { followInterest: after } });
		} else {
			unfollow({ ...how, optimisticResponse: { unfollowInterest: after } });
		}
	}
	return (
		<FollowToggle
			follows={interest.viewerFollows === true}
			name={interest.name}
			onToggle={toggle}
		/>
	);
}
