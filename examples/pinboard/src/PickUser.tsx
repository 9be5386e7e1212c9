import { useState } from "react";
import { fetchQuery, graphql, useRelayEnvironment } from "react-relay";
import type { PickUserQuery } from "./__generated__/PickUserQuery.graphql.ts";
import { Field, Form, useFormErrors } from "./form.tsx";

interface User {
	readonly id: string;
	readonly name: string;
	readonly username: string;
}

/** Finds a user by name and does something with them. */
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
				const { isViewer, ...somebody } = user;
				if (isViewer) return reportField("username", "That is you.");
				props.onUser(somebody, {
					onDone: () => setPicked((count) => count + 1),
					onError: report,
				});
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
				help="A username, such as basil_02"
				required
			/>
		</Form>
	);
}
