import { Suspense, useState } from "react";
import { graphql, useFragment, useLazyLoadQuery } from "react-relay";
import type { SaveButton_pin$key } from "./__generated__/SaveButton_pin.graphql.ts";
import type { SaveButtonQuery } from "./__generated__/SaveButtonQuery.graphql.ts";
import { Dialog } from "./Dialog.tsx";
import { Field, Form, useFormErrors } from "./form.tsx";
import { useSession } from "./session.tsx";
import { useCreateBoard } from "./useCreateBoard.ts";
import { useRepin } from "./useRepin.ts";

/** Saves a pin to one of the viewer's boards. */
export function SaveButton(props: { readonly pin: SaveButton_pin$key }) {
	const { signedIn, signIn } = useSession();
	const [isOpen, setOpen] = useState(false);
	const [savedTo, save] = useRepin();
	const pin = useFragment(
		graphql`
			fragment SaveButton_pin on Pin {
				id
				title
				details
				viewerHasSaved
			}
		`,
		props.pin,
	);
	const what = pin.title ?? pin.details ?? "this pin";
	const isSaved = savedTo !== null || pin.viewerHasSaved === true;
	return (
		<>
			<button
				type="button"
				className="save"
				aria-pressed={isSaved}
				aria-label={isSaved ? `Saved ${what}. Save it again` : `Save ${what}`}
				onClick={() => (signedIn ? setOpen(true) : signIn())}
			>
				{isSaved ? "Saved" : "Save"}
			</button>
			{isOpen && (
				<Dialog title="Save to a board" onClose={() => setOpen(false)}>
					<Suspense fallback={<p>Loading your boards …</p>}>
						<Boards
							onBoard={(board) => {
								setOpen(false);
								save(pin.id, board);
							}}
						/>
					</Suspense>
				</Dialog>
			)}
		</>
	);
}

/** The viewer's boards, and a form for a new one. */
function Boards(props: {
	readonly onBoard: (board: {
		readonly id: string;
		readonly name: string;
	}) => void;
}) {
	const { viewer } = useLazyLoadQuery<SaveButtonQuery>(
		graphql`
			query SaveButtonQuery {
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
	const [errors, { clear, report }] = useFormErrors();
	const [create, isSending] = useCreateBoard();
	if (!viewer) return null;
	return (
		<>
			<ul className="picker">
				{viewer.boards?.edges.map(
					({ node: board }) =>
						board && (
							<li key={board.id}>
								<button type="button" onClick={() => props.onBoard(board)}>
									{board.name}
									{board.secret && <small className="secret">secret</small>}
								</button>
							</li>
						),
				)}
			</ul>
			<Form
				errors={errors}
				submit="Create and save"
				isSending={isSending}
				onSubmit={({ name }) => {
					clear();
					create(
						viewer.id,
						{ name: name ?? "" },
						{
							onBoard: (id) => props.onBoard({ id, name: name ?? "" }),
							onError: report,
						},
					);
				}}
			>
				<Field label="A new board" name="name" errors={errors} required />
			</Form>
		</>
	);
}
