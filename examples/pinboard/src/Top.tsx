import { useEffect, useRef, useState } from "react";
import { graphql, useLazyLoadQuery } from "react-relay";
import type { TopQuery } from "./__generated__/TopQuery.graphql.ts";
import { Avatar } from "./Avatar.tsx";
import { CreateDialog } from "./CreateDialog.tsx";
import { address, type Route } from "./route.ts";
import { useSession } from "./session.tsx";

/** The top bar: the home feed, interests, and the viewer. */
export function Top({
	page,
	current,
}: {
	readonly page: Route["page"];
	/** The slug of the shown interest. */
	readonly current: string;
}) {
	const { signIn, signOut } = useSession();
	const { viewer, interests } = useLazyLoadQuery<TopQuery>(
		graphql`
			query TopQuery {
				viewer {
					name
					username
				}
				interests(first: 20) {
					nodes {
						slug
						name
					}
				}
			}
		`,
		{},
	);
	const [isCreating, setCreating] = useState(false);
	const nav = useRef<HTMLElement>(null);
	// biome-ignore lint/correctness/useExhaustiveDependencies: current and page say which link is marked
	useEffect(() => {
		nav.current
			?.querySelector("[aria-current]")
			?.scrollIntoView({ inline: "center", block: "nearest" });
	}, [page, current]);
	return (
		<header className="top">
			<a className="brand" href="#/">
				<i aria-hidden="true" /> Pinboard
			</a>
			<nav ref={nav} aria-label="Pins">
				{viewer && (
					<a
						href={address("home", "")}
						aria-current={page === "home" ? "page" : undefined}
					>
						Home
					</a>
				)}
				{interests?.nodes.map(
					(interest) =>
						interest && (
							<a
								key={interest.slug}
								href={address("interest", interest.slug)}
								aria-current={interest.slug === current ? "page" : undefined}
							>
								{interest.name}
							</a>
						),
				)}
			</nav>
			{viewer ? (
				<span className="viewer">
					<button
						type="button"
						className="primary"
						onClick={() => setCreating(true)}
					>
						Create
					</button>
					<a className="person" href={address("user", viewer.username)}>
						<Avatar name={viewer.name} />
						<span>{viewer.name}</span>
					</a>
					<button type="button" className="quiet" onClick={signOut}>
						Log out
					</button>
				</span>
			) : (
				<button type="button" className="primary" onClick={signIn}>
					Log in
				</button>
			)}
			{isCreating && <CreateDialog onClose={() => setCreating(false)} />}
		</header>
	);
}
