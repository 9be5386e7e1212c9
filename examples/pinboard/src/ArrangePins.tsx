import { graphql, useFragment } from "react-relay";
import type { ArrangePins_pins$key } from "./__generated__/ArrangePins_pins.graphql.ts";
import { Arrange } from "./Arrange.tsx";
import { Picture } from "./Picture.tsx";
import { useMovePin } from "./useMovePin.ts";

/** The pins of a board or a section in their order, to be put into another one. */
export function ArrangePins(props: {
	readonly pins: ArrangePins_pins$key;
	readonly section: string | null;
}) {
	const { __id, edges } = useFragment(
		graphql`
			fragment ArrangePins_pins on PinConnection {
				__id
				edges {
					node {
						id
						title
						details
						viewerCanUpdate
						image {
							url
						}
					}
				}
			}
		`,
		props.pins,
	);
	const move = useMovePin({ connection: __id, section: props.section });
	return (
		<Arrange
			label="Pins"
			items={edges.flatMap(({ node }) =>
				node
					? [
							{
								id: node.id,
								name: node.title ?? node.details ?? "A pin",
								// Collaborators move their own pins only.
								isFixed: node.viewerCanUpdate !== true,
								content: (
									<Picture
										seed={node.image?.url ?? node.id}
										alt=""
										width={300}
										height={300}
									/>
								),
							},
						]
					: [],
			)}
			onMove={move}
		/>
	);
}
