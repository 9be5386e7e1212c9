import { type ReactNode, useEffect, useRef, useState } from "react";
import { graphql, useLazyLoadQuery } from "react-relay";
import type { TopQuery } from "./__generated__/TopQuery.graphql.ts";
import { Avatar } from "./Avatar.tsx";
import { CreateDialog } from "./CreateDialog.tsx";
import { address, type Route } from "./route.ts";
import { Search } from "./Search.tsx";
import { useSession } from "./session.tsx";

/** The top bar while nothing is known for it. */
export function BareTop() {
	return (
		<header className="top">
			<Brand />
		</header>
	);
}

function Brand() {
	return (
		<a className="brand" href="#/">
			<i aria-hidden="true" /> Pinboard
		</a>
	);
}

/** As many links as fit into a line, and a button for the rest: none is cut. */
function OneLine(props: {
	readonly current: string;
	readonly children: ReactNode;
}) {
	const { current, children } = props;
	const [isOpen, setOpen] = useState(false);
	const line = useRef<HTMLDivElement>(null);
	// The line of the marked link is the one in sight.
	// biome-ignore lint/correctness/useExhaustiveDependencies: current says which link is marked
	useEffect(() => {
		const { current: element } = line;
		const marked = element?.querySelector<HTMLElement>("[aria-current]");
		element?.scrollTo(0, marked?.offsetTop ?? 0);
		setOpen(false);
	}, [current]);
	return (
		<>
			<div className="interests" data-open={isOpen} ref={line}>
				{children}
			</div>
			<button
				type="button"
				className="quiet"
				aria-expanded={isOpen}
				onClick={() => setOpen(!isOpen)}
			>
				{isOpen ? "Less" : "More"}
			</button>
		</>
	);
}

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
	return (
		<header className="top">
			<Brand />
			<Search />
			<nav aria-label="Pins">
				{viewer && (
					<a href="#/" aria-current={page === "home" ? "page" : undefined}>
						Home
					</a>
				)}
				<OneLine current={current}>
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
				</OneLine>
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
