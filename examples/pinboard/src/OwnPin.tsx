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
import { closePin } from "./route.ts";
import { useSession } from "./session.tsx";

/** What the owner of a pin can do with it: edit and delete. */
export function OwnPin(props: { readonly pin: OwnPin_pin$key }) {
	const { say } = useSession();
	const [isOpen, setOpen] = useState(false);
	const [errors, { clear, report }] = useFormErrors();
	const pin = useFragment(
		graphql`
			fragment OwnPin_pin on Pin {
				id
				title
				details
				link
				board {
					id
				}
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
	const connections =
		pin.board === null || pin.board === undefined
			? []
			: [ConnectionHandler.getConnectionID(pin.board.id, "BoardPins_pins")];
	return (
		<>
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
						}
						onSubmit={({ title, details, link }) => {
							clear();
							update({
								variables: {
									input: {
										pinId: pin.id,
										title: title ?? null,
										details: details ?? null,
										link: link ?? null,
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
					</Form>
				</Dialog>
			)}
		</>
	);
}
