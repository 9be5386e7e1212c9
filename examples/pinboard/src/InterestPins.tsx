import { useCallback } from "react";
import { graphql, usePaginationFragment } from "react-relay";
import type { InterestPins_interest$key } from "./__generated__/InterestPins_interest.graphql.ts";
import type { InterestPinsQuery } from "./__generated__/InterestPinsQuery.graphql.ts";
import { LoadMore } from "./LoadMore.tsx";
import { PinGrid } from "./PinGrid.tsx";

const PAGE = 12;

export function InterestPins(props: {
	readonly interest: InterestPins_interest$key;
}) {
	const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<
		InterestPinsQuery,
		InterestPins_interest$key
	>(
		graphql`
			fragment InterestPins_interest on Interest
			@refetchable(queryName: "InterestPinsQuery")
			@argumentDefinitions(
				count: { type: "Int", defaultValue: 12 }
				cursor: { type: "String" }
			) {
				pins(first: $count, after: $cursor)
					@connection(key: "InterestPins_pins") {
					edges {
						__typename
					}
					...PinGrid_pins
				}
			}
		`,
		props.interest,
	);
	const load = useCallback(() => void loadNext(PAGE), [loadNext]);
	return (
		<>
			{data.pins && <PinGrid pins={data.pins} />}
			<LoadMore hasMore={hasNext} isLoading={isLoadingNext} load={load} />
		</>
	);
}
