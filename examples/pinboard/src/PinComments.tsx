import { useState } from "react";
import {
	ConnectionHandler,
	graphql,
	useFragment,
	useMutation,
	usePaginationFragment,
} from "react-relay";
import type { PinComments_pin$key } from "./__generated__/PinComments_pin.graphql.ts";
import type { PinComments_viewer$key } from "./__generated__/PinComments_viewer.graphql.ts";
import type { PinCommentsAddMutation } from "./__generated__/PinCommentsAddMutation.graphql.ts";
import type { PinCommentsQuery } from "./__generated__/PinCommentsQuery.graphql.ts";
import { CommentForm } from "./CommentForm.tsx";
import { CommentItem } from "./CommentItem.tsx";
import { useFormErrors } from "./form.tsx";
import { useSession } from "./session.tsx";

const PAGE = 5;

/** Comments, oldest first, read from the end: the last few, and earlier ones on request. */
export function PinComments(props: {
	readonly pin: PinComments_pin$key;
	readonly viewer: PinComments_viewer$key | null;
}) {
	const session = useSession();
	const [text, setText] = useState("");
	const [errors, { clear, report }] = useFormErrors();
	const viewer = useFragment(
		graphql`
			fragment PinComments_viewer on User {
				id
				name
				username
				isViewer
			}
		`,
		props.viewer,
	);
	const { data, hasPrevious, isLoadingPrevious, loadPrevious } =
		usePaginationFragment<PinCommentsQuery, PinComments_pin$key>(
			graphql`
				fragment PinComments_pin on Pin
				@refetchable(queryName: "PinCommentsQuery")
				@argumentDefinitions(
					count: { type: "Int", defaultValue: 3 }
					cursor: { type: "String" }
				) {
					id
					comments(last: $count, before: $cursor)
						@connection(key: "PinComments_comments") {
						edges {
							node {
								id
								...CommentItem_comment
							}
						}
					}
				}
			`,
			props.pin,
		);
	const [add] = useMutation<PinCommentsAddMutation>(graphql`
		mutation PinCommentsAddMutation(
			$input: AddCommentInput!
			$connections: [ID!]!
		) @raw_response_type {
			addComment(input: $input) {
				commentEdge @appendEdge(connections: $connections) {
					cursor
					node {
						id
						...CommentItem_comment
					}
				}
			}
		}
	`);
	const connection = ConnectionHandler.getConnectionID(
		data.id,
		"PinComments_comments",
	);
	function say(): void {
		if (viewer === null || viewer === undefined) {
			session.signIn();
			return;
		}
		const comment = {
			__typename: "Comment",
			id: `client:${crypto.randomUUID()}`,
			text,
			editedAt: null,
			// Not before the server knows it.
			viewerCanUpdate: false,
			viewerCanDelete: false,
			author: viewer,
		};
		clear();
		setText("");
		add({
			variables: {
				// A repeated request with this key adds no second comment.
				input: { pinId: data.id, text, idempotencyKey: crypto.randomUUID() },
				connections: [connection],
			},
			optimisticResponse: {
				addComment: { commentEdge: { cursor: "", node: comment } },
			},
			onError(error) {
				// What was typed is not lost.
				setText(text);
				report(error);
			},
		});
	}
	return (
		<section className="comments" aria-label="Comments">
			{hasPrevious && (
				<button
					type="button"
					className="quiet"
					disabled={isLoadingPrevious}
					onClick={() => void loadPrevious(PAGE)}
				>
					Earlier comments
				</button>
			)}
			<ol>
				{data.comments?.edges.map(
					({ node: comment }) =>
						comment && (
							<CommentItem
								key={comment.id}
								comment={comment}
								connection={connection}
							/>
						),
				)}
			</ol>
			{data.comments?.edges.length === 0 && (
				<p className="none">Nobody has said anything yet.</p>
			)}
			<CommentForm
				label="Your comment"
				submit="Say it"
				text={text}
				onText={setText}
				errors={errors}
				onSubmit={say}
			/>
		</section>
	);
}
