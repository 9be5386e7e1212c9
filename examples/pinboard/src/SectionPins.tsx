import { useCallback } from "react";
import { graphql, useLazyLoadQuery, usePaginationFragment } from "react-relay";
import type { SectionPins_section$key } from "./__generated__/SectionPins_section.graphql.ts";
import type { SectionPinsPageQuery } from "./__generated__/SectionPinsPageQuery.graphql.ts";
import type { SectionPinsQuery } from "./__generated__/SectionPinsQuery.graphql.ts";
import { LoadMore } from "./LoadMore.tsx";
import { Missing } from "./Missing.tsx";
import { PinList } from "./PinList.tsx";

const PAGE = 12;

/** The pins of one section, in place of all pins of its board. */
export function SectionPins({ id }: { readonly id: string }) {
	const { node } = useLazyLoadQuery<SectionPinsPageQuery>(
		graphql`
			query SectionPinsPageQuery($id: ID!) {
				node(id: $id) {
					...SectionPins_section @alias(as: "section")
				}
			}
		`,
		{ id },
	);
	return node?.section ? (
		<Pins section={node.section} />
	) : (
		<Missing what="section" />
	);
}

function Pins(props: { readonly section: SectionPins_section$key }) {
	const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<
		SectionPinsQuery,
		SectionPins_section$key
	>(
		graphql`
			fragment SectionPins_section on Section
			@refetchable(queryName: "SectionPinsQuery")
			@argumentDefinitions(
				count: { type: "Int", defaultValue: 12 }
				cursor: { type: "String" }
			) {
				id
				viewerCanUpdate
				pins(first: $count, after: $cursor)
					@connection(key: "SectionPins_pins") {
					edges {
						__typename
					}
					...PinList_pins
				}
			}
		`,
		props.section,
	);
	const load = useCallback(() => void loadNext(PAGE), [loadNext]);
	return (
		<>
			{data.pins?.edges.length === 0 && (
				<p className="none">
					Nothing is in this section. Open one of your pins and choose Edit to
					put it here.
				</p>
			)}
			{data.pins && (
				<PinList
					pins={data.pins}
					section={data.id}
					canArrange={data.viewerCanUpdate === true}
				/>
			)}
			<LoadMore hasMore={hasNext} isLoading={isLoadingNext} load={load} />
		</>
	);
}
