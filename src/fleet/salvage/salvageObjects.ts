import { isDeepStrictEqual } from "node:util";
import { readUncachedObjects } from "../../graph/store/readUncached.ts";
import type { Store } from "../../graph/store/store.ts";
import { WritePipeline } from "../../graph/write/pipeline.ts";
import { type Id, unpackId } from "../../id/ids.ts";
import { DECISIVE } from "../../trace.ts";
import type { JsonObject } from "../../util/json.ts";
import type { Conflict, Decision, Outcome } from "./conflicts.ts";
import type { LostObject } from "./lostRows.ts";

/** Objects of one transaction. */
const OBJECTS = 100;

export interface SalvageOptions {
	readonly store: Store;
	/** Whether the greater version wins if both sides were changed. */
	readonly newer: boolean;
	readonly isDryRun: boolean;
	readonly signal: AbortSignal;
}

/**
 * Brings lost objects back: one that is absent is inserted under its own id, which
 * nobody has, since local ids were raised; one that nobody changed since gets
 * its lost content. One that was changed on both sides is a conflict.
 */
export async function salvageObjects(
	options: SalvageOptions,
	lost: readonly LostObject[],
): Promise<Outcome & { readonly inserted: ReadonlySet<Id> }> {
	const conflicts: Conflict[] = [];
	const inserted = new Set<Id>();
	let back = 0;
	for (const some of inTransactions(lost)) {
		options.signal.throwIfAborted();
		const current = await readUncachedObjects(
			options.store,
			some.map(({ id }) => id),
			DECISIVE,
		);
		const of = ({ id }: LostObject) => current.get(id) ?? null;
		const decided = options.isDryRun
			? some.map((each) => decide(each, of(each), options.newer))
			: await write(options, some, of);
		for (const [at, each] of some.entries()) {
			const decision = decided[at];
			if (decision === "bring back") back++;
			if (decision === "bring back" && of(each) === null) inserted.add(each.id);
			if (isConflict(each, of(each), decision)) {
				conflicts.push(conflictOf(each, of(each), decision));
			}
		}
	}
	return {
		lost: lost.length,
		back,
		there:
			lost.length -
			back -
			conflicts.filter(({ kept }) => kept === "current").length,
		conflicts,
		inserted,
	};
}

/** All of one shard, in one transaction. What exists is decided under its lock. */
async function write(
	{ store, newer }: SalvageOptions,
	some: readonly LostObject[],
	of: (object: LostObject) => JsonObject | null,
): Promise<readonly Decision[]> {
	const [{ id: first }] = some as readonly [LostObject];
	const absent = some.filter(
		(each) => decide(each, of(each), newer) === "bring back" && !of(each),
	);
	const { result } = await new WritePipeline(store).transact<
		readonly Decision[]
	>({
		shard: unpackId(first).shard,
		// The absent ones too: a process that asked for them in vain may ask again.
		objects: some.map(({ id }) => id),
		creates: absent.map(({ id, type, after }) => ({
			type: type.name,
			data: after as JsonObject,
			local: unpackId(id).local,
		})),
		decide({ objects }) {
			const decisions = some.map((each, at): Decision => {
				if (absent.includes(each)) return "bring back";
				return decide(each, objects[at] ?? null, newer);
			});
			return {
				result: decisions,
				objects: some.flatMap(({ id, after }, at) =>
					decisions[at] === "bring back" && after !== null && objects[at]
						? [{ id, data: after }]
						: [],
				),
			};
		},
	});
	return result;
}

function decide(
	{ before, after }: LostObject,
	current: JsonObject | null,
	newer: boolean,
): Decision {
	if (after === null) return current === null ? "there" : "conflict";
	if (current === null) return before === null ? "bring back" : "conflict";
	if (isSame(current, after)) return "there";
	if (before !== null && isSame(current, before)) return "bring back";
	return newer && versionOf(after) > versionOf(current)
		? "bring back"
		: "conflict";
}

/** Even if the lost side wins over another. */
function isConflict(
	{ before }: LostObject,
	current: JsonObject | null,
	decision: Decision | undefined,
): boolean {
	if (decision !== "bring back") return decision === "conflict";
	return current !== null && (before === null || !isSame(current, before));
}

function conflictOf(
	{ id, type, before, after, gtid, at }: LostObject,
	current: JsonObject | null,
	decision: Decision | undefined,
): Conflict {
	return {
		kind: "object",
		type: type.name,
		id,
		base: before,
		lost: after,
		current,
		kept: decision === "bring back" ? "lost" : "current",
		gtid,
		at: new Date(at).toISOString(),
	};
}

/** The fence of natural keys changes without a change of the object. */
function isSame(one: JsonObject, other: JsonObject): boolean {
	const { fence: _, ...content } = one;
	const { fence: __, ...others } = other;
	return isDeepStrictEqual(content, others);
}

function versionOf({ version }: JsonObject): number {
	return typeof version === "number" ? version : 0;
}

function inTransactions(
	lost: readonly LostObject[],
): readonly (readonly LostObject[])[] {
	const byShard = Map.groupBy(lost, ({ id }) => unpackId(id).shard);
	return [...byShard.values()].flatMap((all) =>
		Array.from({ length: Math.ceil(all.length / OBJECTS) }, (_, nth) =>
			all.slice(nth * OBJECTS, (nth + 1) * OBJECTS),
		),
	);
}
