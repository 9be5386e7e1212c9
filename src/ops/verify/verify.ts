import {
	setImmediate as nextTurn,
	setTimeout as sleep,
} from "node:timers/promises";
import { deliverPending } from "../../graph/outbox/deliverPending.ts";
import { renamePatienceOf } from "../../graph/outbox/outboxWorker.ts";
import { valuesOrThrow } from "../../graph/store/readUncached.ts";
import type { Store } from "../../graph/store/store.ts";
import { WritePipeline } from "../../graph/write/pipeline.ts";
import type { Id } from "../../id/ids.ts";
import type { Edge, LookupRow } from "../../storage/storage.ts";
import {
	type CountedList,
	checkCounts,
	recountLists,
	walkCounts,
} from "./checkCounts.ts";
import { checkEdges } from "./checkEdges.ts";
import { checkLookups } from "./checkLookups.ts";
import { checkObjects } from "./checkObjects.ts";
import { type Damage, DamageReport, type DamageSummary } from "./damage.ts";
import { type PendingEntries, readPendingEntries } from "./pendingEntries.ts";
import {
	parseContent,
	readContents,
	type StoredContent,
} from "./storedContent.ts";

export interface VerifyOptions {
	/** Repair what can be repaired, then verify again. */
	readonly repair?: boolean;
	readonly signal?: AbortSignal;
	readonly onProgress?: (checked: Checked) => void;
}

/** Numbers of rows that were checked. */
export interface Checked {
	readonly objects: number;
	readonly edges: number;
	readonly lists: number;
	readonly lookups: number;
}

export interface VerifyReport {
	/** Whether there is no damage, or none after the repair. Pending outbox entries are no damage. */
	readonly clean: boolean;
	readonly status: "finished" | "aborted";
	readonly checked: Checked;
	/** Outbox entries that are not delivered yet. */
	readonly pendingEntries: number;
	/** The damage before any repair. */
	readonly damage: readonly DamageSummary[];
	readonly repaired: number;
	/** The first few repairs that failed, each as a sentence. */
	readonly failedRepairs: readonly string[];
	/** The damage that remains; without `repair`, all of it. */
	readonly remaining: readonly DamageSummary[];
}

/** A repair may reveal further damage: an object that becomes active is missing from its lists. */
const ROUNDS = 3;
/** Damage is reported if it is found this many times in a row: a write may be between its commit and its delivery. */
const CHECKS = 3;
const BETWEEN_CHECKS_MS = 50;
const PROGRESS_MS = 500;
/** Of failed repairs that are reported. */
const MAX_FAILED_REPAIRS = 20;

/**
 * Walks the whole graph and compares everything that is stored twice: edges
 * with their inverse edges, lists with their counts, references with lists,
 * objects with lookups (docs/consistency.md, "1. Lists and counts" to
 * "4. Reservations"). Reads in batches, so that memory stays bounded by the keys
 * of pending outbox entries. This is not a snapshot: damage that a pending entry
 * explains, or that a second check does not find, is a write under way.
 */
export async function verify(
	store: Store,
	options: VerifyOptions = {},
): Promise<VerifyReport> {
	const progress: RepairProgress | null =
		options.repair === true ? { repaired: 0, failures: [] } : null;
	if (progress !== null) {
		const writer = new WritePipeline(store);
		await deliverPending(writer, renamePatienceOf(writer));
	}
	const first = await verifyOnce(store, options, progress);
	let last = first;
	for (let round = 0; progress !== null && round < ROUNDS; round++) {
		if (last.damage.length === 0 || last.isAborted) break;
		const isLastRound = round === ROUNDS - 1;
		last = await verifyOnce(store, options, isLastRound ? null : progress);
	}
	return {
		clean: last.damage.length === 0 && !last.isAborted,
		status: last.isAborted ? "aborted" : "finished",
		checked: first.checked,
		pendingEntries: last.pending.count,
		damage: first.damage,
		repaired: progress?.repaired ?? 0,
		failedRepairs: progress?.failures ?? [],
		remaining: last.damage,
	};
}

interface RepairProgress {
	repaired: number;
	readonly failures: string[];
}

interface PassResult {
	readonly damage: readonly DamageSummary[];
	readonly checked: Checked;
	readonly pending: PendingEntries;
	readonly isAborted: boolean;
}

