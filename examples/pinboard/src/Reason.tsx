import { graphql, useFragment } from "react-relay";
import type {
	Reason_pin$data,
	Reason_pin$key,
} from "./__generated__/Reason_pin.graphql.ts";
import { address, pinAddress } from "./route.ts";

/** Why a pin is in the viewer's home feed. */
export function Reason(props: { readonly pin: Reason_pin$key }) {
	const { homeFeedReason } = useFragment(
		graphql`
			fragment Reason_pin on Pin {
				homeFeedReason {
					source
					via {
						__typename
						... on User {
							name
							username
						}
						... on Board {
							id
							name
						}
						... on Interest {
							slug
							name
						}
						... on Pin {
							id
							title
						}
					}
				}
			}
		`,
		props.pin,
	);
	return <span>{homeFeedReason && sentenceOf(homeFeedReason)}</span>;
}

function sentenceOf({
	source,
	via,
}: NonNullable<Reason_pin$data["homeFeedReason"]>) {
	switch (via?.__typename) {
		case "User":
			return (
				<>
					You follow <a href={address("user", via.username)}>{via.name}</a>
				</>
			);
		case "Board":
			return (
				<>
					You follow the board <a href={address("board", via.id)}>{via.name}</a>
				</>
			);
		case "Interest":
			return (
				<>
					You follow <a href={address("interest", via.slug)}>{via.name}</a>
				</>
			);
		case "Pin":
			return (
				<>
					Like <a href={pinAddress(via.id)}>{via.title ?? "a pin"}</a>, which
					you saved or liked
				</>
			);
	}
	// The viewer may not see any more whom or what it came through.
	return source === "RELATED"
		? "Like a pin that you saved or liked"
		: "From what you follow";
}
