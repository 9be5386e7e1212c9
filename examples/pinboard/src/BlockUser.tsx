import { useState } from "react";
import {
	ConnectionHandler,
	graphql,
	useFragment,
	useMutation,
} from "react-relay";
import type { BlockUser_user$key } from "./__generated__/BlockUser_user.graphql.ts";
import type { BlockUser_viewer$key } from "./__generated__/BlockUser_viewer.graphql.ts";
import type { BlockUserMutation } from "./__generated__/BlockUserMutation.graphql.ts";
import { Dialog } from "./Dialog.tsx";
import { useSession } from "./session.tsx";
import { useUnblock } from "./useUnblock.ts";

/** Blocks a user, after a question, or unblocks them. */
export function BlockUser(props: {
	readonly user: BlockUser_user$key;
	readonly viewer: BlockUser_viewer$key;
}) {
	const { say } = useSession();
	const [isAsking, setAsking] = useState(false);
	const user = useFragment(
		graphql`
			fragment BlockUser_user on User {
				id
				name
				username
			}
		`,
		props.user,
	);
	const viewer = useFragment(
		graphql`
			fragment BlockUser_viewer on User {
				id
				blockedUsers(first: 50)
					@connection(key: "BlockedUsers_blockedUsers") {
					edges {
						node {
							id
						}
					}
				}
			}
		`,
		props.viewer,
	);
	const [block] = useMutation<BlockUserMutation>(graphql`
		mutation BlockUserMutation(
			$input: BlockUserInput!
			$connections: [ID!]!
		) {
			blockUser(input: $input) {
				blockedUserEdge @prependEdge(connections: $connections) {
					cursor
					node {
						id
						name
						username
					}
				}
			}
		}
	`);
	const unblock = useUnblock(viewer.id);
	const isBlocked = viewer.blockedUsers?.edges.some(
		({ node }) => node?.id === user.id,
	);
	if (isBlocked) {
		return (
			<button type="button" onClick={() => unblock(user)}>
				Unblock
			</button>
		);
	}
	return (
		<>
			<button type="button" className="quiet" onClick={() => setAsking(true)}>
				Block
			</button>
			{isAsking && (
				<Dialog title={`Block ${user.name}?`} onClose={() => setAsking(false)}>
					<p>
						{user.name} will see neither you nor anything of yours, and you will
						see nothing of theirs.
					</p>
					<div className="actions">
						<button type="button" onClick={() => setAsking(false)}>
							Cancel
						</button>
						<button
							type="button"
							className="primary"
							onClick={() => {
								setAsking(false);
								block({
									variables: {
										input: { userId: user.id },
										connections: [
											ConnectionHandler.getConnectionID(
												viewer.id,
												"BlockedUsers_blockedUsers",
											),
										],
									},
									optimisticResponse: {
										blockUser: { blockedUserEdge: { cursor: "", node: user } },
									},
									onCompleted: () => say(`${user.name} is blocked.`),
									onError: ({ message }) => say(`Not blocked: ${message}`),
								});
							}}
						>
							Block
						</button>
					</div>
				</Dialog>
			)}
		</>
	);
}
