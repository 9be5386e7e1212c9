import { useState } from "react";
import {
	ConnectionHandler,
	graphql,
	useFragment,
	useMutation,
} from "react-relay";
import type { OwnPin_pin$key } from "./__generated__/OwnPin_pin.graphql.ts";
import type { OwnPinDeleteMutation } from "./__generated__/OwnPinDeleteMutation.graphql.ts";
import type { OwnPinUpdateMutation } from "./__generated__/OwnPinUpdateMutation.graphql.ts";
import { Dialog } from "./Dialog.tsx";
import { Field, Form, useFormErrors } from "./form.tsx";
import { MovePin } from "./MovePin.tsx";
import { closePin } from "./route.ts";
import { useSession } from "./session.tsx";

/** What the owner of a pin can do with it: edit, move and delete. */
export function OwnPin(props: { readonly pin: OwnPin_pin$key }) {
	const { say } = useSession();
	const [isOpen, setOpen] = useState(false);
	const [isMoving, setMoving] = useState(false);
	const [errors, { clear, report }] = useFormErrors();
	const pin = useFragment(
		graphql`
			fragment OwnPin_pin on Pin {
				id
				title
				details
				link
				viewerCanUpdate
				viewerCanDelete
				interests(first: 10) {
					nodes {
						slug
						name
					}
				}
				board {
					id
				}
				section {
					id
				}
				...MovePin_pin
			}
		`,
		props.pin,
	);
	const [update, isSending] = useMutation<OwnPinUpdateMutation>(graphql`
		mutation OwnPinUpdateMutation($input: UpdatePinInput!) {
			updatePin(input: $input) {
				pin {
					...OwnPin_pin
				}
			}
		}
	`);
	const [remove] = useMutation<OwnPinDeleteMutation>(graphql`
		mutation OwnPinDeleteMutation(
			$input: DeletePinInput!
			$connections: [ID!]!
		) {
			deletePin(input: $input) {
				deletedPinId @deleteEdge(connections: $connections)
				board {
					...BoardCounts_board
				}
			}
		}
	`);
	const connections = [
		[pin.board, "BoardPins_pins"] as const,
		[pin.section, "SectionPins_pins"] as const,
	].flatMap(([list, key]) =>
		list ? [ConnectionHandler.getConnectionID(list.id, key)] : [],
	);
	if (!pin.viewerCanUpdate) return null;
	return (
		<>
			<button type="button" className="quiet" onClick={() => setMoving(true)}>
				Move
			</button>
			{isMoving && <MovePin pin={pin} onClose={() => setMoving(false)} />}
			<button type="button" className="quiet" onClick={() => setOpen(true)}>
				Edit
			</button>
			{isOpen && (
				<Dialog title="Your pin" onClose={() => setOpen(false)}>
					<Form
						errors={errors}
						submit="Save"
						isSending={isSending}
						beside={
							pin.viewerCanDelete && (
								<button
									type="button"
									className="quiet danger"
									onClick={() => {
										setOpen(false);
										closePin();
										remove({
											variables: { input: { pinId: pin.id }, connections },
											optimisticResponse: {
												// Its counts change with the response.
												deletePin: { deletedPinId: pin.id, board: null },
											},
											onCompleted: () => say("The pin is deleted."),
											onError: ({ message }) => say(`Not deleted: ${message}`),
										});
									}}
								>
									Delete
								</button>
							)
						}
						onSubmit={({ title, details, link, interests }) => {
							clear();
							update({
								variables: {
									input: {
										pinId: pin.id,
										title: title ?? null,
										details: details ?? null,
										link: link ?? null,
										interests: interests?.split(/[\s,]+/) ?? [],
									},
								},
								onCompleted: () => setOpen(false),
								onError: report,
							});
						}}
					>
						<Field
							label="Title"
							name="title"
							errors={errors}
							initial={pin.title}
						/>
						<Field
							label="Description"
							name="details"
							errors={errors}
							initial={pin.details}
							rows={3}
						/>
						<Field
							label="Link"
							name="link"
							type="url"
							errors={errors}
							initial={pin.link}
						/>
						<Field
							label="Interests"
							name="interests"
							errors={errors}
							initial={pin.interests?.nodes
								.flatMap((interest) => interest?.slug ?? [])
								.join(", ")}
							help="Such as gardens, baking"
						/>
					</Form>
				</Dialog>
			)}
		</>
	);
}
