import { Suspense } from "react";
import { graphql, useLazyLoadQuery } from "react-relay";
import type { PickInterestsQuery } from "./__generated__/PickInterestsQuery.graphql.ts";
import { Dialog } from "./Dialog.tsx";
import { FollowInterest } from "./FollowInterest.tsx";

/** Offers somebody who has just signed up what most people follow. */
export function PickInterests({ onClose }: { readonly onClose: () => void }) {
	return (
		<Dialog title="What do you like?" onClose={onClose}>
			<p>Follow a few interests to begin with.</p>
			<Suspense fallback={<p>Loading …</p>}>
				<Popular />
			</Suspense>
			<div className="actions">
				<button type="button" className="primary" onClick={onClose}>
					Done
				</button>
			</div>
		</Dialog>
	);
}

/** What most people follow, each with a button. */
export function Popular() {
	const { popularInterests } = useLazyLoadQuery<PickInterestsQuery>(
		graphql`
			query PickInterestsQuery {
				popularInterests(first: 8) {
					nodes {
						id
						name
						...FollowInterest_interest
					}
				}
			}
		`,
		{},
	);
	return (
		<ul className="people">
			{popularInterests?.nodes.map(
				(interest) =>
					interest && (
						<li key={interest.id}>
							<span>{interest.name}</span>
							<FollowInterest interest={interest} />
						</li>
					),
			)}
		</ul>
	);
}
