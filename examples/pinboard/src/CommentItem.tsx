import { useState } from "react";
import { graphql, useFragment, useMutation } from "react-relay";
import type { CommentItem_comment$key } from "./__generated__/CommentItem_comment.graphql.ts";
import type { CommentItemDeleteMutation } from "./__generated__/CommentItemDeleteMutation.graphql.ts";
import type { CommentItemUpdateMutation } from "./__generated__/CommentItemUpdateMutation.graphql.ts";
import { Avatar } from "./Avatar.tsx";
import { CommentForm } from "./CommentForm.tsx";
import { useFormErrors } from "./form.tsx";
import { ReportButton } from "./ReportButton.tsx";
import { address } from "./route.ts";
import { useSession } from "./session.tsx";

/** A comment, which its author edits in its place. */
export function CommentItem(props: {
	readonly comment: CommentItem_comment$key;
	/** The list that it is taken out of when it is deleted. */
	readonly connection: string;
}) {
	const { say } = useSession();
	const [draft, setDraft] = useState<string | null>(null);
	const [errors, { clear, report }] = useFormErrors();
	const comment = useFragment(
		graphql`
			fragment CommentItem_comment on Comment {
				id
				text
				editedAt
				viewerCanUpdate
				viewerCanDelete
				author {
					name
					username
					isViewer
				}
			}
		`,
		props.comment,
	);
	const [update] = useMutation<CommentItemUpdateMutation>(graphql`
		mutation CommentItemUpdateMutation($input: UpdateCommentInput!) {
			updateComment(input: $input) {
				comment {
					id
					text
					editedAt
				}
			}
		}
	`);
	const [remove] = useMutation<CommentItemDeleteMutation>(graphql`
		mutation CommentItemDeleteMutation(
			$input: DeleteCommentInput!
			$connections: [ID!]!
		) {
			deleteComment(input: $input) {
				deletedCommentId @deleteEdge(connections: $connections)
			}
		}
	`);
	const { id, author } = comment;
	function save(text: string): void {
		clear();
		setDraft(null);
		update({
			variables: { input: { commentId: id, text } },
			optimisticResponse: {
				updateComment: {
					comment: { id, text, editedAt: new Date().toISOString() },
				},
			},
			onError(error) {
				// What was typed is not lost.
				setDraft(text);
				report(error);
			},
		});
	}
	return (
		<li data-comment={id}>
			<Avatar name={author?.name ?? "?"} />
			{draft === null ? (
				<p>
					{author && (
						<a href={address("user", author.username)}>{author.name}</a>
					)}{" "}
					{comment.text}
					{comment.editedAt && <small className="edited">edited</small>}
				</p>
			) : (
				<CommentForm
					label="Your comment, changed"
					submit="Save"
					text={draft}
					onText={setDraft}
					errors={errors}
					onSubmit={() => save(draft)}
					onCancel={() => {
						clear();
						setDraft(null);
					}}
				/>
			)}
			{draft === null && (
				<span className="beside">
					{comment.viewerCanUpdate && (
						<button
							type="button"
							className="quiet"
							aria-label={`Edit the comment “${comment.text}”`}
							onClick={() => setDraft(comment.text)}
						>
							Edit
						</button>
					)}
					{comment.viewerCanDelete && (
						<button
							type="button"
							className="quiet"
							aria-label={`Delete the comment “${comment.text}”`}
							onClick={() =>
								remove({
									variables: {
										input: { commentId: id },
										connections: [props.connection],
									},
									optimisticResponse: {
										deleteComment: { deletedCommentId: id },
									},
									onError: ({ message }) => say(`Not deleted: ${message}`),
								})
							}
						>
							Delete
						</button>
					)}
					{author && !author.isViewer && (
						<ReportButton id={id} what="comment" />
					)}
				</span>
			)}
		</li>
	);
}
