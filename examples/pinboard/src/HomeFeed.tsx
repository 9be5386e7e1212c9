import { useCallback, useEffect, useRef, useState } from "react";
import {
	ConnectionHandler,
	graphql,
	useMutation,
	usePaginationFragment,
} from "react-relay";
import type { HomeFeed_user$key } from "./__generated__/HomeFeed_user.graphql.ts";
import type { HomeFeedQuery } from "./__generated__/HomeFeedQuery.graphql.ts";
import type { HomeFeedRefreshMutation } from "./__generated__/HomeFeedRefreshMutation.graphql.ts";
import { EmptyFeed } from "./EmptyFeed.tsx";
import { FeedGrid } from "./FeedGrid.tsx";
import { LoadMore } from "./LoadMore.tsx";
import { useSession } from "./session.tsx";
import { useWaiting } from "./useWaiting.ts";

const PAGE = 12;
/** Pins above the first that are read at a time. A refresh adds at most 100. */
const NEW = 50;

/** The viewer's home feed: older pins below, and new ones on top when asked for. */
export function HomeFeed(props: { readonly user: HomeFeed_user$key }) {
	const { say } = useSession();
	const {
		data,
		hasNext,
		hasPrevious,
		isLoadingNext,
		isLoadingPrevious,
		loadNext,
		loadPrevious,
		refetch,
	} = usePaginationFragment<HomeFeedQuery, HomeFeed_user$key>(
		// `first` without a default, which Relay would send beside `last`.
		graphql`
			fragment HomeFeed_user on User
			@refetchable(queryName: "HomeFeedQuery")
			@argumentDefinitions(
				first: { type: "Int" }
				after: { type: "String" }
				last: { type: "Int" }
				before: { type: "String" }
			) {
				id
				homeFeed(first: $first, after: $after, last: $last, before: $before)
					@connection(key: "HomeFeed_homeFeed") {
					edges {
						__typename
					}
					pageInfo {
						startCursor
					}
					...FeedGrid_pins
				}
			}
		`,
		props.user,
	);
	const { id, homeFeed } = data;
	const [waiting, ask] = useWaiting();
	const [refresh] = useMutation<HomeFeedRefreshMutation>(graphql`
		mutation HomeFeedRefreshMutation($input: RefreshHomeFeedInput!) {
			refreshHomeFeed(input: $input) {
				added
			}
		}
	`);
	const [isRefreshing, setRefreshing] = useState(false);
	// The first new pins are here, and perhaps not all.
	const [goesUp, setGoesUp] = useState(false);
	const heading = useRef<HTMLHeadingElement>(null);

	const end = useCallback(
		(error: Error | null) => {
			setRefreshing(false);
			setGoesUp(false);
			if (error) {
				say(`Not refreshed: ${error.message}`);
				return;
			}
			// The new pins are below it.
			heading.current?.focus();
			scrollTo(0, 0);
			ask();
		},
		[say, ask],
	);
	useEffect(() => {
		if (!goesUp || isLoadingPrevious) return;
		if (!hasPrevious) end(null);
		else loadPrevious(NEW, { onComplete: (error) => error && end(error) });
	}, [goesUp, hasPrevious, isLoadingPrevious, loadPrevious, end]);

	function onRefresh(): void {
		setRefreshing(true);
		refresh({
			variables: { input: { userId: id } },
			onError: end,
			onCompleted() {
				// Without a pin there is no cursor to read before.
				if (!homeFeed?.pageInfo.startCursor) {
					refetch(
						{ first: PAGE },
						{ fetchPolicy: "network-only", onComplete: end },
					);
					return;
				}
				loadPrevious(NEW, {
					onComplete: (error) => (error ? end(error) : setGoesUp(true)),
				});
			},
		});
	}
	const load = useCallback(() => void loadNext(PAGE), [loadNext]);
	const isEmpty = !hasNext && homeFeed?.edges.length === 0;
	return (
		<>
			<header className="heading feed-heading">
				<h1 tabIndex={-1} ref={heading}>
					Home
				</h1>
				<button
					type="button"
					className={waiting > 0 ? "primary" : "quiet"}
					disabled={isRefreshing}
					onClick={onRefresh}
				>
					{isRefreshing
						? "Refreshing …"
						: waiting > 0
							? news(waiting)
							: "Refresh"}
				</button>
				<output className="unseen">
					{waiting > 0 && `${news(waiting)} in your home feed`}
				</output>
			</header>
			{homeFeed && !isEmpty && (
				<FeedGrid
					pins={homeFeed}
					connection={ConnectionHandler.getConnectionID(
						id,
						"HomeFeed_homeFeed",
					)}
				/>
			)}
			{!homeFeed && (
				<p role="alert">Your home feed is not available at the moment.</p>
			)}
			{isEmpty && <EmptyFeed />}
			{homeFeed && !isEmpty && (
				<LoadMore
					hasMore={hasNext}
					isLoading={isLoadingNext}
					count={homeFeed.edges.length}
					load={load}
				/>
			)}
		</>
	);
}

function news(waiting: number): string {
	// The server counts no further.
	if (waiting >= 99) return "99 or more new pins";
	return waiting === 1 ? "1 new pin" : `${waiting} new pins`;
}
