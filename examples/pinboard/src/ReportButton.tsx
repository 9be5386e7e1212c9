import { useId, useState } from "react";
import { graphql, useMutation } from "react-relay";
import type {
	ReportButtonMutation,
	ReportReason,
} from "./__generated__/ReportButtonMutation.graphql.ts";
import { Dialog } from "./Dialog.tsx";
import { Field, Form, useFormErrors } from "./form.tsx";
import { useSession } from "./session.tsx";

const REASONS: Readonly<Partial<Record<ReportReason, string>>> = {
	SPAM: "It is advertising",
	ADULT_CONTENT: "It is nudity or sexual",
	HATE: "It is hateful",
	HARASSMENT: "It attacks a person",
	COPYRIGHT: "It is somebody else's work",
	OTHER: "Something else",
};

/** Reports to the operators that something should not be here. */
export function ReportButton(props: {
	readonly id: string;
	/** `pin`, `board` … */
	readonly what: string;
}) {
	const { id, what } = props;
	const { signedIn, signIn, say } = useSession();
	const [isOpen, setOpen] = useState(false);
	const [errors, { clear, report }] = useFormErrors();
	const select = useId();
	const [send, isSending] = useMutation<ReportButtonMutation>(graphql`
		mutation ReportButtonMutation($input: ReportInput!) {
			report(input: $input) {
				subject {
					id
				}
			}
		}
	`);
	return (
		<>
			<button
				type="button"
				className="quiet"
				onClick={() => (signedIn ? setOpen(true) : signIn())}
			>
				Report
			</button>
			{isOpen && (
				<Dialog title={`Report this ${what}`} onClose={() => setOpen(false)}>
					<Form
						errors={errors}
						submit="Send report"
						isSending={isSending}
						onSubmit={({ reason, text }) => {
							clear();
							send({
								variables: {
									input: {
										subjectId: id,
										reason: reason as ReportReason,
										...(text && { text }),
									},
								},
								onCompleted() {
									setOpen(false);
									say("Thank you. The operators will look at it.");
								},
								onError: report,
							});
						}}
					>
						<div className="field">
							<label htmlFor={select}>Why</label>
							<select id={select} name="reason">
								{Object.entries(REASONS).map(([reason, words]) => (
									<option key={reason} value={reason}>
										{words}
									</option>
								))}
							</select>
						</div>
						<Field
							label="What should they know?"
							name="text"
							errors={errors}
							rows={3}
						/>
					</Form>
				</Dialog>
			)}
		</>
	);
}
