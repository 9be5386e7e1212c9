import type { Cell } from "../cell.ts";
import { measure } from "../measure.ts";
import { textOf } from "../queries.ts";
import { spellRequest } from "../requests.ts";
import { flavorOf, VARIANTS, type VariantName } from "../variants.ts";
import type { World } from "../world.ts";
import { firstOf } from "./reads.ts";

const PAGE = 50;
/** So many pages at each end. */
const PAGES = 5;
const LIMIT_MS = 20_000;

interface Answer {
	readonly data: {
		readonly board: {
			readonly pins: {
				readonly pageInfo: {
					readonly hasNextPage: boolean;
					readonly endCursor: string;
				};
			};
		};
	};
}

/** The first and the last whole pages of the longest board, by one client. */
export async function* pagesRound(
	world: World,
	round: number,
	variants: readonly VariantName[],
	signal: AbortSignal,
): AsyncGenerator<Cell> {
	const board = longestBoard(world);
	const cursors = new Map<VariantName, readonly (string | null)[]>();
	for (const variant of variants) {
		cursors.set(variant, await walk(world, variant, board, signal));
	}
	for (const end of ["first", "last"] as const) {
		for (const variant of variants) {
			signal.throwIfAborted();
			const all = cursors.get(variant) ?? [];
			const pages = end === "first" ? all.slice(0, PAGES) : all.slice(-PAGES);
			const numbers =
				end === "first" ? [1, PAGES] : [all.length - PAGES + 1, all.length];
			const text = textOf(flavorOf(variant), "q5");
			const id = world.idOf(variant, `b:${board}`);
			const { way } = VARIANTS[variant];
			yield await measure(world, {
				section: "pages",
				round,
				variant,
				question: `pages ${numbers.join(" to ")}`,
				set: `${variant} ${end} pages`,
				requests: pages.map((after) =>
					spellRequest({ text, variables: { id, after } }, way),
				),
				order: firstOf(pages.length, pages.length),
				from: 0,
				connections: 1,
				seconds: world.options.seconds,
			});
		}
	}
}

function longestBoard({ graph }: World): number {
	const sizes = new Map<number, number>();
	for (const { board } of graph.pins) {
		sizes.set(board, (sizes.get(board) ?? 0) + 1);
	}
	const [longest = 0] = [...sizes].toSorted(([, a], [, b]) => b - a)[0] ?? [];
	return longest + 1;
}

/** The cursor before each whole page. */
async function walk(
	world: World,
	variant: VariantName,
	board: number,
	signal: AbortSignal,
): Promise<readonly (string | null)[]> {
	const { port } = await world.serverOf(variant);
	const found: (string | null)[] = [];
	let after: string | null = null;
	for (;;) {
		signal.throwIfAborted();
		const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
			method: "POST",
			headers: { "content-type": "application/json" },
			body: JSON.stringify({
				query: textOf(flavorOf(variant), "q5"),
				variables: { id: world.idOf(variant, `b:${board}`), after },
			}),
			signal: AbortSignal.timeout(LIMIT_MS),
		});
		const text = await response.text();
		if (!response.ok || text.includes('"errors":')) {
			throw new Error(`${variant} answered a page with ${text.slice(0, 500)}`);
		}
		const { data } = JSON.parse(text) as Answer;
		const { hasNextPage, endCursor } = data.board.pins.pageInfo;
		if (!hasNextPage) {
			// The last page may be shorter.
			if (found.length === 0) {
				throw new Error(`A board of more than ${PAGE} pins is needed.`);
			}
			return found;
		}
		found.push(after);
		after = endCursor;
	}
}
