import { type FormEvent, useState } from "react";
import { graphql, useMutation } from "react-relay";
import type { AccountDialogJoinMutation } from "./__generated__/AccountDialogJoinMutation.graphql.ts";
import { Dialog } from "./Dialog.tsx";
import { Field, Form, useFormErrors } from "./form.tsx";

/** Sign up, or log in with a token that the server printed. */
export function AccountDialog(props: {
	readonly onToken: (token: string, isNew: boolean) => void;
	readonly onClose: () => void;
}) {
	const [joins, setJoins] = useState(false);
	return (
		<Dialog
			title={joins ? "Join Pinboard" : "Log in with a token"}
			onClose={props.onClose}
		>
			{joins ? (
				<Join onToken={(token) => props.onToken(token, true)} />
			) : (
				<LogIn onToken={(token) => props.onToken(token, false)} />
			)}
			<p className="switch">
				{joins ? "You have a token?" : "New here?"}{" "}
				<button type="button" className="link" onClick={() => setJoins(!joins)}>
					{joins ? "Log in" : "Sign up"}
				</button>
			</p>
		</Dialog>
	);
}

function Join(props: { readonly onToken: (token: string) => void }) {
	const [errors, { clear, report }] = useFormErrors();
	const [join, isSending] = useMutation<AccountDialogJoinMutation>(graphql`
		mutation AccountDialogJoinMutation($input: CreateUserInput!) {
			createUser(input: $input) {
				user {
					id
				}
				token
			}
		}
	`);
	return (
		<Form
			errors={errors}
			submit="Sign up"
			isSending={isSending}
			onSubmit={({ username, name, email }) => {
				clear();
				join({
					variables: {
						input: {
							username: username ?? "",
							...(name && { name }),
							...(email && { email }),
							// A repeated request with this key makes no second account.
							idempotencyKey: crypto.randomUUID(),
						},
					},
					onCompleted({ createUser }) {
						if (createUser?.token) props.onToken(createUser.token);
						else report(new Error("You have an account now. Log in."));
					},
					onError: report,
				});
			}}
		>
			<Field
				label="Username"
				name="username"
				errors={errors}
				autoComplete="username"
				required
			/>
			<Field label="Name" name="name" errors={errors} autoComplete="name" />
			<Field
				label="E-mail"
				name="email"
				type="email"
				errors={errors}
				autoComplete="email"
				help="Only you see it."
			/>
		</Form>
	);
}

function LogIn(props: { readonly onToken: (token: string) => void }) {
	const [text, setText] = useState("");
	function submit(event: FormEvent) {
		event.preventDefault();
		props.onToken(text.trim());
	}
	return (
		<form onSubmit={submit}>
			<p>
				The server prints one when it starts, and{" "}
				<code>npm run -s corkboard -- tokens create USERNAME</code> prints
				another.
			</p>
			<textarea
				aria-label="Token"
				className="token"
				rows={4}
				required
				spellCheck={false}
				value={text}
				onChange={(event) => setText(event.target.value)}
			/>
			<div className="actions">
				<button type="submit" className="primary">
					Log in
				</button>
			</div>
		</form>
	);
}
