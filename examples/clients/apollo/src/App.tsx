import { gql, type TypedDocumentNode } from "@apollo/client";
import { useMutation, useQuery } from "@apollo/client/react";
import { useState } from "react";
import { codeOf } from "./client.ts";

interface Pin {
	id: string;
	details: string | null;
	viewerLikes: boolean | null;
}

const PINS: TypedDocumentNode<
	{
		interest: {
			id: string;
			pins: {
				edges: { node: Pin | null }[];
				pageInfo: { endCursor: string | null; hasNextPage: boolean };
			} | null;
		} | null;
	},
	{ slug: string; first: number; after?: string | null }
> = gql`
	query Pins($slug: String!, $first: Int!, $after: String) {
		interest(by: {slug: $slug}) {
			id
			pins(first: $first, after: $after) {
				edges { node { id details viewerLikes } }
				pageInfo { startCursor endCursor hasNextPage hasPreviousPage }
			}
		}
	}
`;

const LIKE: TypedDocumentNode<
	{
		likePin: {
			__typename?: string;
			pin: {
				__typename?: string;
				id: string;
				viewerLikes: boolean | null;
			} | null;
		} | null;
	},
	{ id: string }
> = gql`
	mutation Like($id: ID!) {
		likePin(input: { pinId: $id }) { pin { id viewerLikes } }
	}
`;

export default function App() {
	const [fault, setFault] = useState<unknown>(null);
	const {
		data,
		error = fault,
		fetchMore,
	} = useQuery(PINS, {
		variables: { slug: "gardens", first: 10 },
	});
	if (error) return <p role="alert">{codeOf(error) ?? String(error)}</p>;
	const pins = data?.interest?.pins;
	if (!pins) return <p>{data ? "There is no such interest." : "Loading …"}</p>;
	const { endCursor, hasNextPage } = pins.pageInfo;
	return (
		<>
			<ul>
				{pins.edges.map(
					({ node }) => node && <Item key={node.id} pin={node} />,
				)}
			</ul>
			{hasNextPage && (
				<button
					type="button"
					onClick={() =>
						fetchMore({ variables: { after: endCursor } }).catch(setFault)
					}
				>
					More
				</button>
			)}
		</>
	);
}

function Item({ pin }: { pin: Pin }) {
	const [like, { error }] = useMutation(LIKE, {
		variables: { id: pin.id },
		// Shown until the response arrives, and rolled back after an error.
		optimisticResponse: {
			likePin: {
				__typename: "LikePinPayload",
				pin: { __typename: "Pin", id: pin.id, viewerLikes: true },
			},
		},
	});
	return (
		<li>
			{pin.details}{" "}
			<button
				type="button"
				disabled={pin.viewerLikes === true}
				onClick={() => like().catch(() => {})}
			>
				Like
			</button>
			{error && <span role="alert">{codeOf(error) ?? String(error)}</span>}
		</li>
	);
}
