import { Suspense } from "react";
import {
	ConnectionHandler,
	graphql,
	useFragment,
	useLazyLoadQuery,
	useMutation,
} from "react-relay";
import type { MovePin_pin$key } from "./__generated__/MovePin_pin.graphql.ts";
import type { MovePinMutation } from "./__generated__/MovePinMutation.graphql.ts";
import type { MovePinQuery } from "./__generated__/MovePinQuery.graphql.ts";
import { Dialog } from "./Dialog.tsx";
import { Form, useFormErrors } from "./form.tsx";
import { useSession } from "./session.tsx";

interface Props {
	readonly pin: MovePin_pin$key;
	readonly onClose: () => void;
}

/** Moves a pin to another board or section. */
export function MovePin(props: Props) {
	return (
		<Dialog title="Move this pin" onClose={props.onClose}>
			<Suspense fallback={<p>Loading your boards …</p>}>
				<Choice {...props} />
			</Suspense>
		</Dialog>
	);
}

function Choice(props: Props) {
	const { say } = useSession();
	const [errors, { clear, report }] = useFormErrors();
	const pin = useFragment(
		graphql`
			fragment MovePin_pin on Pin {
				id
				board {
					id
				}
				section {
					id
				}
			}
		`,
		props.pin,
	);
	const { viewer } = useLazyLoadQuery<MovePinQuery>(
		graphql`
			query MovePinQuery {
				viewer {
					boards(first: 50) {
						nodes {
							id
							name
							sections(first: 20) {
								nodes {
									id
									name
								}
							}
						}
					}
					sharedBoards(first: 20) {
						nodes {
							id
							name
							sections(first: 20) {
								nodes {
									id
									name
								}
							}
						}
					}
				}
			}
		`,
		{},
		{ fetchPolicy: "store-and-network" },
	);
	const [move, isSending] = useMutation<MovePinMutation>(graphql`
		mutation MovePinMutation(
			$input: MovePinInput!
			$from: [ID!]!
			$to: [ID!]!
		) {
			movePin(input: $input) {
				pin {
					id @deleteEdge(connections: $from)
					...MovePin_pin
				}
				pinEdge @prependEdge(connections: $to) {
					cursor
					node {
						id
						...PinCard_pin
					}
				}
				board {
					name
					...BoardCounts_board
				}
				previousBoard {
					...BoardCounts_board
				}
			}
		}
	`);
	const boards = [
		...(viewer?.boards?.nodes ?? []),
		...(viewer?.sharedBoards?.nodes ?? []),
	].flatMap((board) => (board ? [board] : []));
	return (
		<Form
			errors={errors}
			submit="Move"
			isSending={isSending}
			onSubmit={({ place }) => {
				clear();
				const [boardId = "", sectionId] = (place ?? "").split(" ");
				const listOf = (type: "Board" | "Section", id: string | undefined) =>
					id === undefined
						? []
						: [ConnectionHandler.getConnectionID(id, `${type}Pins_pins`)];
				move({
					variables: {
						input: { pinId: pin.id, boardId, sectionId: sectionId ?? null },
						from: [
							...listOf("Board", pin.board?.id),
							...listOf("Section", pin.section?.id),
						],
						to: [...listOf("Board", boardId), ...listOf("Section", sectionId)],
					},
					onCompleted({ movePin }) {
						props.onClose();
						say(`Moved to ${movePin?.board?.name}.`);
					},
					onError: report,
				});
			}}
		>
			<div className="field">
				<label htmlFor="move-pin-place">Where to</label>
				<select
					id="move-pin-place"
					name="place"
					defaultValue={[pin.board?.id, pin.section?.id]
						.filter(Boolean)
						.join(" ")}
				>
					{boards.map((board) => (
						<optgroup key={board.id} label={board.name}>
							<option value={board.id}>{board.name}</option>
							{board.sections?.nodes.map(
								(section) =>
									section && (
										<option
											key={section.id}
											value={`${board.id} ${section.id}`}
										>
											{board.name}, {section.name}
										</option>
									),
							)}
						</optgroup>
					))}
				</select>
			</div>
		</Form>
	);
}
