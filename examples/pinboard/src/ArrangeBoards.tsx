import { graphql, useFragment, useMutation } from "react-relay";
import type { ArrangeBoards_boards$key } from "./__generated__/ArrangeBoards_boards.graphql.ts";
import type { ArrangeBoardsMutation } from "./__generated__/ArrangeBoardsMutation.graphql.ts";
import { Arrange } from "./Arrange.tsx";
import { Picture } from "./Picture.tsx";
import { type Place, reorder } from "./reorder.ts";
import { useSession } from "./session.tsx";

/** The viewer's boards in their order, to be put into another one. */
export function ArrangeBoards(props: {
	readonly boards: ArrangeBoards_boards$key;
}) {
	const { say } = useSession();
	const { __id: connection, edges } = useFragment(
		graphql`
			fragment ArrangeBoards_boards on BoardConnection {
				__id
				edges {
					node {
						id
						name
						preview: pins(first: 3) {
							nodes {
								id
								image {
									url
								}
							}
						}
					}
				}
			}
		`,
		props.boards,
	);
	const [move] = useMutation<ArrangeBoardsMutation>(graphql`
		mutation ArrangeBoardsMutation($input: MoveBoardInput!) {
			moveBoard(input: $input) {
				board {
					id
				}
			}
		}
	`);
	function moveBoard(boardId: string, place: Place): void {
		const beside =
			place === "top"
				? {}
				: "before" in place
					? { beforeBoardId: place.before }
					: { afterBoardId: place.after };
		move({
			variables: { input: { boardId, ...beside } },
			// The list is read page by page, so it is not in the payload.
			optimisticUpdater: (store) => reorder(store, connection, boardId, place),
			updater: (store) => reorder(store, connection, boardId, place),
			onError: ({ message }) => say(`Not moved: ${message}`),
		});
	}
	return (
		<Arrange
			label="Boards"
			items={edges.flatMap(({ node }) => {
				if (!node) return [];
				const [pin] = node.preview?.nodes ?? [];
				return [
					{
						id: node.id,
						name: node.name,
						content: (
							<Picture
								seed={pin?.image?.url ?? pin?.id ?? node.id}
								alt=""
								width={300}
								height={300}
							/>
						),
					},
				];
			})}
			onMove={moveBoard}
		/>
	);
}
