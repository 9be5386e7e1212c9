import { useMemo } from "react";
import { graphql, useFragment } from "react-relay";
import type { PinGrid_pins$key } from "./__generated__/PinGrid_pins.graphql.ts";
import { Masonry } from "./Masonry.tsx";
import { PinCard } from "./PinCard.tsx";

/** The pins of a list: a board's or an interest's. */
export function PinGrid(props: { readonly pins: PinGrid_pins$key }) {
	const { edges } = useFragment(
		graphql`
			fragment PinGrid_pins on PinConnection {
				edges {
					node {
						id
						image {
							width
							height
						}
						...PinCard_pin
					}
				}
			}
		`,
		props.pins,
	);
	const tiles = useMemo(
		() =>
			edges.flatMap(({ node }) =>
				node === null || node === undefined
					? []
					: [
							{
								key: node.id,
								tall: (node.image?.height ?? 600) / (node.image?.width ?? 600),
								content: <PinCard pin={node} />,
							},
						],
			),
		[edges],
	);
	return <Masonry tiles={tiles} />;
}
