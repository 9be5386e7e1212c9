import { seededRandom } from "../../src/util/random.ts";
import { askOnce } from "../checkAnswers.ts";
import { textOf } from "../queries.ts";
import { spellRequest } from "../requests.ts";
import type { World } from "../world.ts";
import type { System } from "./systems.ts";

/** Pages begin behind so many pins, which is more than a first page. */
const BEHIND = 40;
const PAGE = 30;
const MOST = 20_000;

/** A page of a board: behind so many of its pins. */
export interface MiddlePage {
	readonly board: number;
	readonly behind: number;
}

interface Q5Answer {
	readonly data: {
		readonly board: {
			readonly pins: {
				readonly edges: readonly { readonly cursor: string }[];
				readonly pageInfo: {
					readonly hasNextPage: boolean;
					readonly endCursor: string;
				};
			};
		};
	};
}

/** Cursors in the middle of long boards, as clients that scroll there hold them. No page is handed out twice. */
export class Cursors {
	readonly #pages: readonly MiddlePage[];
	readonly #byFlavor: ReadonlyMap<
		string,
		ReadonlyMap<number, readonly string[]>
	>;
	#next = 0;

	private constructor(
		pages: readonly MiddlePage[],
		byFlavor: ReadonlyMap<string, ReadonlyMap<number, readonly string[]>>,
	) {
		this.#pages = pages;
		this.#byFlavor = byFlavor;
	}

	/** Reads them through one system of each flavor. */
	static async read(
		world: World,
		systems: readonly System[],
		seed: number,
	): Promise<Cursors> {
		const lengths = new Map<number, number>();
		for (const { board } of world.graph.pins) {
			lengths.set(board + 1, (lengths.get(board + 1) ?? 0) + 1);
		}
		const pages: MiddlePage[] = [];
		const boards = [...lengths].toSorted(([, a], [, b]) => b - a);
		for (const [board, length] of boards) {
			if (length < BEHIND + PAGE || pages.length >= MOST) break;
			for (let behind = BEHIND; behind <= length - PAGE; behind++) {
				pages.push({ board, behind });
			}
		}
		const wanted = [...new Set(pages.map(({ board }) => board))];
		const byFlavor = new Map<string, ReadonlyMap<number, readonly string[]>>();
		for (const system of systems) {
			if (byFlavor.has(system.flavor)) continue;
			const found = new Map<number, readonly string[]>();
			for (const board of wanted) {
				found.set(board, await cursorsOf(world, system, board));
			}
			byFlavor.set(system.flavor, found);
		}
		return new Cursors(seededRandom(seed).shuffled(pages), byFlavor);
	}

	/** As many as are left, at most so many. */
	take(count: number): readonly MiddlePage[] {
		const from = this.#next;
		this.#next = Math.min(this.#pages.length, from + count);
		return this.#pages.slice(from, this.#next);
	}

	get left(): number {
		return this.#pages.length - this.#next;
	}

	of({ flavor }: System, { board, behind }: MiddlePage): string {
		const cursor = this.#byFlavor.get(flavor)?.get(board)?.[behind - 1];
		if (cursor === undefined) throw new Error(`Board ${board} is shorter.`);
		return cursor;
	}
}

async function cursorsOf(
	world: World,
	{ name, flavor, variant, server }: System,
	board: number,
): Promise<readonly string[]> {
	const cursors: string[] = [];
	let after: string | null = null;
	do {
		const variables = { id: world.idOf(variant, `b:${board}`), after };
		const text = await askOnce(
			server.port,
			spellRequest({ text: textOf(flavor, "q5"), variables }, "text"),
			name,
		);
		const { edges, pageInfo } = (JSON.parse(text) as Q5Answer).data.board.pins;
		cursors.push(...edges.map(({ cursor }) => cursor));
		after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
	} while (after !== null);
	return cursors;
}
