import { valuesOrThrow } from "../../graph/store/readUncached.ts";
import type { Store } from "../../graph/store/store.ts";
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

/** The row of a list, and the count and highest sequence of its edges. */
export interface CountedList {
	readonly from: Id;
	readonly count: number;
	readonly lastSequence: number;
	/** Number of present edges. */
	readonly edges: number;
	/** The highest sequence of a present edge. */
	readonly highest: number;
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
			topics: [],
			repair: () => repairListCount(store, { mapping, from }),
		};
		const name = `${mapping.name} of ${from}`;
		if (list.count !== list.edges) {
			const description = `${name}: count ${list.count}, but ${list.edges} edges`;
			return [{ kind: "wrong count", description, ...damage }];
		}
		if (list.lastSequence >= list.highest) return [];
		const description = `${name}: last sequence ${list.lastSequence}, but an edge at ${list.highest}`;
		return [{ kind: "last sequence too low", description, ...damage }];
	});
}

/** All lists of a shard, in batches. Walks rows and edges side by side; both are in order of their owner's id. */
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
			highest: order >= 0 ? sum.value.highest : 0,
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

/** Counts the edges of lists again, page by page. The count of a list that changes meanwhile may be wrong; the caller counts again. */
export async function recountLists(
	storage: Storage,
	mapping: Mapping,
	froms: readonly Id[],
): Promise<readonly CountedList[]> {
	const counted: CountedList[] = [];
	for (const from of froms) {
		let edges = 0;
		let highest = 0;
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
			for (const edge of page.edges) highest = Math.max(highest, edge.sequence);
			after = page.edges.at(-1);
			if (page.edges.length < BATCH) {
				const { count, lastSequence } = page.list;
				counted.push({ from, count, lastSequence, edges, highest });
				break;
			}
		}
	}
	return counted;
}

async function* sumsOf(
	edges: AsyncIterable<Edge>,
): AsyncGenerator<Pick<CountedList, "from" | "edges" | "highest">> {
	let from: Id | null = null;
	let count = 0;
	let highest = 0;
	for await (const edge of edges) {
		if (edge.from !== from) {
			if (from !== null) yield { from, edges: count, highest };
			from = edge.from;
			count = 0;
			highest = 0;
		}
		if (edge.state !== PRESENT) continue;
		count++;
		highest = Math.max(highest, edge.sequence);
	}
	if (from !== null) yield { from, edges: count, highest };
}

async function* flat<T>(
	batches: AsyncIterable<readonly T[]>,
): AsyncGenerator<T> {
	for await (const batch of batches) yield* batch;
}

/** Numeric order. */
function compareIds(a: Id, b: Id): number {
	if (a.length !== b.length) return a.length - b.length;
	return a === b ? 0 : a < b ? -1 : 1;
}
