import type { Store } from "../../graph/store/store.ts";
import { valuesOrThrow } from "../../graph/store/unwrap.ts";
import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import {
	type Edge,
	type Position,
	PRESENT,
	type Storage,
} from "../../storage/storage.ts";
import type { Damage } from "./damage.ts";
import { repairListCount } from "./repair.ts";

/** A list's row beside what its present edges come to. */
export interface CountedList {
	readonly from: Id;
	readonly count: number;
	readonly lastSequence: number;
	/** Present edges. */
	readonly edges: number;
	/** The highest sequence among them. */
	readonly top: number;
}

const BATCH = 1_000;

export function checkCounts(
	store: Store,
	mapping: Mapping,
	lists: readonly CountedList[],
): readonly Damage[] {
	return lists.flatMap((list): readonly Damage[] => {
		const { from } = list;
		const damage = {
			about: [],
			mend: () => repairListCount(store, { mapping, from }),
		};
		const of = `${mapping.name} of ${from}`;
		if (list.count !== list.edges) {
			const what = `${of}: says ${list.count}, has ${list.edges}`;
			return [{ kind: "wrong count", what, ...damage }];
		}
		if (list.lastSequence >= list.top) return [];
		const what = `${of}: says ${list.lastSequence}, has an edge at ${list.top}`;
		return [{ kind: "last sequence too low", what, ...damage }];
	});
}

/** All lists of a shard, in batches: rows and edges walked side by side, both by the id of whom they belong to. */
export async function* walkCounts(
	storage: Storage,
	shard: number,
	mapping: Mapping,
): AsyncGenerator<readonly CountedList[]> {
	const rows = flat(storage.walkLists(shard, mapping));
	const sums = sumsOf(flat(storage.walkEdges(shard, mapping)));
	let row = await rows.next();
	let sum = await sums.next();
	let batch: CountedList[] = [];
	while (row.done !== true || sum.done !== true) {
		const order =
			row.done === true
				? 1
				: sum.done === true
					? -1
					: compareIds(row.value.from, sum.value.from);
		const from = (order <= 0 ? row.value : sum.value).from as Id;
		batch.push({
			from,
			count: order <= 0 ? row.value.count : 0,
			lastSequence: order <= 0 ? row.value.lastSequence : 0,
			edges: order >= 0 ? sum.value.edges : 0,
			top: order >= 0 ? sum.value.top : 0,
		});
		if (order <= 0) row = await rows.next();
		if (order >= 0) sum = await sums.next();
		if (batch.length === BATCH) {
			yield batch;
			batch = [];
		}
	}
	if (batch.length > 0) yield batch;
}

/** Lists counted anew, page by page; a list that changes meanwhile is counted again by whoever asks again. */
export async function recountLists(
	storage: Storage,
	mapping: Mapping,
	froms: readonly Id[],
): Promise<readonly CountedList[]> {
	const counted: CountedList[] = [];
	for (const from of froms) {
		let edges = 0;
		let top = 0;
		let after: Position | undefined;
		for (;;) {
			const [page] = valuesOrThrow(
				await storage.scanLists([
					{
						mapping,
						from,
						backward: false,
						limit: BATCH,
						...(after !== undefined && { after }),
					},
				]),
			);
			if (page === undefined) break;
			edges += page.edges.length;
			for (const edge of page.edges) top = Math.max(top, edge.sequence);
			after = page.edges.at(-1);
			if (page.edges.length < BATCH) {
				const { count, lastSequence } = page.list;
				counted.push({ from, count, lastSequence, edges, top });
				break;
			}
		}
	}
	return counted;
}

async function* sumsOf(
	edges: AsyncIterable<Edge>,
): AsyncGenerator<Pick<CountedList, "from" | "edges" | "top">> {
	let from: Id | null = null;
	let count = 0;
	let top = 0;
	for await (const edge of edges) {
		if (edge.from !== from) {
			if (from !== null) yield { from, edges: count, top };
			from = edge.from;
			count = 0;
			top = 0;
		}
		if (edge.state !== PRESENT) continue;
		count++;
		top = Math.max(top, edge.sequence);
	}
	if (from !== null) yield { from, edges: count, top };
}

async function* flat<T>(
	batches: AsyncIterable<readonly T[]>,
): AsyncGenerator<T> {
	for await (const batch of batches) yield* batch;
}

/** As the numbers they are. */
function compareIds(a: Id, b: Id): number {
	if (a.length !== b.length) return a.length - b.length;
	return a === b ? 0 : a < b ? -1 : 1;
}
