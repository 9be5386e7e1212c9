import { Suspense } from "react";
import { Popular } from "./PickInterests.tsx";

/** How a feed comes about, and what to follow first. */
export function EmptyFeed() {
	return (
		<div className="missing empty-feed">
			<h2>Nothing here yet.</h2>
			<p>
				Your feed has pins of the people, boards and interests that you follow,
				and pins like those that you save. Follow a few interests, or search for
				people above; then refresh.
			</p>
			<Suspense fallback={<p>Loading …</p>}>
				<Popular />
			</Suspense>
		</div>
	);
}
