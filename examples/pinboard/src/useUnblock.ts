import { ConnectionHandler, graphql, useMutation } from "react-relay";
import type { useUnblockMutation } from "./__generated__/useUnblockMutation.graphql.ts";
import { useSession } from "./session.tsx";

/** What takes a user out of those that the viewer blocks. */
export function useUnblock(
	viewer: string,
): (user: { readonly id: string; readonly name: string }) => void {
	const { say } = useSession();
	const [unblock] = useMutation<useUnblockMutation>(graphql`
		mutation useUnblockMutation(
			$input: UnblockUserInput!
			$connections: [ID!]!
		) {
			unblockUser(input: $input) {
				user {
					id @deleteEdge(connections: $connections)
				}
			}
		}
	`);
	return ({ id, name }) => {
		unblock({
			variables: {
				input: { userId: id },
				connections: [
					ConnectionHandler.getConnectionID(
						viewer,
						"BlockedUsers_blockedUsers",
					),
				],
			},
			optimisticResponse: { unblockUser: { user: { id } } },
			onCompleted: () => say(`${name} is not blocked any more.`),
			onError: ({ message }) => say(`Not unblocked: ${message}`),
		});
	};
}
