import { graphql, useFragment } from "react-relay";
import type { BlockedUsers_user$key } from "./__generated__/BlockedUsers_user.graphql.ts";
import { Avatar } from "./Avatar.tsx";
import { useUnblock } from "./useUnblock.ts";

/** The users that the viewer blocks, if any. */
export function BlockedUsers(props: { readonly user: BlockedUsers_user$key }) {
	const { id, blockedUsers } = useFragment(
		graphql`
			fragment BlockedUsers_user on User {
				id
				blockedUsers(first: 50)
					@connection(key: "BlockedUsers_blockedUsers") {
					edges {
						node {
							id
							name
							username
						}
					}
				}
			}
		`,
		props.user,
	);
	const unblock = useUnblock(id);
	if (!blockedUsers || blockedUsers.edges.length === 0) return null;
	return (
		<section aria-labelledby="blocked-users">
			<h3 id="blocked-users">Blocked</h3>
			<ul className="people">
				{blockedUsers.edges.map(
					({ node: user }) =>
						user && (
							<li key={user.id}>
								<Avatar name={user.name} />
								<span>
									{user.name} <small>@{user.username}</small>
								</span>
								<button
									type="button"
									className="quiet"
									aria-label={`Unblock ${user.name}`}
									onClick={() => unblock(user)}
								>
									Unblock
								</button>
							</li>
						),
				)}
			</ul>
		</section>
	);
}
