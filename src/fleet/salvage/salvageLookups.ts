import { CorkboardError } from "../../errors.ts";
import { reservationsOf } from "../../graph/outbox/parts/naturalKeys.ts";
import {
	isReserved,
	reserveKeys,
} from "../../graph/outbox/parts/reservations.ts";
import { isUnchanged } from "../../graph/outbox/unchanged.ts";
import {
	readDecisive,
	readUncachedObjects,
	valuesOrThrow,
} from "../../graph/store/readUncached.ts";
import { WritePipeline } from "../../graph/write/pipeline.ts";
import type { LookupRow } from "../../storage/rows.ts";
import { DECISIVE } from "../../trace.ts";
import type { Conflict, Decision, Outcome } from "./conflicts.ts";
import type { LookupValue, LostLookup, LostObject } from "./lostRows.ts";
import type { SalvageOptions } from "./salvageObjects.ts";

const LOOKUPS = 500;

/** Brings lost lookups back by compare-and-set: one that leads elsewhere by now is a conflict. */
export async function salvageLookups(
	{ store, isDryRun, signal }: SalvageOptions,
	lost: readonly LostLookup[],
): Promise<Outcome> {
	const conflicts: Conflict[] = [];
	let back = 0;
	for (let first = 0; first < lost.length; first += LOOKUPS) {
		signal.throwIfAborted();
		const some = lost.slice(first, first + LOOKUPS);
		const current = await readDecisive(store.storage, "lookups", some);
		const decisions = some.map((each, at) => decide(each, current[at] ?? null));
		const wanted = some.filter((_, at) => decisions[at] === "bring back");
		const rows = isDryRun
			? wanted.map(({ after }) => after)
			: valuesOrThrow(
					wanted.length === 0
						? []
						: await new WritePipeline(store).compareAndSetLookups(
								wanted.map(({ name, key, before, after }) => ({
									name,
									key,
									expect: before,
									next: after,
								})),
							),
				);
		const overtaken = new Map<LostLookup, LookupRow | LookupValue | null>();
		for (const [at, each] of wanted.entries()) {
			const row = rows[at] ?? null;
			if (isSame(row, each.after)) back++;
			else overtaken.set(each, row);
		}
		for (const [at, each] of some.entries()) {
			if (decisions[at] !== "conflict" && !overtaken.has(each)) continue;
			conflicts.push(
				conflictOf(each, overtaken.get(each) ?? current[at] ?? null),
			);
		}
	}
	return {
		lost: lost.length,
		back,
		there: lost.length - back - conflicts.length,
		conflicts,
	};
}

function decide(
	{ before, after }: LostLookup,
	current: LookupRow | null,
): Decision {
	if (isSame(current, after)) return "there";
	return isSame(current, before) ? "bring back" : "conflict";
}

function isSame(one: LookupValue | null, other: LookupValue | null): boolean {
	if (one === null || other === null) return one === other;
	return one.id === other.id && one.token === other.token;
}

function conflictOf(
	{ name, key, before, after, gtid, at }: LostLookup,
	current: LookupValue | null,
): Conflict {
	const { id, token } = current ?? {};
	return {
		kind: "lookup",
		name,
		key,
		base: before,
		lost: after,
		current: id === undefined || token === undefined ? null : { id, token },
		kept: "current",
		gtid,
		at: new Date(at).toISOString(),
	};
}

/**
 * Reserves the natural keys of objects that are back. Their rows are on mod shards
 * of any host, which did not lose them: but as long as the object was absent,
 * anybody could take its key. An object without its key is left to `verify`,
 * which gives it another.
 */
export async function reserveKeysOf(
	{ store }: SalvageOptions,
	objects: readonly LostObject[],
): Promise<readonly Conflict[]> {
	const named = objects.filter(({ type }) => type.lookups.length > 0);
	const conflicts: Conflict[] = [];
	for (let first = 0; first < named.length; first += LOOKUPS) {
		const some = named.slice(first, first + LOOKUPS);
		const contents = await readUncachedObjects(
			store,
			some.map(({ id }) => id),
			DECISIVE,
		);
		const wanted = some.flatMap((object) => {
			const data = contents.get(object.id) ?? null;
			// One that waits for its keys gets them by its outbox entry.
			if (data === null || data.state !== undefined) return [];
			return reservationsOf(store, object.id, data).map((reservation) => ({
				object,
				reservation,
			}));
		});
		const rows = await reserveKeys(
			new WritePipeline(store),
			wanted.map(({ reservation }) => reservation),
		);
		for (const [at, { object, reservation }] of wanted.entries()) {
			const row = rows[at] ?? null;
			if (isReserved(row, reservation)) continue;
			if (row instanceof CorkboardError && !isUnchanged(row)) throw row;
			const { name, key, id, token } = reservation;
			conflicts.push(
				conflictOf(
					{
						name,
						key,
						modShard: 0,
						before: null,
						after: { id, token },
						gtid: object.gtid,
						at: object.at,
					},
					row instanceof CorkboardError ? null : row,
				),
			);
		}
	}
	return conflicts;
}
