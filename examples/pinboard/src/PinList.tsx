import { useState } from "react";
import { graphql, useFragment } from "react-relay";
import type { PinList_pins$key } from "./__generated__/PinList_pins.graphql.ts";
import { ArrangePins } from "./ArrangePins.tsx";
import { PinGrid } from "./PinGrid.tsx";

/** The pins of a board or of a section, which its members put in order. */
export function PinList(props: {
	readonly pins: PinList_pins$key;
	/** Whose pins they are, if not the board's. */
	readonly section: string | null;
	readonly canArrange: boolean;
}) {
	const { section, canArrange } = props;
	const [isArranging, setArranging] = useState(false);
	const pins = useFragment(
		graphql`
			fragment PinList_pins on PinConnection {
				edges {
					__typename
				}
				...PinGrid_pins
				...ArrangePins_pins
			}
		`,
		props.pins,
	);
	return (
		<>
			{canArrange && pins.edges.length > 1 && (
				<button
					type="button"
					className="arranges"
					aria-pressed={isArranging}
					onClick={() => setArranging(!isArranging)}
				>
					{isArranging ? "Done" : "Arrange pins"}
				</button>
			)}
			{isArranging ? (
				<ArrangePins pins={pins} section={section} />
			) : (
				<PinGrid pins={pins} />
			)}
		</>
	);
}
