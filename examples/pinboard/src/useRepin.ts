import { useState } from "react";
import { ConnectionHandler, graphql, useMutation } from "react-relay";
import type { useRepinMutation } from "./__generated__/useRepinMutation.graphql.ts";
import { useSession } from "./session.tsx";

/** The name of the board that the pin was saved to, and what saves it: shown at once, taken back if it is refused. */
export function useRepin(): readonly [
	string | null,
	(
		pinId: string,
		board: { readonly id: string; readonly name: string },
	) => void,
] {
	const { say } = useSession();
	const [savedTo, setSavedTo] = useState<string | null>(null);
	const [repin] = useMutation<useRepinMutation>(graphql`
		mutation useRepinMutation($input: RepinInput!, $connections: [ID!]!) {
			repin(input: $input) {
				pinEdge @prependEdge(connections: $connections) {
					cursor
					node {
						id
						image {
							width
							height
						}
						...PinCard_pin
					}
				}
				board {
					...BoardCounts_board
				}
				origin {
					viewerHasSaved
				}
			}
		}
	`);
	return [
		savedTo,
		(pinId, board) => {
			const before = savedTo;
			setSavedTo(board.name);
			repin({
				variables: {
					input: {
						pinId,
						boardId: board.id,
						idempotencyKey: crypto.randomUUID(),
					},
					connections: [
						ConnectionHandler.getConnectionID(board.id, "BoardPins_pins"),
					],
				},
				onCompleted: () => say(`Saved to ${board.name}.`),
				onError(error) {
					setSavedTo(before);
					say(`Not saved: ${error.message}`);
				},
			});
		},
	];
}
