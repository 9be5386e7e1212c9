import {
	setImmediate as nextTurn,
	setTimeout as sleep,
} from "node:timers/promises";
import {
	deliverPending,
	gracePeriodOf,
} from "../../graph/outbox/outboxWorker.ts";
import type { Store } from "../../graph/store/store.ts";
import { valuesOrThrow } from "../../graph/store/unwrap.ts";
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
	/** Mend what can be mended, then verify again. */
	readonly repair?: boolean;
	readonly signal?: AbortSignal;
	readonly onProgress?: (checked: Checked) => void;
}

/** How much was looked at. */
export interface Checked {
	readonly objects: number;
	readonly edges: number;
	readonly lists: number;
	readonly lookups: number;
}

export interface VerifyReport {
	/** Whether nothing is wrong (any more). What is merely owed is not wrong. */
	readonly clean: boolean;
	readonly outcome: "finished" | "aborted";
	readonly checked: Checked;
	/** Outbox entries that are not delivered yet. */
	readonly pendingEntries: number;
	/** What was wrong before anything was mended. */
	readonly damage: readonly DamageSummary[];
	readonly repaired: number;
	/** Mends that failed, each as a sentence; the first few. */
	readonly failedRepairs: readonly string[];
	/** What is wrong now; without `repair`, what was found. */
	readonly remaining: readonly DamageSummary[];
}

/** A mend may bring to light what it hid: an object that comes to life is missing from its lists. */
const ROUNDS = 3;
/** What looks wrong is looked at so many times before it is: a write may be between its commit and its payments. */
const LOOKS = 3;
const BETWEEN_LOOKS_MS = 50;
const PROGRESS_MS = 500;
const UNMENDED = 20;

/**
 * Walk the whole graph and hold every fact against what else tells it
 * (PROTOCOLS §1, "verify compares state, sequence and version"). Memory is
 * bounded: everything goes in batches. Not a snapshot: on a graph that is
 * being written to, what a debt explains, or is gone at a second look, is no
 * damage.
 */
export async function verify(
	store: Store,
	options: VerifyOptions = {},
): Promise<VerifyReport> {
	const mending: RepairProgress | null =
		options.repair === true ? { mended: 0, unmended: [] } : null;
	if (mending !== null) {
		const writer = new WritePipeline(store);
		await deliverPending(writer, gracePeriodOf(writer));
	}
	const first = await walkAll(store, options, mending);
	let last = first;
	for (let round = 0; mending !== null && round < ROUNDS; round++) {
		if (last.findings.length === 0 || last.isAborted) break;
		const isLastRound = round === ROUNDS - 1;
		last = await walkAll(store, options, isLastRound ? null : mending);
	}
	return {
		clean: last.findings.length === 0 && !last.isAborted,
		outcome: last.isAborted ? "aborted" : "finished",
		checked: first.checked,
		pendingEntries: last.owed.count,
		damage: first.findings,
		repaired: mending?.mended ?? 0,
		failedRepairs: mending?.unmended ?? [],
		remaining: last.findings,
	};
}

interface RepairProgress {
	mended: number;
	readonly unmended: string[];
}

interface Walked {
	readonly findings: readonly DamageSummary[];
	readonly checked: Checked;
	readonly owed: PendingEntries;
	readonly isAborted: boolean;
}

/** One walk. Lookups come before the objects that claim them, edges before the counts of them: mends need that order. */
async function walkAll(
	store: Store,
	options: VerifyOptions,
	mending: RepairProgress | null,
): Promise<Walked> {
	const { model, storage } = store;
	const findings = new DamageReport();
	const checked = { objects: 0, edges: 0, lists: 0, lookups: 0 };
	let owed = await readPendingEntries(storage);
	let isAborted = false;
	let told = performance.now();

	/** Whether to go on. */
	async function walked(what: keyof Checked, count: number): Promise<boolean> {
		checked[what] += count;
		if (performance.now() - told >= PROGRESS_MS) {
			told = performance.now();
			options.onProgress?.({ ...checked });
		}
		await nextTurn();
		isAborted = options.signal?.aborted === true;
		return !isAborted;
	}

	/** `look` reads everything anew, but for the first time. */
	async function report(
		look: (time: number) => Promise<readonly Damage[]>,
	): Promise<void> {
		let damages = await look(0);
		for (let time = 1; damages.length > 0 && time < LOOKS; time++) {
			if (damages.every(isExplained)) return;
			await sleep(BETWEEN_LOOKS_MS);
			owed = await readPendingEntries(storage);
			damages = await look(time);
		}
		for (const damage of damages) {
			if (isExplained(damage)) continue;
			findings.add(damage);
			if (mending !== null) await repairDamage(damage, mending);
		}
	}

	function isExplained({ about }: Damage): boolean {
		return about.some((name) => owed.keys.has(name));
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
	return { findings: findings.list(), checked, owed, isAborted };
}

async function repairDamage(
	{ what, mend }: Damage,
	mending: RepairProgress,
): Promise<void> {
	if (mend === undefined) return;
	try {
		await mend();
		mending.mended++;
	} catch (thrown) {
		if (mending.unmended.length >= UNMENDED) return;
		const reason = thrown instanceof Error ? thrown.message : String(thrown);
		mending.unmended.push(`${what}: ${reason}`);
	}
}
