import {
	type ReactNode,
	useLayoutEffect,
	useMemo,
	useRef,
	useState,
} from "react";

const COLUMN = 236;
const GAP = 18;
/** Height of a card's text, in units of the picture's width. */
const WORDS = 0.45;

export interface Tile {
	readonly key: string;
	/** Height of its picture in widths of it. */
	readonly tall: number;
	readonly content: ReactNode;
}

/**
 * Columns of equal width. Each tile goes to the shortest column at the time, so
 * tiles that are shown do not move when more are loaded.
 */
export function Masonry({ tiles }: { readonly tiles: readonly Tile[] }) {
	const box = useRef<HTMLDivElement>(null);
	const [count, setCount] = useState(4);
	useLayoutEffect(() => {
		const element = box.current;
		if (element === null) return;
		const measure = () => {
			const fit = Math.floor((element.clientWidth + GAP) / (COLUMN + GAP));
			setCount(Math.max(2, fit));
		};
		measure();
		const observer = new ResizeObserver(measure);
		observer.observe(element);
		return () => observer.disconnect();
	}, []);
	const columns = useMemo(() => {
		const filled = Array.from({ length: count }, () => ({
			height: 0,
			tiles: [] as Tile[],
		}));
		for (const tile of tiles) {
			const shortest = filled.reduce((a, b) => (b.height < a.height ? b : a));
			shortest.height += tile.tall + WORDS;
			shortest.tiles.push(tile);
		}
		return filled;
	}, [tiles, count]);
	return (
		<div className="masonry" ref={box}>
			{columns.map((column, place) => (
				// biome-ignore lint/suspicious/noArrayIndexKey: a column is its place
				<div className="column" key={place}>
					{column.tiles.map((tile) => (
						<div key={tile.key}>{tile.content}</div>
					))}
				</div>
			))}
		</div>
	);
}
