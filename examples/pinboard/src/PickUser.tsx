import { useState } from "react";
import { fetchQuery, graphql, useRelayEnvironment } from "react-relay";
import type { PickUserQuery } from "./__generated__/PickUserQuery.graphql.ts";
import { Field, Form, useFormErrors } from "./form.tsx";
import { type FoundUser, useUsers } from "./useUsers.ts";

interface User {
	readonly id: string;
	readonly name: string;
	readonly username: string;
}

/** Finds a user by the beginning of a name, or by the whole username, and does something with them. */
export function PickUser(props: {
	readonly label: string;
	readonly onUser: (
		user: User,
		then: {
			readonly onDone: () => void;
			readonly onError: (error: Error) => void;
		},
	) => void;
}) {
	const environment = useRelayEnvironment();
	const [errors, { clear, report, reportField }] = useFormErrors();
	const [isSending, setSending] = useState(false);
	const [picked, setPicked] = useState(0);
	const [start, setStart] = useState("");
	const found = useUsers(start);
	function take({ isViewer, ...user }: FoundUser): void {
		clear();
		if (isViewer) {
			reportField("username", "That is you.");
			return;
		}
		props.onUser(user, {
			onDone() {
				setStart("");
				setPicked((count) => count + 1);
			},
			onError: report,
		});
	}
	function pick(username: string): void {
		clear();
		setSending(true);
		fetchQuery<PickUserQuery>(
			environment,
			graphql`
				query PickUserQuery($username: String!) {
					user(by: { username: $username }) {
						id
						name
						username
						isViewer
					}
				}
			`,
			{ username },
		).subscribe({
			next({ user }) {
				setSending(false);
				if (!user) {
					return reportField("username", "There is no user of this name.");
				}
				take(user);
			},
			error(error: Error) {
				setSending(false);
				report(error);
			},
		});
	}
	return (
		<Form
			key={picked}
			errors={errors}
			submit="Add"
			isSending={isSending}
			onSubmit={({ username }) => pick((username ?? "").replace(/^@/, ""))}
		>
			<Field
				label={props.label}
				name="username"
				errors={errors}
				help="The beginning of a name, or a username"
				onText={(text) => setStart(text.trim().replace(/^@/, ""))}
				required
			/>
			<ul className="picker" aria-label="Found" aria-live="polite">
				{found?.map((user) => (
					<li key={user.id}>
						<button type="button" onClick={() => take(user)}>
							{user.name} <small>@{user.username}</small>
						</button>
					</li>
				))}
			</ul>
		</Form>
	);
}
