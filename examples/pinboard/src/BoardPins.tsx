import { useCallback } from "react";
import { graphql, usePaginationFragment } from "react-relay";
import type { BoardPins_board$key } from "./__generated__/BoardPins_board.graphql.ts";
import type { BoardPinsQuery } from "./__generated__/BoardPinsQuery.graphql.ts";
import { LoadMore } from "./LoadMore.tsx";
import { PinList } from "./PinList.tsx";

const PAGE = 12;

export function BoardPins(props: { readonly board: BoardPins_board$key }) {
	const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<
		BoardPinsQuery,
		BoardPins_board$key
	>(
		graphql`
			fragment BoardPins_board on Board
			@refetchable(queryName: "BoardPinsQuery")
			@argumentDefinitions(
				count: { type: "Int", defaultValue: 12 }
				cursor: { type: "String" }
			) {
				viewerCanPin
				pins(first: $count, after: $cursor)
					@connection(key: "BoardPins_pins") {
					edges {
						__typename
					}
					...PinList_pins
				}
			}
		`,
		props.board,
	);
	const load = useCallback(() => void loadNext(PAGE), [loadNext]);
	return (
		<>
			{data.pins && (
				<PinList
					pins={data.pins}
					section={null}
					canArrange={data.viewerCanPin === true}
				/>
			)}
			<LoadMore hasMore={hasNext} isLoading={isLoadingNext} load={load} />
		</>
	);
}
