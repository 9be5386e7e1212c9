import { useState } from "react";
import { useQuery } from "urql";
import { BOARD_PINS } from "./pages.ts";

/** urql's cache is of answers, so a list is the pages read so far. */
export function BoardPins({ id }: { readonly id: string }) {
	const [cursors, setCursors] = useState<readonly (string | null)[]>([null]);
	return cursors.map((after, n) => (
		<Page
			key={after}
			id={id}
			after={after}
			onMore={
				n === cursors.length - 1
					? (cursor) => setCursors([...cursors, cursor])
					: null
			}
		/>
	));
}

function Page(props: {
	readonly id: string;
	readonly after: string | null;
	readonly onMore: ((cursor: string | null) => void) | null;
}) {
	const { id, after, onMore } = props;
	const [{ data, error }] = useQuery({
		query: BOARD_PINS,
		variables: { id, first: 10, after },
	});
	if (error) {
		const [first] = error.graphQLErrors;
		return <p role="alert">{String(first?.extensions.code)}</p>;
	}
	const pins = data?.board?.pins;
	if (!pins) return <p>{data ? "There is no such board." : "Loading …"}</p>;
	const { hasNextPage, endCursor } = pins.pageInfo;
	return (
		<>
			<ul>{pins.nodes.map((pin) => pin && <li key={pin.id}>{pin.id}</li>)}</ul>
			{hasNextPage && onMore && (
				<button type="button" onClick={() => onMore(endCursor)}>
					More
				</button>
			)}
		</>
	);
}
