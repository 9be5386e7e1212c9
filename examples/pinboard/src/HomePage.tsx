import { graphql, useLazyLoadQuery } from "react-relay";
import type { HomePageQuery } from "./__generated__/HomePageQuery.graphql.ts";
import { HomeFeed } from "./HomeFeed.tsx";
import { useSession } from "./session.tsx";

export function HomePage() {
	const { signIn } = useSession();
	const { viewer } = useLazyLoadQuery<HomePageQuery>(
		graphql`
			query HomePageQuery {
				viewer {
					...HomeFeed_user @arguments(first: 12)
				}
			}
		`,
		{},
	);
	if (viewer) return <HomeFeed user={viewer} />;
	return (
		<div className="missing">
			<h1>A feed of your own</h1>
			<p>It has pins of the people, boards and interests that you follow.</p>
			<button type="button" className="primary" onClick={signIn}>
				See mine
			</button>
		</div>
	);
}
