import { graphql, useLazyLoadQuery } from "react-relay";
import type { InterestPageQuery } from "./__generated__/InterestPageQuery.graphql.ts";
import { FollowInterest } from "./FollowInterest.tsx";
import { InterestPins } from "./InterestPins.tsx";
import { Missing } from "./Missing.tsx";

export function InterestPage({ slug }: { readonly slug: string }) {
	const { interest } = useLazyLoadQuery<InterestPageQuery>(
		graphql`
			query InterestPageQuery($slug: String!) {
				interest(by: {slug: $slug}) {
					name
					all: pins(first: 0) {
						totalCount
					}
					followers(first: 0) {
						totalCount
					}
					...FollowInterest_interest
					...InterestPins_interest
				}
			}
		`,
		{ slug },
	);
	if (!interest) return <Missing what="interest" />;
	return (
		<>
			<header className="heading">
				<h1>{interest.name}</h1>
				<div className="facts">
					<span>{interest.all?.totalCount} pins</span>
					<span data-followers>{interest.followers?.totalCount} followers</span>
					<FollowInterest interest={interest} />
				</div>
			</header>
			<InterestPins interest={interest} />
		</>
	);
}
