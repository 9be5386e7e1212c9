import { type DragEvent, type ReactNode, useState } from "react";
import { type Place, step } from "./reorder.ts";

export interface Arranged {
	readonly id: string;
	readonly name: string;
	readonly content: ReactNode;
	/** Somebody else's, which stays where it is. */
	readonly isFixed?: boolean;
}

/**
 * A list whose items the viewer puts in order: by dragging, or with the buttons
 * of each, which a keyboard and a finger find as well. Announces to screen readers
 * where an item went.
 */
export function Arrange(props: {
	readonly label: string;
	readonly items: readonly Arranged[];
	readonly onMove: (id: string, place: Place) => void;
}) {
	const { label, items, onMove } = props;
	const [dragged, setDragged] = useState<string | null>(null);
	const [said, setSaid] = useState("");
	const ids = items.map(({ id }) => id);

	function move(item: Arranged, place: Place | null, to: number): void {
		if (place === null) return;
		onMove(item.id, place);
		setSaid(`${item.name} is number ${to + 1} of ${items.length}.`);
	}
	function drop(event: DragEvent, index: number): void {
		event.preventDefault();
		const from = dragged === null ? -1 : ids.indexOf(dragged);
		const item = items[from];
		const target = ids[index];
		setDragged(null);
		if (item === undefined || target === undefined || from === index) return;
		move(item, from < index ? { after: target } : { before: target }, index);
	}
	return (
		<>
			<output className="unseen">{said}</output>
			<ol className="arrange" aria-label={label}>
				{items.map((item, index) => (
					<li
						key={item.id}
						data-arranged={item.id}
						draggable={!item.isFixed}
						className={item.id === dragged ? "dragged" : undefined}
						onDragStart={() => setDragged(item.id)}
						onDragEnd={() => setDragged(null)}
						onDragOver={(event) => dragged && event.preventDefault()}
						onDrop={(event) => drop(event, index)}
					>
						{item.content}
						<strong>{item.name}</strong>
						{!item.isFixed && (
							<span className="steps">
								<button
									type="button"
									aria-label={`Move ${item.name} earlier`}
									aria-disabled={index === 0}
									onClick={() => move(item, step(ids, index, -1), index - 1)}
								>
									<Arrow to="earlier" />
								</button>
								<button
									type="button"
									aria-label={`Move ${item.name} later`}
									aria-disabled={index === items.length - 1}
									onClick={() => move(item, step(ids, index, 1), index + 1)}
								>
									<Arrow to="later" />
								</button>
							</span>
						)}
					</li>
				))}
			</ol>
		</>
	);
}

/** Drawn, as not every font has one. */
function Arrow({ to }: { readonly to: "earlier" | "later" }) {
	return (
		<svg viewBox="0 0 24 24" aria-hidden="true">
			<path d={to === "earlier" ? "M14 6l-6 6 6 6" : "M10 6l6 6-6 6"} />
		</svg>
	);
}