/** One pass. Repairs need this order: lookups before the objects that have the keys, edges before their counts. */
async function verifyOnce(
	store: Store,
	options: VerifyOptions,
	progress: RepairProgress | null,
): Promise<PassResult> {
	const { model, storage } = store;
	const damage = new DamageReport();
	const checked = { objects: 0, edges: 0, lists: 0, lookups: 0 };
	let pending = await readPendingEntries(store);
	let isAborted = false;
	let reportedAt = performance.now();

	/** Counts checked rows. Returns false once the signal is aborted. */
	async function walked(what: keyof Checked, count: number): Promise<boolean> {
		checked[what] += count;
		if (performance.now() - reportedAt >= PROGRESS_MS) {
			reportedAt = performance.now();
			options.onProgress?.({ ...checked });
		}
		await nextTurn();
		isAborted = options.signal?.aborted === true;
		return !isAborted;
	}

	/** `check` uses the rows of the walk the first time, and reads them again each further time. */
	async function report(
		check: (time: number) => Promise<readonly Damage[]>,
	): Promise<void> {
		let damages = await check(0);
		for (let time = 1; damages.length > 0 && time < CHECKS; time++) {
			if (damages.every(isExplained)) return;
			await sleep(BETWEEN_CHECKS_MS);
			pending = await readPendingEntries(store);
			damages = await check(time);
		}
		for (const found of damages) {
			if (isExplained(found)) continue;
			damage.add(found);
			if (progress !== null) await repairDamage(found, progress);
		}
	}

	function isExplained({ topics }: Damage): boolean {
		return topics.some((topic) => pending.topics.has(topic));
	}

	async function lookups(): Promise<void> {
		for (let shard = 0; shard < storage.modShards; shard++) {
			for await (const rows of storage.walkLookups(shard)) {
				await report(async (time) =>
					checkLookups(store, time === 0 ? rows : await again(rows)),
				);
				if (!(await walked("lookups", rows.length))) return;
			}
		}
	}

	async function again(
		rows: readonly LookupRow[],
	): Promise<readonly LookupRow[]> {
		return valuesOrThrow(await storage.readLookups(rows)).filter(
			(row) => row !== null,
		);
	}

	async function objects(): Promise<void> {
		for (const shard of storage.shards) {
			for (const type of model.objects.values()) {
				for await (const rows of storage.walkObjects(shard, type.name)) {
					const ids = rows.map(({ id }) => id);
					const first: ReadonlyMap<Id, StoredContent> = new Map(
						rows.map(({ id, data }) => [id, parseContent(data)]),
					);
					await report(async (time) =>
						checkObjects(
							store,
							type,
							time === 0 ? first : await readContents(storage, ids),
						),
					);
					if (!(await walked("objects", rows.length))) return;
				}
			}
		}
	}

	async function edges(): Promise<void> {
		for (const shard of storage.shards) {
			for (const mapping of model.mappings.values()) {
				for await (const rows of storage.walkEdges(shard, mapping)) {
					const keys = rows.map(({ from, to }) => ({ mapping, from, to }));
					const reread = async (): Promise<readonly Edge[]> =>
						valuesOrThrow(await storage.readEdges(keys)).filter(
							(edge) => edge !== null,
						);
					await report(async (time) =>
						checkEdges(store, mapping, time === 0 ? rows : await reread()),
					);
					if (!(await walked("edges", rows.length))) return;
				}
			}
		}
	}

	async function lists(): Promise<void> {
		for (const shard of storage.shards) {
			for (const mapping of model.mappings.values()) {
				for await (const counted of walkCounts(storage, shard, mapping)) {
					let suspects: readonly CountedList[] = counted;
					await report(async (time) => {
						if (time > 0) {
							const froms = suspects.map(({ from }) => from);
							suspects = await recountLists(storage, mapping, froms);
						}
						suspects = suspects.filter(
							(list) => checkCounts(store, mapping, [list]).length > 0,
						);
						return checkCounts(store, mapping, suspects);
					});
					if (!(await walked("lists", counted.length))) return;
				}
			}
		}
	}

	for (const phase of [lookups, objects, edges, lists]) {
		if (!isAborted) await phase();
	}
	options.onProgress?.({ ...checked });
	return { damage: damage.list(), checked, pending, isAborted };
}

async function repairDamage(
	{ description, repair }: Damage,
	progress: RepairProgress,
): Promise<void> {
	if (repair === undefined) return;
	try {
		await repair();
		progress.repaired++;
	} catch (thrown) {
		if (progress.failures.length >= MAX_FAILED_REPAIRS) return;
		const reason = thrown instanceof Error ? thrown.message : String(thrown);
		progress.failures.push(`${description}: ${reason}`);
	}
}
