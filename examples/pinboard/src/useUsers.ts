import { useEffect, useState } from "react";
import { fetchQuery, graphql, useRelayEnvironment } from "react-relay";
import type { useUsersQuery } from "./__generated__/useUsersQuery.graphql.ts";

export type FoundUser = NonNullable<
	NonNullable<useUsersQuery["response"]["users"]>["nodes"][number]
>;

/** A pause in typing after which the server is asked. Milliseconds. */
const PAUSE = 150;

/** Users whose username or name begins so; null until the first are known, and for "". */
export function useUsers(startsWith: string): readonly FoundUser[] | null {
	const environment = useRelayEnvironment();
	const [users, setUsers] = useState<readonly FoundUser[] | null>(null);
	useEffect(() => {
		if (startsWith === "") {
			setUsers(null);
			return;
		}
		let asked: { unsubscribe(): void } | undefined;
		const timer = setTimeout(() => {
			asked = fetchQuery<useUsersQuery>(
				environment,
				graphql`
					query useUsersQuery($startsWith: String!) {
						users(startsWith: $startsWith, first: 5) {
							nodes {
								id
								name
								username
								isViewer
							}
						}
					}
				`,
				{ startsWith },
			).subscribe({
				next: ({ users }) =>
					setUsers(
						(users?.nodes ?? []).flatMap((user) => (user ? [user] : [])),
					),
				// The name can be typed to its end.
				error: () => setUsers(null),
			});
		}, PAUSE);
		return () => {
			clearTimeout(timer);
			asked?.unsubscribe();
		};
	}, [environment, startsWith]);
	return users;
}
