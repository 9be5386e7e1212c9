import { useQuery } from "@apollo/client/react";
import { BOARD_PINS } from "./documents.ts";
import { codeOf } from "./errors.ts";

export function BoardPins({ id }: { readonly id: string }) {
	const { data, error, fetchMore } = useQuery(BOARD_PINS, {
		variables: { id, first: 10 },
	});
	if (error) return <p role="alert">{codeOf(error)}</p>;
	const pins = data?.board?.pins;
	if (!pins) return <p>{data ? "There is no such board." : "Loading …"}</p>;
	const { hasNextPage, endCursor } = pins.pageInfo;
	return (
		<>
			<ul>
				{pins.edges.map(({ node }) => node && <li key={node.id}>{node.id}</li>)}
			</ul>
			{hasNextPage && (
				<button
					type="button"
					onClick={() => fetchMore({ variables: { after: endCursor } })}
				>
					More
				</button>
			)}
		</>
	);
}
