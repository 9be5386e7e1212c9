import { useEffect, useMemo, useRef } from "react";
import { graphql, useFragment } from "react-relay";
import type { FeedGrid_pins$key } from "./__generated__/FeedGrid_pins.graphql.ts";
import { HidePin } from "./HidePin.tsx";
import { Masonry } from "./Masonry.tsx";
import { PinCard } from "./PinCard.tsx";
import { Reason } from "./Reason.tsx";

/** The pins of a home feed, each with why it is there and a button that hides it. */
export function FeedGrid(props: {
	readonly pins: FeedGrid_pins$key;
	readonly connection: string;
}) {
	const { connection } = props;
	const { edges } = useFragment(
		graphql`
			fragment FeedGrid_pins on PinConnection {
				edges {
					node {
						id
						image {
							width
							height
						}
						...PinCard_pin
						...Reason_pin
						...HidePin_pin
					}
				}
			}
		`,
		props.pins,
	);
	// The pin that the keyboard goes on with when a hidden one is gone.
	const next = useRef<string>(null);
	// biome-ignore lint/correctness/useExhaustiveDependencies: a pin has gone from them
	useEffect(() => {
		if (next.current === null) return;
		document
			.querySelector<HTMLElement>(`[data-pin="${next.current}"] .hide`)
			?.focus();
		next.current = null;
	}, [edges]);
	const tiles = useMemo(
		() =>
			edges.flatMap(({ node }, at) =>
				node === null || node === undefined
					? []
					: [
							{
								key: node.id,
								tall: (node.image?.height ?? 600) / (node.image?.width ?? 600),
								content: (
									<PinCard pin={node}>
										<div className="why">
											<Reason pin={node} />
											<HidePin
												pin={node}
												connection={connection}
												onKeyboard={() => {
													next.current =
														(edges[at + 1] ?? edges[at - 1])?.node?.id ?? null;
												}}
											/>
										</div>
									</PinCard>
								),
							},
						],
			),
		[edges, connection],
	);
	return <Masonry tiles={tiles} />;
}
