import { useEffect, useRef } from "react";

/** Loads the next page shortly before the end of the list comes into view. */
export function LoadMore(props: {
	readonly hasMore: boolean;
	readonly isLoading: boolean;
	readonly load: () => void;
}) {
	const { hasMore, isLoading, load } = props;
	const mark = useRef<HTMLDivElement>(null);
	useEffect(() => {
		const element = mark.current;
		if (element === null || !hasMore || isLoading) return;
		// Observed again after every page: a page that did not fill the window loads the next one.
		const observer = new IntersectionObserver(
			([entry]) => entry?.isIntersecting && load(),
			{ rootMargin: "500px" },
		);
		observer.observe(element);
		return () => observer.disconnect();
	}, [hasMore, isLoading, load]);
	return (
		<div className="end" ref={mark} aria-live="polite">
			{isLoading ? "Loading more …" : hasMore ? "" : "That is all."}
		</div>
	);
}
