import { graphql, useFragment, useMutation } from "react-relay";
import type { HidePin_pin$key } from "./__generated__/HidePin_pin.graphql.ts";
import type { HidePinMutation } from "./__generated__/HidePinMutation.graphql.ts";
import { useSession } from "./session.tsx";

/** Takes a pin out of the viewer's home feed. */
export function HidePin(props: {
	readonly pin: HidePin_pin$key;
	readonly connection: string;
	/** The button was pressed by the keyboard, and is about to go. */
	readonly onKeyboard: () => void;
}) {
	const { say } = useSession();
	const pin = useFragment(
		graphql`
			fragment HidePin_pin on Pin {
				id
				title
				details
			}
		`,
		props.pin,
	);
	const [hide] = useMutation<HidePinMutation>(graphql`
		mutation HidePinMutation(
			$input: HideFromHomeFeedInput!
			$connections: [ID!]!
		) {
			hideFromHomeFeed(input: $input) {
				hiddenPinId @deleteEdge(connections: $connections)
			}
		}
	`);
	return (
		<button
			type="button"
			className="quiet hide"
			aria-label={`Hide ${pin.title ?? pin.details ?? "this pin"}`}
			onClick={(event) => {
				if (event.detail === 0) props.onKeyboard();
				hide({
					variables: {
						input: { pinId: pin.id },
						connections: [props.connection],
					},
					optimisticResponse: { hideFromHomeFeed: { hiddenPinId: pin.id } },
					onCompleted: () => say("Hidden. You will see fewer pins like it."),
					onError: ({ message }) => say(`Not hidden: ${message}`),
				});
			}}
		>
			Hide
		</button>
	);
}
