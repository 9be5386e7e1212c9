import { Component, type ReactNode, Suspense, useState } from "react";
import {
	graphql,
	useFragment,
	useLazyLoadQuery,
	useMutation,
	usePaginationFragment,
} from "react-relay";
import type { App_comments$key } from "./__generated__/App_comments.graphql.ts";
import type { App_interest$key } from "./__generated__/App_interest.graphql.ts";
import type { App_pin$key } from "./__generated__/App_pin.graphql.ts";
import type { AppCommentsQuery } from "./__generated__/AppCommentsQuery.graphql.ts";
import type { AppLikeMutation } from "./__generated__/AppLikeMutation.graphql.ts";
import type { AppPinsQuery } from "./__generated__/AppPinsQuery.graphql.ts";
import type { AppQuery } from "./__generated__/AppQuery.graphql.ts";
import { codeOf } from "./environment.ts";

export default function App() {
	return (
		<Fallible>
			<Suspense fallback="Loading …">
				<Gardens />
			</Suspense>
		</Fallible>
	);
}

/** Shows the error of a query below it. */
class Fallible extends Component<{ children: ReactNode }, { error?: Error }> {
	override state: { error?: Error } = {};

	static getDerivedStateFromError(error: Error) {
		return { error };
	}

	override render() {
		const { error } = this.state;
		return error ? <Fault error={error} /> : this.props.children;
	}
}

function Fault({ error }: { error: Error }) {
	return <span role="alert">{codeOf(error) ?? error.message}</span>;
}

function Gardens() {
	const { interest } = useLazyLoadQuery<AppQuery>(
		graphql`
			query AppQuery($slug: String!) {
				interest(by: {slug: $slug}) {
					...App_interest
				}
			}
		`,
		{ slug: "gardens" },
	);
	return interest ? <Pins interest={interest} /> : "There is no such interest.";
}

function Pins(props: { interest: App_interest$key }) {
	const [error, setError] = useState<Error | null>(null);
	const { data, hasNext, loadNext } = usePaginationFragment<
		AppPinsQuery,
		App_interest$key
	>(
		graphql`
			fragment App_interest on Interest
			@refetchable(queryName: "AppPinsQuery")
			@argumentDefinitions(
				count: { type: "Int", defaultValue: 10 }
				cursor: { type: "String" }
			) {
				pins(first: $count, after: $cursor) @connection(key: "App_pins") {
					edges {
						node {
							id
							...App_pin
							...App_comments
						}
					}
				}
			}
		`,
		props.interest,
	);
	return (
		<>
			<ul>
				{data.pins?.edges.map(
					({ node }) =>
						node && (
							<li key={node.id}>
								<Pin pin={node} />
								<Comments pin={node} />
							</li>
						),
				)}
			</ul>
			{hasNext && (
				<button
					type="button"
					onClick={() => loadNext(10, { onComplete: setError })}
				>
					More
				</button>
			)}
			{error && <Fault error={error} />}
		</>
	);
}

function Pin(props: { pin: App_pin$key }) {
	const [error, setError] = useState<Error | null>(null);
	const pin = useFragment(
		graphql`
			fragment App_pin on Pin {
				id
				details
				viewerLikes
			}
		`,
		props.pin,
	);
	const [like] = useMutation<AppLikeMutation>(graphql`
		mutation AppLikeMutation($id: ID!) {
			likePin(input: { pinId: $id }) {
				pin {
					id
					viewerLikes
				}
			}
		}
	`);
	const onClick = () =>
		like({
			variables: { id: pin.id },
			// Shown until the response arrives, and rolled back after an error.
			optimisticResponse: {
				likePin: { pin: { id: pin.id, viewerLikes: true } },
			},
			onError: setError,
		});
	return (
		<>
			{pin.details}{" "}
			<button
				type="button"
				disabled={pin.viewerLikes === true}
				onClick={onClick}
			>
				Like
			</button>
			{error && <Fault error={error} />}
		</>
	);
}

/** Oldest first, from the end. */
function Comments(props: { pin: App_comments$key }) {
	const { data, hasPrevious, loadPrevious } = usePaginationFragment<
		AppCommentsQuery,
		App_comments$key
	>(
		graphql`
			fragment App_comments on Pin
			@refetchable(queryName: "AppCommentsQuery")
			@argumentDefinitions(
				count: { type: "Int", defaultValue: 2 }
				cursor: { type: "String" }
			) {
				comments(last: $count, before: $cursor) @connection(key: "App_comments") {
					edges {
						node {
							id
							text
						}
					}
				}
			}
		`,
		props.pin,
	);
	return (
		<>
			{hasPrevious && (
				<button type="button" onClick={() => loadPrevious(5)}>
					Earlier
				</button>
			)}
			{data.comments?.edges.map(
				({ node }) => node && <p key={node.id}>{node.text}</p>,
			)}
		</>
	);
}
