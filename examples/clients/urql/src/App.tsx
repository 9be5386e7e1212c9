import { useState } from "react";
import { gql, useMutation, useQuery } from "urql";
import { codeOf } from "./client.ts";

interface Pin {
	id: string;
	details: string | null;
	viewerLikes: boolean | null;
}

const PINS = gql<
	{
		interest: {
			id: string;
			pins: {
				nodes: (Pin | null)[];
				pageInfo: { endCursor: string | null; hasNextPage: boolean };
			} | null;
		} | null;
	},
	{ slug: string; first: number; after: string | null }
>`
	query Pins($slug: String!, $first: Int!, $after: String) {
		interest(by: {slug: $slug}) {
			id
			pins(first: $first, after: $after) {
				nodes { id details viewerLikes }
				pageInfo { endCursor hasNextPage }
			}
		}
	}
`;

const LIKE = gql<
	{
		likePin: { pin: { id: string; viewerLikes: boolean | null } | null } | null;
	},
	{ id: string }
>`
	mutation Like($id: ID!) {
		likePin(input: { pinId: $id }) { pin { id viewerLikes } }
	}
`;

export default function App() {
	return <Page slug="gardens" after={null} />;
}

function Page({ slug, after }: { slug: string; after: string | null }) {
	const [goesOn, setGoesOn] = useState(false);
	const [{ data, error }] = useQuery({
		query: PINS,
		variables: { slug, first: 10, after },
	});
	if (error) return <p role="alert">{codeOf(error) ?? error.message}</p>;
	const pins = data?.interest?.pins;
	if (!pins) return <p>{data ? "There is no such interest." : "Loading …"}</p>;
	const { endCursor, hasNextPage } = pins.pageInfo;
	return (
		<>
			<ul>{pins.nodes.map((pin) => pin && <Item key={pin.id} pin={pin} />)}</ul>
			{hasNextPage && goesOn && <Page slug={slug} after={endCursor} />}
			{hasNextPage && !goesOn && (
				<button type="button" onClick={() => setGoesOn(true)}>
					More
				</button>
			)}
		</>
	);
}

function Item({ pin }: { pin: Pin }) {
	const [{ error }, like] = useMutation(LIKE);
	// Shown until the response arrives, and rolled back after an error.
	const [hoped, setHoped] = useState(false);
	async function onClick() {
		setHoped(true);
		const { error } = await like({ id: pin.id });
		if (error) setHoped(false);
	}
	return (
		<li>
			{pin.details}{" "}
			<button
				type="button"
				disabled={hoped || pin.viewerLikes === true}
				onClick={onClick}
			>
				Like
			</button>
			{error && <span role="alert">{codeOf(error) ?? error.message}</span>}
		</li>
	);
}
