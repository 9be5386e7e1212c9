import { useState } from "react";
import { graphql, useFragment } from "react-relay";
import type { BoardSections_board$key } from "./__generated__/BoardSections_board.graphql.ts";
import { EditSections } from "./EditSections.tsx";
import { sectionAddress } from "./route.ts";

/** Links to the sections of a board, and for its members what changes them. */
export function BoardSections(props: {
	readonly board: BoardSections_board$key;
	/** The section that is shown; null for all pins. */
	readonly current: string | null;
}) {
	const [isEditing, setEditing] = useState(false);
	const board = useFragment(
		graphql`
			fragment BoardSections_board on Board {
				id
				viewerCanPin
				sections(first: 50) @connection(key: "BoardSections_sections") {
					edges {
						node {
							id
							name
						}
					}
				}
				...EditSections_board
			}
		`,
		props.board,
	);
	const sections = board.sections?.edges ?? [];
	if (sections.length === 0 && !board.viewerCanPin) return null;
	const link = (id: string | null, name: string) => (
		<a
			key={id}
			href={sectionAddress(board.id, id)}
			aria-current={id === props.current ? "page" : undefined}
		>
			{name}
		</a>
	);
	return (
		<nav className="sections" aria-label="Sections">
			{sections.length > 0 && link(null, "All pins")}
			{sections.map(({ node }) => node && link(node.id, node.name))}
			{board.viewerCanPin && (
				<button
					type="button"
					className="quiet"
					onClick={() => setEditing(true)}
				>
					{sections.length === 0 ? "Add sections" : "Edit sections"}
				</button>
			)}
			{isEditing && (
				<EditSections board={board} onClose={() => setEditing(false)} />
			)}
		</nav>
	);
}
