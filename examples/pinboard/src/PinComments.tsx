import { type FormEvent, useState } from "react";
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
import type { PinCommentsDeleteMutation } from "./__generated__/PinCommentsDeleteMutation.graphql.ts";
import type { PinCommentsQuery } from "./__generated__/PinCommentsQuery.graphql.ts";
import { Avatar } from "./Avatar.tsx";
import { address } from "./route.ts";
import { useSession } from "./session.tsx";

const PAGE = 5;

/** Comments, oldest first, read from the end: the last few, and earlier ones on request. */
export function PinComments(props: {
	readonly pin: PinComments_pin$key;
	readonly viewer: PinComments_viewer$key | null;
}) {
	const session = useSession();
	const [text, setText] = useState("");
	const viewer = useFragment(
		graphql`
			fragment PinComments_viewer on User {
				id
				name
				username
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
						totalCount
						edges {
							node {
								id
								text
								author {
									id
									name
									username
								}
							}
						}
					}
				}
			`,
			props.pin,
		);
	const [add, isAdding] = useMutation<PinCommentsAddMutation>(graphql`
		mutation PinCommentsAddMutation(
			$input: AddCommentInput!
			$connections: [ID!]!
		) {
			addComment(input: $input) {
				commentEdge @appendEdge(connections: $connections) {
					cursor
					node {
						id
						text
						author {
							id
							name
							username
						}
					}
				}
			}
		}
	`);
	const [remove] = useMutation<PinCommentsDeleteMutation>(graphql`
		mutation PinCommentsDeleteMutation(
			$input: DeleteCommentInput!
			$connections: [ID!]!
		) {
			deleteComment(input: $input) {
				deletedCommentId @deleteEdge(connections: $connections)
			}
		}
	`);
	const connections = [
		ConnectionHandler.getConnectionID(data.id, "PinComments_comments"),
	];
	function submit(event: FormEvent) {
		event.preventDefault();
		if (viewer === null || viewer === undefined) return session.signIn();
		const comment = {
			id: `client:${crypto.randomUUID()}`,
			text,
			author: viewer,
		};
		setText("");
		add({
			variables: {
				// A repeated request with this key adds no second comment.
				input: { pinId: data.id, text, idempotencyKey: crypto.randomUUID() },
				connections,
			},
			optimisticResponse: {
				addComment: { commentEdge: { cursor: "", node: comment } },
			},
			onError(error) {
				// What was typed is not lost.
				setText(text);
				session.say(`Not said: ${error.message}`);
			},
		});
	}
	function deleteComment(commentId: string) {
		remove({
			variables: { input: { commentId }, connections },
			optimisticResponse: { deleteComment: { deletedCommentId: commentId } },
			onError: ({ message }) => session.say(`Not deleted: ${message}`),
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
							<li key={comment.id} data-comment={comment.id}>
								<Avatar name={comment.author?.name ?? "?"} />
								<p>
									{comment.author && (
										<a href={address("user", comment.author.username)}>
											{comment.author.name}
										</a>
									)}{" "}
									{comment.text}
								</p>
								{comment.author?.id === viewer?.id && viewer && (
									<button
										type="button"
										className="quiet"
										aria-label={`Delete the comment “${comment.text}”`}
										onClick={() => deleteComment(comment.id)}
									>
										Delete
									</button>
								)}
							</li>
						),
				)}
			</ol>
			{data.comments?.edges.length === 0 && (
				<p className="none">Nobody has said anything yet.</p>
			)}
			<form onSubmit={submit}>
				<input
					aria-label="Your comment"
					placeholder="Say something kind"
					maxLength={2000}
					required
					value={text}
					onChange={(event) => setText(event.target.value)}
				/>
				<button type="submit" disabled={isAdding}>
					Say it
				</button>
			</form>
		</section>
	);
}
