import { ConnectionHandler, graphql, useMutation } from "react-relay";
import type { useCreateBoardMutation } from "./__generated__/useCreateBoardMutation.graphql.ts";

/** Creates a board and puts it first into the viewer's lists of boards that are in the store. */
export function useCreateBoard(): readonly [
	(
		viewer: string,
		input: {
			readonly name: string;
			readonly description?: string;
			readonly secret?: boolean;
		},
		then: {
			readonly onBoard: (id: string) => void;
			readonly onError: (error: Error) => void;
		},
	) => void,
	boolean,
] {
	const [create, isSending] = useMutation<useCreateBoardMutation>(graphql`
		mutation useCreateBoardMutation(
			$input: CreateBoardInput!
			$connections: [ID!]!
		) {
			createBoard(input: $input) {
				boardEdge @prependEdge(connections: $connections) {
					cursor
					node {
						id
						name
						...BoardTile_board
					}
				}
			}
		}
	`);
	return [
		(viewer, input, { onBoard, onError }) =>
			create({
				variables: {
					input: { ...input, idempotencyKey: crypto.randomUUID() },
					connections: ["UserBoards_boards", "MyBoards_boards"].map((key) =>
						ConnectionHandler.getConnectionID(viewer, key),
					),
				},
				onCompleted({ createBoard }) {
					const board = createBoard?.boardEdge?.node;
					if (board) onBoard(board.id);
				},
				onError,
			}),
		isSending,
	];
}
