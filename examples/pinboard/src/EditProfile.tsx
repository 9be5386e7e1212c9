import { useState } from "react";
import { graphql, useFragment, useMutation } from "react-relay";
import type { EditProfile_user$key } from "./__generated__/EditProfile_user.graphql.ts";
import type { EditProfileMutation } from "./__generated__/EditProfileMutation.graphql.ts";
import { BlockedUsers } from "./BlockedUsers.tsx";
import { CloseAccount } from "./CloseAccount.tsx";
import { Dialog } from "./Dialog.tsx";
import { Field, Form, useFormErrors } from "./form.tsx";
import { address } from "./route.ts";
import { useSession } from "./session.tsx";

/** A button that opens the viewer's own profile as a form. */
export function EditProfile(props: { readonly user: EditProfile_user$key }) {
	const { say } = useSession();
	const [isOpen, setOpen] = useState(false);
	const [errors, { clear, report }] = useFormErrors();
	const user = useFragment(
		graphql`
			fragment EditProfile_user on User {
				username
				name
				bio
				website
				email
				...BlockedUsers_user
				...CloseAccount_user
			}
		`,
		props.user,
	);
	const [update, isSending] = useMutation<EditProfileMutation>(graphql`
		mutation EditProfileMutation($input: UpdateUserInput!) {
			updateUser(input: $input) {
				user {
					...EditProfile_user
				}
			}
		}
	`);
	const close = () => {
		setOpen(false);
		clear();
	};
	return (
		<>
			<button type="button" onClick={() => setOpen(true)}>
				Edit profile
			</button>
			{isOpen && (
				<Dialog title="Your profile" onClose={close}>
					<Form
						errors={errors}
						submit="Save"
						isSending={isSending}
						onSubmit={({ username, name, bio, website, email }) => {
							clear();
							update({
								variables: {
									input: {
										username: username ?? "",
										name: name ?? "",
										bio: bio ?? null,
										website: website ?? null,
										email: email ?? null,
									},
								},
								onCompleted({ updateUser }) {
									close();
									say("Your profile is saved.");
									const now = updateUser?.user && username;
									if (now && now !== user.username) {
										location.hash = address("user", now);
									}
								},
								onError: report,
							});
						}}
					>
						<Field
							label="Username"
							name="username"
							errors={errors}
							initial={user.username}
							autoComplete="username"
							required
						/>
						<Field
							label="Name"
							name="name"
							errors={errors}
							initial={user.name}
							autoComplete="name"
						/>
						<Field
							label="About you"
							name="bio"
							errors={errors}
							initial={user.bio}
							rows={3}
						/>
						<Field
							label="Website"
							name="website"
							type="url"
							errors={errors}
							initial={user.website}
							autoComplete="url"
						/>
						<Field
							label="E-mail"
							name="email"
							type="email"
							errors={errors}
							initial={user.email}
							autoComplete="email"
							help="Only you see it."
						/>
					</Form>
					<BlockedUsers user={user} />
					<CloseAccount user={user} />
				</Dialog>
			)}
		</>
	);
}
