import { useState } from "react";
import { graphql, useFragment, useMutation } from "react-relay";
import type { CloseAccount_user$key } from "./__generated__/CloseAccount_user.graphql.ts";
import type { CloseAccountMutation } from "./__generated__/CloseAccountMutation.graphql.ts";
import { Dialog } from "./Dialog.tsx";
import { Field, Form, useFormErrors } from "./form.tsx";
import { useSession } from "./session.tsx";

/** Closes the viewer's account, once they have typed its name. */
export function CloseAccount(props: { readonly user: CloseAccount_user$key }) {
	const { say, signOut } = useSession();
	const [isOpen, setOpen] = useState(false);
	const [errors, { clear, report, reportField }] = useFormErrors();
	const user = useFragment(
		graphql`
			fragment CloseAccount_user on User {
				id
				username
			}
		`,
		props.user,
	);
	const [close, isSending] = useMutation<CloseAccountMutation>(graphql`
		mutation CloseAccountMutation($input: DeactivateUserInput!) {
			deactivateUser(input: $input) {
				deactivatedUserId
			}
		}
	`);
	return (
		<section aria-label="Your account">
			<button
				type="button"
				className="quiet danger"
				onClick={() => setOpen(true)}
			>
				Close the account
			</button>
			{isOpen && (
				<Dialog title="Close your account?" onClose={() => setOpen(false)}>
					<p>
						You, your boards, pins and comments disappear for everyone. Only an
						operator of the server can bring them back.
					</p>
					<Form
						errors={errors}
						submit="Close the account"
						isSending={isSending}
						onSubmit={({ username }) => {
							clear();
							if (username !== user.username) {
								reportField("username", `Type ${user.username}.`);
								return;
							}
							close({
								variables: { input: { userId: user.id } },
								onCompleted() {
									location.hash = "#/";
									signOut();
									say("Your account is closed.");
								},
								onError: report,
							});
						}}
					>
						<Field
							label="Your username, to be sure"
							name="username"
							errors={errors}
							required
						/>
					</Form>
				</Dialog>
			)}
		</section>
	);
}
