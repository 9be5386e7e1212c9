import { compareIds, type Id, unpackId } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import { shardInIds } from "../../storage/feedShards.ts";
import { listName } from "../../storage/keys.ts";
import { isStoredNumber } from "../../storage/order.ts";
import { isEpoch } from "../../storage/renumbering.ts";
import {
	type Edge,
	type ListCount,
	type ListKey,
	PRESENT,
} from "../../storage/rows.ts";
import type { Storage } from "../../storage/storage.ts";
import type { Damage } from "./damage.ts";
import { placeOfList } from "./places.ts";
import { type Reader, UNREAD } from "./reader.ts";
import { repairListCount } from "./repair/repairList.ts";

const BATCH = 1_000;

/** Counts lists, each with its row in one statement, so that writes under way are never seen by half. */
export async function checkCounts(
	reader: Reader,
	lists: readonly ListKey[],
): Promise<readonly Damage[]> {
	const counted = await reader.counts(lists);
	return lists.flatMap(({ mapping }, at): readonly Damage[] => {
		const list = counted[at];
		if (list === undefined || list === UNREAD) return [];
		const found = damageOf(mapping, list);
		if (found === null) return [];
		const { from } = list;
		return [
			{
				...found,
				subject: listSubject({ mapping, from }),
				...placeOfList(mapping, from),
				evidence: found.kind,
				topics: [],
				repair: () => repairListCount(reader.store, { mapping, from }),
			},
		];
	});
}

/** The lists that have to be counted, of those that were walked, with their rows, edges and renumberings read at different times. */
export async function suspectLists(
	reader: Reader,
	mapping: Mapping,
	lists: readonly ListCount[],
): Promise<readonly ListKey[]> {
	// Only lists whose edges are moved by hand are ever renumbered.
	const renumbered =
		mapping.order === "POSITION"
			? await reader.renumberings(
					lists.map(({ from, epoch }) => ({ mapping, from, since: epoch })),
				)
			: [];
	return lists
		.filter(
			(list, at) =>
				damageOf(mapping, list) !== null || (renumbered[at]?.length ?? 0) > 0,
		)
		.map(({ from }) => ({ mapping, from }));
}

/** The row or the edges of a list on another shard than its own. No request reads them. */
export function misplacedList(
	mapping: Mapping,
	{ from, count }: ListCount,
	shard: number,
): Damage | null {
	const own = unpackId(from).shard;
	if (own === shardInIds(shard)) return null;
	return {
		kind: "misplaced row",
		subject: listSubject({ mapping, from }),
		description: `${mapping.name} of ${from}: count ${count}; the list belongs to shard ${own}`,
		...placeOfList(mapping, from, shard),
		evidence: "",
		topics: [],
	};
}

export function listSubject({ mapping, from }: ListKey): string {
	return `list ${listName(mapping, from)}`;
}

function damageOf(
	{ name }: Mapping,
	{ from, count, lastSequence, epoch, newestEpoch, edges, highest }: ListCount,
): Pick<Damage, "kind" | "description"> | null {
	const list = `${name} of ${from}`;
	if (!isStoredNumber(lastSequence) || !isEpoch(epoch)) {
		return {
			kind: "wrong list number",
			description: `${list}: last sequence ${lastSequence}, epoch ${epoch}`,
		};
	}
	if (epoch !== newestEpoch) {
		const last = newestEpoch === 0 ? "none" : `one of epoch ${newestEpoch}`;
		return {
			kind: "wrong epoch",
			description: `${list}: epoch ${epoch}, but its last renumbering is ${last}`,
		};
	}
	if (count !== edges) {
		return {
			kind: "wrong count",
			description: `${list}: count ${count}, but ${edges} edges`,
		};
	}
	// An edge whose sequence does not exist is reported and repaired as such.
	if (lastSequence >= highest || !isStoredNumber(highest)) return null;
	return {
		kind: "last sequence too low",
		description: `${list}: last sequence ${lastSequence}, but an edge at ${highest}`,
	};
}

/** All lists of a shard, in batches. Walks rows and edges side by side; both are in order of their owner's id. */
export async function* walkCounts(
	storage: Storage,
	shard: number,
	mapping: Mapping,
): AsyncGenerator<readonly ListCount[]> {
	const rows = flat(storage.walk("lists", shard, mapping));
	const sums = sumsOf(flat(storage.walk("edges", shard, mapping)));
	let row = await rows.next();
	let sum = await sums.next();
	let batch: ListCount[] = [];
	while (row.done !== true || sum.done !== true) {
		const order =
			row.done === true
				? 1
				: sum.done === true
					? -1
					: compareIds(row.value.from, sum.value.from);
		const from = (order <= 0 ? row.value : sum.value).from as Id;
		batch.push({
			...(order <= 0 ? row.value : { count: 0, lastSequence: 0, epoch: 0 }),
			from,
			// Which renumbering is the newest is read for those with an epoch.
			newestEpoch: 0,
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

async function* sumsOf(
	edges: AsyncIterable<Edge>,
): AsyncGenerator<Pick<ListCount, "from" | "edges" | "highest">> {
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
