import { graphql, useFragment, useMutation } from "react-relay";
import type { LikeButton_pin$key } from "./__generated__/LikeButton_pin.graphql.ts";
import type { LikeButtonLikeMutation } from "./__generated__/LikeButtonLikeMutation.graphql.ts";
import type { LikeButtonUnlikeMutation } from "./__generated__/LikeButtonUnlikeMutation.graphql.ts";
import { useSession } from "./session.tsx";

export function LikeButton(props: { readonly pin: LikeButton_pin$key }) {
	const session = useSession();
	const pin = useFragment(
		graphql`
			fragment LikeButton_pin on Pin {
				id
				viewerLikes
				likes: likedBy(first: 0) {
					totalCount
				}
			}
		`,
		props.pin,
	);
	const [like] = useMutation<LikeButtonLikeMutation>(graphql`
		mutation LikeButtonLikeMutation($input: LikePinInput!) {
			likePin(input: $input) {
				pin {
					...LikeButton_pin
				}
			}
		}
	`);
	const [unlike] = useMutation<LikeButtonUnlikeMutation>(graphql`
		mutation LikeButtonUnlikeMutation($input: UnlikePinInput!) {
			unlikePin(input: $input) {
				pin {
					...LikeButton_pin
				}
			}
		}
	`);
	const liked = pin.viewerLikes === true;
	const count = pin.likes?.totalCount ?? 0;
	function toggle() {
		if (!session.signedIn) return session.signIn();
		const after = {
			pin: {
				id: pin.id,
				viewerLikes: !liked,
				likes: { totalCount: liked ? count - 1 : count + 1 },
			},
		};
		const how = {
			variables: { input: { pinId: pin.id } },
			onError: (error: Error) => session.say(`Not saved: ${error.message}`),
		};
		if (liked) unlike({ ...how, optimisticResponse: { unlikePin: after } });
		else like({ ...how, optimisticResponse: { likePin: after } });
	}
	return (
		<button
			type="button"
			className="like"
			aria-pressed={liked}
			aria-label={`${liked ? "Unlike" : "Like"} ${count}`}
			onClick={toggle}
		>
			<svg viewBox="0 0 24 24" aria-hidden="true">
				<path d="M12 20.3C6.2 16 3 12.9 3 9.1 3 6.3 5.2 4.2 7.8 4.2c1.7 0 3.3.9 4.2 2.4.9-1.5 2.5-2.4 4.2-2.4C18.8 4.2 21 6.3 21 9.1c0 3.8-3.2 6.9-9 11.2Z" />
			</svg>
			<span>{count}</span>
		</button>
	);
}
