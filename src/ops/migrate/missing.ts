import { CorkboardError } from "../../errors.ts";
import type { Store } from "../../graph/store/store.ts";
import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import { PRESENT } from "../../storage/rows.ts";
import { formatNumber } from "../../util/format.ts";
import { DELETED, readToken } from "../import/revision.ts";
import { IMPORT_LOOKUP } from "../lookups.ts";
import { edgeKey, nameOfKey, partsOfKey } from "./keys.ts";
import type { RowLine, TablePlan } from "./plan.ts";
import type { Source } from "./sources/source.ts";

interface MissingLine {
	readonly key: string;
	readonly text: string;
}

/** So few are deleted however many there are. */
const FEW = 100;
/** The share of what was migrated that may be gone at once. */
const MOST = 0.1;

/** What all rows of a table say, by the keys of their objects or edges. */
export interface SeenRows {
	/** What a row makes. */
	readonly made: Set<string>;
	/** What a row is there for that is marked as deleted. Of an edge another row may make it. */
	readonly deleted: Set<string>;
}

/**
 * Lines that delete what was migrated, and is gone in the old database: objects
 * whose row is not there, and edges that a full pass did not see. Null if it is
 * interrupted. Refuses to delete much of a graph: then the mapping or the source is
 * a wrong one.
 *
 * Keeps the keys of all objects and edges of the old database in memory.
 */
export async function findMissing(
	store: Store,
	{
		plans,
		source,
		seen,
		isRead,
		deleteMany,
		signal,
	}: {
		readonly plans: readonly TablePlan[];
		readonly source: Source;
		/** The rows of the tables that were read to the end; the source is asked about the others. */
		readonly seen: ReadonlyMap<TablePlan, SeenRows>;
		/** Whether rows are looked for that are gone. */
		readonly isRead: (plan: TablePlan) => boolean;
		readonly deleteMany: boolean;
		readonly signal?: AbortSignal | undefined;
	},
): Promise<readonly MissingLine[] | null> {
	const missing: MissingLine[] = [];
	const keysById = new Map<Id, string>();
	const objects = plans.filter(({ kind }) => kind === "object");
	for (let shard = 0; shard < store.storage.map.modShards; shard++) {
		for await (const rows of store.storage.walk("lookups", shard)) {
			const keys = new Map<TablePlan, string[]>();
			for (const { name, key, id, token } of rows) {
				if (name !== IMPORT_LOOKUP) continue;
				const type = nameOfKey(key);
				const plan = objects.find(({ name }) => name === type);
				if (plan === undefined) continue;
				keysById.set(id, key);
				if (!isRead(plan) || readToken(token).rev === DELETED) continue;
				const own = seen.get(plan);
				if (own?.made.has(key) || own?.deleted.has(key)) continue;
				const some = keys.get(plan) ?? [];
				keys.set(plan, some);
				some.push(key);
			}
			for (const [plan, some] of keys) {
				if (signal?.aborted) return null;
				const there = await keysThere(plan, source, some);
				for (const key of some) {
					if (there.has(key)) continue;
					const line = { type: plan.name, key, deleted: true };
					missing.push({ key, text: JSON.stringify(line) });
				}
			}
		}
	}
	let edges = 0;
	// Rows say of these that they are deleted: no mapping or source is wrong then.
	let marked = 0;
	for (const plan of plans) {
		if (plan.mapping === null || !isRead(plan)) continue;
		const known = seen.get(plan) ?? (await edgesThere(plan, source, signal));
		for await (const { from, to } of presentEdges(store, plan.mapping)) {
			if (signal?.aborted) return null;
			const [fromKey, toKey] = [keysById.get(from), keysById.get(to)];
			// An object that was created here.
			if (fromKey === undefined || toKey === undefined) continue;
			edges++;
			const key = edgeKey(plan.name, fromKey, toKey);
			if (known.made.has(key)) continue;
			if (known.deleted.has(key)) marked++;
			const ends = { edge: plan.name, from: fromKey, to: toKey };
			missing.push({ key, text: JSON.stringify({ ...ends, deleted: true }) });
		}
	}
	const all = keysById.size + edges;
	const gone = missing.length - marked;
	if (!deleteMany && gone > Math.max(FEW, all * MOST)) {
		throw new CorkboardError(
			"BAD_DATA",
			`${formatNumber(gone)} of ${formatNumber(all)} objects and edges that were migrated are gone in ${source.shownUrl}: nothing was deleted. Are the database and the mapping the right ones? If so, run again with --delete-many.`,
		);
	}
	return missing;
}

/** The keys of one type whose row is there. A row that is marked as deleted is there. */
async function keysThere(
	plan: TablePlan,
	source: Source,
	keys: readonly string[],
): Promise<ReadonlySet<string>> {
	const rows = await source.rowsOf(
		plan,
		keys.map((key) => partsOfKey(plan.key, key)),
	);
	return new Set(rows.flatMap((row) => plan.lineOf(row)?.key ?? []));
}

async function edgesThere(
	plan: TablePlan,
	source: Source,
	signal: AbortSignal | undefined,
): Promise<SeenRows> {
	const seen: SeenRows = { made: new Set(), deleted: new Set() };
	for await (const page of source.scan(plan, {})) {
		if (signal?.aborted) break;
		for (const { row } of page) {
			const line = plan.lineOf(row);
			if (line !== null) see(seen, line);
		}
	}
	return seen;
}

export function see(seen: SeenRows, { key, isDeleted }: RowLine): void {
	(isDeleted ? seen.deleted : seen.made).add(key);
}

async function* presentEdges({ storage }: Store, mapping: Mapping) {
	const { map } = storage;
	const places = new Set(
		map.shards.map((shard) => map.shardOfLists(mapping, shard)),
	);
	for (const shard of places) {
		for await (const rows of storage.walk("edges", shard, mapping)) {
			for (const edge of rows) if (edge.state === PRESENT) yield edge;
		}
	}
}
