import { Suspense, useState } from "react";
import {
	ConnectionHandler,
	graphql,
	useLazyLoadQuery,
	useMutation,
} from "react-relay";
import type { CreateDialogPinMutation } from "./__generated__/CreateDialogPinMutation.graphql.ts";
import type { CreateDialogQuery } from "./__generated__/CreateDialogQuery.graphql.ts";
import { Dialog } from "./Dialog.tsx";
import { Field, Form, useFormErrors } from "./form.tsx";
import { address } from "./route.ts";
import { useCreateBoard } from "./useCreateBoard.ts";

type Viewer = NonNullable<CreateDialogQuery["response"]["viewer"]>;

/** Creates a pin or a board, and shows the board. */
export function CreateDialog({ onClose }: { readonly onClose: () => void }) {
	const [what, setWhat] = useState<"pin" | "board">("pin");
	const show = (board: string) => {
		onClose();
		location.hash = address("board", board);
	};
	return (
		<Dialog
			title={what === "pin" ? "A new pin" : "A new board"}
			onClose={onClose}
		>
			<p className="switch">
				<button
					type="button"
					className="link"
					onClick={() => setWhat(what === "pin" ? "board" : "pin")}
				>
					{what === "pin" ? "Create a board instead" : "Create a pin instead"}
				</button>
			</p>
			<Suspense fallback={<p>Loading your boards …</p>}>
				<Forms what={what} onBoard={show} />
			</Suspense>
		</Dialog>
	);
}

function Forms(props: {
	readonly what: "pin" | "board";
	readonly onBoard: (id: string) => void;
}) {
	const { viewer } = useLazyLoadQuery<CreateDialogQuery>(
		graphql`
			query CreateDialogQuery {
				viewer {
					id
					boards(first: 50) @connection(key: "MyBoards_boards") {
						edges {
							node {
								id
								name
								secret
							}
						}
					}
				}
			}
		`,
		{},
		{ fetchPolicy: "store-and-network" },
	);
	if (!viewer) return null;
	return props.what === "pin" ? (
		<PinForm viewer={viewer} onBoard={props.onBoard} />
	) : (
		<BoardForm viewer={viewer.id} onBoard={props.onBoard} />
	);
}

function PinForm(props: {
	readonly viewer: Viewer;
	readonly onBoard: (id: string) => void;
}) {
	const { viewer, onBoard } = props;
	const [errors, { clear, report }] = useFormErrors();
	const [create, isSending] = useMutation<CreateDialogPinMutation>(graphql`
		mutation CreateDialogPinMutation(
			$input: CreatePinInput!
			$connections: [ID!]!
		) {
			createPin(input: $input) {
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
			}
		}
	`);
	return (
		<Form
			errors={errors}
			submit="Create"
			isSending={isSending}
			onSubmit={({ board, title, details, link, interests, ...image }) => {
				clear();
				const boardId = board ?? "";
				const url = image["image.url"];
				const alt = image["image.alt"];
				create({
					variables: {
						input: {
							boardId,
							...(title && { title }),
							...(details && { details }),
							...(link && { link }),
							...(url && { image: { url, ...(alt && { alt }) } }),
							...(interests && {
								interests: interests.split(/[\s,]+/),
							}),
							idempotencyKey: crypto.randomUUID(),
						},
						connections: [
							ConnectionHandler.getConnectionID(boardId, "BoardPins_pins"),
						],
					},
					onCompleted: () => onBoard(boardId),
					onError: report,
				});
			}}
		>
			<div className="field">
				<label htmlFor="new-pin-board">Board</label>
				<select id="new-pin-board" name="board">
					{viewer.boards?.edges.map(
						({ node: board }) =>
							board && (
								<option key={board.id} value={board.id}>
									{board.name}
									{board.secret && " (secret)"}
								</option>
							),
					)}
				</select>
			</div>
			<Field label="Title" name="title" errors={errors} />
			<Field label="Description" name="details" errors={errors} rows={3} />
			<Field label="Link" name="link" type="url" errors={errors} />
			<Field
				label="Address of the picture"
				name="image.url"
				type="url"
				errors={errors}
			/>
			<Field label="What the picture shows" name="image.alt" errors={errors} />
			<Field
				label="Interests"
				name="interests"
				errors={errors}
				help="Such as gardens, baking"
			/>
		</Form>
	);
}

function BoardForm(props: {
	readonly viewer: string;
	readonly onBoard: (id: string) => void;
}) {
	const [errors, { clear, report }] = useFormErrors();
	const [create, isSending] = useCreateBoard();
	return (
		<Form
			errors={errors}
			submit="Create"
			isSending={isSending}
			onSubmit={({ name, description, secret }) => {
				clear();
				create(
					props.viewer,
					{
						name: name ?? "",
						secret: secret === "on",
						...(description && { description }),
					},
					{ onBoard: props.onBoard, onError: report },
				);
			}}
		>
			<Field label="Name" name="name" errors={errors} required />
			<Field label="Description" name="description" errors={errors} rows={3} />
			<label className="check">
				<input type="checkbox" name="secret" /> Secret: only you and
				collaborators see it
			</label>
		</Form>
	);
}
