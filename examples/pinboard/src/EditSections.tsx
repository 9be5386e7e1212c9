import { useState } from "react";
import { graphql, useFragment, useMutation } from "react-relay";
import type { EditSections_board$key } from "./__generated__/EditSections_board.graphql.ts";
import type { EditSectionsCreateMutation } from "./__generated__/EditSectionsCreateMutation.graphql.ts";
import type { EditSectionsDeleteMutation } from "./__generated__/EditSectionsDeleteMutation.graphql.ts";
import type { EditSectionsMoveMutation } from "./__generated__/EditSectionsMoveMutation.graphql.ts";
import type { EditSectionsRenameMutation } from "./__generated__/EditSectionsRenameMutation.graphql.ts";
import { Arrange } from "./Arrange.tsx";
import { Dialog } from "./Dialog.tsx";
import { Field, Form, useFormErrors } from "./form.tsx";
import { type Place, reorder } from "./reorder.ts";
import { sectionAddress } from "./route.ts";
import { useSession } from "./session.tsx";

/** Creates, renames, orders and deletes the sections of a board. */
export function EditSections(props: {
	readonly board: EditSections_board$key;
	readonly onClose: () => void;
}) {
	const { say } = useSession();
	const board = useFragment(
		graphql`
			fragment EditSections_board on Board {
				id
				sections(first: 50) @connection(key: "BoardSections_sections") {
					__id
					edges {
						node {
							id
							name
						}
					}
				}
			}
		`,
		props.board,
	);
	const connection = board.sections?.__id ?? "";
	const [move] = useMutation<EditSectionsMoveMutation>(graphql`
		mutation EditSectionsMoveMutation($input: MoveSectionInput!) {
			moveSection(input: $input) {
				section {
					id
				}
			}
		}
	`);
	const [remove] = useMutation<EditSectionsDeleteMutation>(graphql`
		mutation EditSectionsDeleteMutation(
			$input: DeleteSectionInput!
			$connections: [ID!]!
		) {
			deleteSection(input: $input) {
				deletedSectionId @deleteEdge(connections: $connections)
			}
		}
	`);
	function moveSection(sectionId: string, place: Place): void {
		const beside =
			place === "top"
				? {}
				: "before" in place
					? { beforeSectionId: place.before }
					: { afterSectionId: place.after };
		move({
			variables: { input: { sectionId, ...beside } },
			optimisticUpdater: (store) =>
				reorder(store, connection, sectionId, place),
			updater: (store) => reorder(store, connection, sectionId, place),
			onError: ({ message }) => say(`Not moved: ${message}`),
		});
	}
	function deleteSection(sectionId: string): void {
		if (location.hash.includes(sectionId)) {
			location.hash = sectionAddress(board.id, null);
		}
		remove({
			variables: { input: { sectionId }, connections: [connection] },
			optimisticResponse: { deleteSection: { deletedSectionId: sectionId } },
			onError: ({ message }) => say(`Not deleted: ${message}`),
		});
	}
	return (
		<Dialog title="Sections" onClose={props.onClose}>
			<Arrange
				label="Sections"
				items={(board.sections?.edges ?? []).flatMap(({ node }) =>
					node
						? [
								{
									id: node.id,
									name: node.name,
									content: (
										<Section
											section={node}
											onDelete={() => deleteSection(node.id)}
										/>
									),
								},
							]
						: [],
				)}
				onMove={moveSection}
			/>
			<NewSection board={board.id} connection={connection} />
		</Dialog>
	);
}

/** What is done with one section, beside its name. */
function Section(props: {
	readonly section: { readonly id: string; readonly name: string };
	readonly onDelete: () => void;
}) {
	const { section, onDelete } = props;
	const [isRenaming, setRenaming] = useState(false);
	const [errors, { clear, report }] = useFormErrors();
	const [rename, isSending] = useMutation<EditSectionsRenameMutation>(graphql`
		mutation EditSectionsRenameMutation($input: UpdateSectionInput!) {
			updateSection(input: $input) {
				section {
					id
					name
				}
			}
		}
	`);
	if (!isRenaming) {
		return (
			<span className="beside">
				<button
					type="button"
					className="quiet"
					aria-label={`Rename ${section.name}`}
					onClick={() => setRenaming(true)}
				>
					Rename
				</button>
				<button
					type="button"
					className="quiet danger"
					aria-label={`Delete ${section.name}, and keep its pins`}
					onClick={onDelete}
				>
					Delete
				</button>
			</span>
		);
	}
	return (
		<Form
			errors={errors}
			submit="Rename"
			isSending={isSending}
			onSubmit={({ name }) => {
				clear();
				rename({
					variables: { input: { sectionId: section.id, name: name ?? "" } },
					onCompleted: () => setRenaming(false),
					onError: report,
				});
			}}
		>
			<Field
				label={`New name of ${section.name}`}
				name="name"
				errors={errors}
				initial={section.name}
				required
			/>
		</Form>
	);
}

function NewSection(props: {
	readonly board: string;
	readonly connection: string;
}) {
	const [errors, { clear, report }] = useFormErrors();
	// A form is emptied by being made anew.
	const [made, setMade] = useState(0);
	const [create, isSending] = useMutation<EditSectionsCreateMutation>(graphql`
		mutation EditSectionsCreateMutation(
			$input: CreateSectionInput!
			$connections: [ID!]!
		) {
			createSection(input: $input) {
				sectionEdge @prependEdge(connections: $connections) {
					cursor
					node {
						id
						name
					}
				}
			}
		}
	`);
	return (
		<Form
			key={made}
			errors={errors}
			submit="Add"
			isSending={isSending}
			onSubmit={({ name }) => {
				clear();
				create({
					variables: {
						input: {
							boardId: props.board,
							name: name ?? "",
							idempotencyKey: crypto.randomUUID(),
						},
						connections: [props.connection],
					},
					onCompleted: () => setMade(made + 1),
					onError: report,
				});
			}}
		>
			<Field label="A new section" name="name" errors={errors} required />
		</Form>
	);
}
