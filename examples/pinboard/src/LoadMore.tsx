import { useEffect, useRef } from "react";

/** The longest pause before an empty page is followed by another request. Milliseconds. */
const MAX_PAUSE = 30_000;

/**
 * Loads the next page shortly before the end of the list comes into view. A page
 * may be empty although more may follow (docs/feed.md): then each further request
 * waits twice as long as the one before.
 */
export function LoadMore(props: {
	readonly hasMore: boolean;
	readonly isLoading: boolean;
	/** How many items the list has, if its pages may be empty. */
	readonly count?: number;
	readonly load: () => void;
}) {
	const { hasMore, isLoading, count, load } = props;
	const mark = useRef<HTMLDivElement>(null);
	const last = useRef<{ count?: number | undefined; pause: number }>({
		pause: 0,
	});
	useEffect(() => {
		const element = mark.current;
		if (element === null || !hasMore || isLoading) return;
		let timer: ReturnType<typeof setTimeout> | undefined;
		// Observed again after every page: a page that did not fill the window loads the next one.
		const observer = new IntersectionObserver(
			([entry]) => {
				if (!entry?.isIntersecting) return;
				const isEmpty = count !== undefined && last.current.count === count;
				const pause = isEmpty
					? Math.min(MAX_PAUSE, Math.max(1_000, 2 * last.current.pause))
					: 0;
				last.current = { count, pause };
				timer = setTimeout(load, pause);
				observer.disconnect();
			},
			{ rootMargin: "500px" },
		);
		observer.observe(element);
		return () => {
			observer.disconnect();
			clearTimeout(timer);
		};
	}, [hasMore, isLoading, count, load]);
	return (
		<div className="end" ref={mark} aria-live="polite">
			{isLoading ? "Loading more …" : hasMore ? "" : "That is all."}
		</div>
	);
}
