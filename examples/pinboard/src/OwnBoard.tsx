import { useState } from "react";
import {
	ConnectionHandler,
	graphql,
	useFragment,
	useMutation,
} from "react-relay";
import type { OwnBoard_board$key } from "./__generated__/OwnBoard_board.graphql.ts";
import type { OwnBoardDeleteMutation } from "./__generated__/OwnBoardDeleteMutation.graphql.ts";
import type { OwnBoardUpdateMutation } from "./__generated__/OwnBoardUpdateMutation.graphql.ts";
import { Dialog } from "./Dialog.tsx";
import { Field, Form, useFormErrors } from "./form.tsx";
import { address } from "./route.ts";
import { useSession } from "./session.tsx";

/** What the owner of a board can do with it: edit and delete. */
export function OwnBoard(props: { readonly board: OwnBoard_board$key }) {
	const { say } = useSession();
	const [isOpen, setOpen] = useState(false);
	const [errors, { clear, report }] = useFormErrors();
	const board = useFragment(
		graphql`
			fragment OwnBoard_board on Board {
				id
				name
				description
				secret
				viewerCanDelete
				owner {
					id
					username
				}
			}
		`,
		props.board,
	);
	const [update, isSending] = useMutation<OwnBoardUpdateMutation>(graphql`
		mutation OwnBoardUpdateMutation($input: UpdateBoardInput!) {
			updateBoard(input: $input) {
				board {
					...OwnBoard_board
				}
			}
		}
	`);
	const [remove] = useMutation<OwnBoardDeleteMutation>(graphql`
		mutation OwnBoardDeleteMutation(
			$input: DeleteBoardInput!
			$connections: [ID!]!
		) {
			deleteBoard(input: $input) {
				deletedBoardId @deleteEdge(connections: $connections)
			}
		}
	`);
	function deleteBoard() {
		setOpen(false);
		if (board.owner) location.hash = address("user", board.owner.username);
		remove({
			variables: {
				input: { boardId: board.id },
				connections: ["UserBoards_boards", "MyBoards_boards"].map((key) =>
					ConnectionHandler.getConnectionID(board.owner?.id ?? "", key),
				),
			},
			optimisticResponse: { deleteBoard: { deletedBoardId: board.id } },
			onCompleted: () => say(`${board.name} is deleted.`),
			onError: ({ message }) => say(`Not deleted: ${message}`),
		});
	}
	return (
		<>
			<button type="button" onClick={() => setOpen(true)}>
				Edit board
			</button>
			{isOpen && (
				<Dialog title="Your board" onClose={() => setOpen(false)}>
					<Form
						errors={errors}
						submit="Save"
						isSending={isSending}
						beside={
							board.viewerCanDelete && (
								<button
									type="button"
									className="quiet danger"
									onClick={deleteBoard}
								>
									Delete with its pins
								</button>
							)
						}
						onSubmit={({ name, description, secret }) => {
							clear();
							update({
								variables: {
									input: {
										boardId: board.id,
										name: name ?? "",
										description: description ?? null,
										secret: secret === "on",
									},
								},
								onCompleted: () => setOpen(false),
								onError: report,
							});
						}}
					>
						<Field
							label="Name"
							name="name"
							errors={errors}
							initial={board.name}
							required
						/>
						<Field
							label="Description"
							name="description"
							errors={errors}
							initial={board.description}
							rows={3}
						/>
						<label className="check">
							<input
								type="checkbox"
								name="secret"
								defaultChecked={board.secret}
							/>{" "}
							Secret: only you and collaborators see it
						</label>
					</Form>
				</Dialog>
			)}
		</>
	);
}
