import { useCallback, useEffect, useState } from "react";
import { fetchQuery, graphql, useRelayEnvironment } from "react-relay";
import type { useWaitingQuery } from "./__generated__/useWaitingQuery.graphql.ts";

/** Between two questions. Milliseconds. */
const PAUSE = 60_000;

/**
 * How many pins wait for the viewer's home feed, 0 if that is not known, and
 * what asks at once. The server is asked while the page is shown, not in a tab
 * behind others.
 */
export function useWaiting(): [number, () => void] {
	const environment = useRelayEnvironment();
	const [waiting, setWaiting] = useState(0);
	const ask = useCallback(() => {
		fetchQuery<useWaitingQuery>(
			environment,
			graphql`
				query useWaitingQuery {
					viewer {
						homeFeedWaiting
					}
				}
			`,
			{},
		).subscribe({
			next: ({ viewer }) => setWaiting(viewer?.homeFeedWaiting ?? 0),
			// It is asked again.
			error: () => {},
		});
	}, [environment]);
	useEffect(() => {
		const askIfShown = () => document.visibilityState === "visible" && ask();
		askIfShown();
		const timer = setInterval(askIfShown, PAUSE);
		document.addEventListener("visibilitychange", askIfShown);
		return () => {
			clearInterval(timer);
			document.removeEventListener("visibilitychange", askIfShown);
		};
	}, [ask]);
	return [waiting, ask];
}
