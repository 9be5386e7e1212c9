import { useGraphiQL } from "@graphiql/react";
import { useEffect } from "react";
import type { DemoUser } from "./pageConfig.ts";
import { choose, setHeaders, subjectOf, useViewer } from "./viewerStore.ts";

/** Notices what is written under Headers. Inside GraphiQL. */
export function WatchHeaders() {
	const headers = useGraphiQL(
		({ tabs, activeTabIndex }) => tabs[activeTabIndex]?.headers ?? "",
	);
	useEffect(() => setHeaders(headers), [headers]);
	return null;
}

/** Says who the viewer is, and lets one be another. */
export function ViewerBar({ users }: { readonly users: readonly DemoUser[] }) {
	const { chosen, header, refused } = useViewer();
	if (header !== null) {
		return (
			<p>
				<ByHeader
					header={header}
					users={users}
					isRefused={header === refused}
				/>
			</p>
		);
	}
	if (users.length === 0) {
		return (
			<p>
				You are anonymous. To sign in, set a token under Headers:{" "}
				<code>{'{"Authorization": "Bearer …"}'}</code>
			</p>
		);
	}
	return (
		<>
			<p>
				{chosen === null ? (
					"You are anonymous."
				) : (
					<>
						You are the demo user <strong>@{chosen.username}</strong>.
					</>
				)}
			</p>
			<label className="sign-in">
				Sign in as{" "}
				<select
					value={chosen?.username ?? ""}
					onChange={({ target }) =>
						choose(
							users.find(({ username }) => username === target.value) ?? null,
						)
					}
				>
					{users.map(({ username }) => (
						<option key={username} value={username}>
							@{username}
						</option>
					))}
					<option value="">nobody (anonymous)</option>
				</select>
			</label>
		</>
	);
}

function ByHeader(props: {
	readonly header: string;
	readonly users: readonly DemoUser[];
	readonly isRefused: boolean;
}) {
	const { header, users, isRefused } = props;
	if (header.trim() === "") {
		return "You are anonymous: Authorization under Headers is empty.";
	}
	if (isRefused) {
		return "The server does not accept the token under Headers.";
	}
	const subject = subjectOf(header);
	const user = users.find(
		({ token }) => subject !== null && subjectOf(`Bearer ${token}`) === subject,
	);
	if (user !== undefined) {
		return (
			<>
				You are the demo user <strong>@{user.username}</strong>, by the token
				under Headers.
			</>
		);
	}
	return subject === null ? (
		"Requests send the Authorization that is under Headers."
	) : (
		<>
			You are the user <strong>{subject}</strong>, by the token under Headers.
		</>
	);
}
