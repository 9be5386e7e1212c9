import { useState } from "react";
import { graphql, useFragment, useMutation } from "react-relay";
import type { Collaborators_board$key } from "./__generated__/Collaborators_board.graphql.ts";
import type { CollaboratorsAddMutation } from "./__generated__/CollaboratorsAddMutation.graphql.ts";
import type { CollaboratorsRemoveMutation } from "./__generated__/CollaboratorsRemoveMutation.graphql.ts";
import { Avatar } from "./Avatar.tsx";
import { Dialog } from "./Dialog.tsx";
import { PickUser } from "./PickUser.tsx";
import { address } from "./route.ts";
import { useSession } from "./session.tsx";

/** Who pins on a board besides its owner, who chooses them; a collaborator may leave. */
export function Collaborators(props: {
	readonly board: Collaborators_board$key;
}) {
	const { say } = useSession();
	const [isOpen, setOpen] = useState(false);
	const board = useFragment(
		graphql`
			fragment Collaborators_board on Board {
				id
				name
				secret
				viewerCanUpdate
				collaborators(first: 50)
					@connection(key: "Collaborators_collaborators") {
					__id
					edges {
						node {
							id
							name
							username
							isViewer
						}
					}
				}
			}
		`,
		props.board,
	);
	const [add] = useMutation<CollaboratorsAddMutation>(graphql`
		mutation CollaboratorsAddMutation(
			$input: AddCollaboratorInput!
			$connections: [ID!]!
		) {
			addCollaborator(input: $input) {
				collaboratorEdge @prependEdge(connections: $connections) {
					cursor
					node {
						id
						name
						username
						isViewer
					}
				}
			}
		}
	`);
	const [remove] = useMutation<CollaboratorsRemoveMutation>(graphql`
		mutation CollaboratorsRemoveMutation(
			$input: RemoveCollaboratorInput!
			$connections: [ID!]!
		) {
			removeCollaborator(input: $input) {
				removedUserId @deleteEdge(connections: $connections)
				board {
					viewerCanPin
				}
			}
		}
	`);
	const connections = board.collaborators ? [board.collaborators.__id] : [];
	const users = (board.collaborators?.edges ?? []).flatMap(({ node }) =>
		node ? [node] : [],
	);
	const itself = users.find(({ isViewer }) => isViewer);
	function removeUser(userId: string, said: string): void {
		remove({
			variables: { input: { boardId: board.id, userId }, connections },
			optimisticResponse: {
				removeCollaborator: { removedUserId: userId, board: null },
			},
			onCompleted: () => say(said),
			onError: ({ message }) => say(`Not removed: ${message}`),
		});
	}
	return (
		<>
			{users.length > 0 && (
				<ul className="faces" aria-label="Collaborators">
					{users.slice(0, 5).map((user) => (
						<li key={user.id}>
							<a
								href={address("user", user.username)}
								aria-label={user.name}
								title={user.name}
							>
								<Avatar name={user.name} />
							</a>
						</li>
					))}
				</ul>
			)}
			{board.viewerCanUpdate && (
				<button type="button" onClick={() => setOpen(true)}>
					Collaborators
				</button>
			)}
			{itself && (
				<button
					type="button"
					className="quiet"
					onClick={() => {
						if (board.secret) location.hash = "#/";
						removeUser(itself.id, `You left ${board.name}.`);
					}}
				>
					Leave
				</button>
			)}
			{isOpen && (
				<Dialog title="Collaborators" onClose={() => setOpen(false)}>
					<p>
						They pin on {board.name}
						{board.secret ? " and see it, though it is secret." : "."}
					</p>
					<ul className="people">
						{users.map((user) => (
							<li key={user.id}>
								<Avatar name={user.name} />
								<span>
									{user.name} <small>@{user.username}</small>
								</span>
								<button
									type="button"
									className="quiet"
									aria-label={`Remove ${user.name}`}
									onClick={() =>
										removeUser(user.id, `${user.name} is removed.`)
									}
								>
									Remove
								</button>
							</li>
						))}
					</ul>
					<PickUser
						label="Add somebody"
						onUser={(user, { onDone, onError }) =>
							add({
								variables: {
									input: { boardId: board.id, userId: user.id },
									connections,
								},
								optimisticResponse: {
									addCollaborator: {
										collaboratorEdge: {
											cursor: "",
											node: { ...user, isViewer: false },
										},
									},
								},
								onCompleted: onDone,
								onError,
							})
						}
					/>
				</Dialog>
			)}
		</>
	);
}
