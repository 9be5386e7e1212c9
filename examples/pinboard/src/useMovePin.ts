import { graphql, useMutation } from "react-relay";
import type { useMovePinMutation } from "./__generated__/useMovePinMutation.graphql.ts";
import { type Place, reorder } from "./reorder.ts";
import { useSession } from "./session.tsx";

/** What moves a pin within a list of the store: shown at once, taken back if it is refused. */
export function useMovePin(options: {
	/** The connection of the pins that are shown. */
	readonly connection: string;
	/** Whose pins they are, if not the board's. */
	readonly section: string | null;
}): (pinId: string, place: Place) => void {
	const { connection, section } = options;
	const { say } = useSession();
	const [move] = useMutation<useMovePinMutation>(graphql`
		mutation useMovePinMutation($input: MovePinInput!) {
			movePin(input: $input) {
				pin {
					id
				}
			}
		}
	`);
	return (pinId, place) => {
		move({
			variables: {
				input: {
					pinId,
					...(section !== null && { sectionId: section }),
					...(place !== "top" &&
						("before" in place
							? { beforePinId: place.before }
							: { afterPinId: place.after })),
				},
			},
			// The list is read page by page, so it is not in the payload.
			optimisticUpdater: (store) => reorder(store, connection, pinId, place),
			updater: (store) => reorder(store, connection, pinId, place),
			onError: ({ message }) => say(`Not moved: ${message}`),
		});
	};
}
