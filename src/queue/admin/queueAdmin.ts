import { CorkboardError } from "../../errors.ts";
import { quoted } from "../../util/quoted.ts";
import type { JobAdmin, JobStore, QueueRow } from "../jobStore.ts";
import { DROPPING, isDropping } from "../liveSettings.ts";
import {
	applySettings,
	checkedSettings,
	checkNewQueue,
	newestCopy,
	type QueueSettings,
	settingsOf,
} from "../settings.ts";

/*
 * Queues stand on all shards, which no transaction spans. So what is done to
 * them can be repeated: after a failure in the middle, the same call continues
 * where it stopped.
 */

/** A queue as its shards know it together. */
export interface QueueOnShards {
	readonly name: string;
	/** What the newest copy says. */
	readonly settings: QueueSettings;
	/** Those that differ from the defaults. */
	readonly set: Readonly<Record<string, unknown>>;
	readonly version: number;
	/** `deleting`: `deleteQueue` has begun and has to be called again. */
	readonly state: "active" | "deleting";
	/** Shards without the queue: `createQueue` adds it. */
	readonly missingOn: readonly number[];
	/** Shards with an older copy of the settings, which do not matter while a newer one is read. */
	readonly olderOn: readonly number[];
}

export interface QueueList {
	readonly queues: readonly QueueOnShards[];
	/** Shards that did not answer. */
	readonly failures: ReadonlyMap<number, CorkboardError>;
}

/** All queues, by name. Throws if no shard answers. */
export async function listQueues(
	store: JobStore & JobAdmin,
): Promise<QueueList> {
	const { rows, failures } = await readRows(store);
	const names = [...new Set([...rows.values()].flat().map(({ name }) => name))];
	const queues = names.sort().map((name): QueueOnShards => {
		const copies = [...rows].map(([shard, all]) => ({
			shard,
			row: all.find((row) => row.name === name) ?? null,
		}));
		const newest = newestOf(copies.flatMap(({ row }) => row ?? []));
		const { [DROPPING]: _, ...set } = checkedSettings(newest.settings);
		return {
			name,
			settings: settingsOf(set),
			set,
			version: newest.version,
			state: isDropping(newest) ? "deleting" : "active",
			missingOn: copies.flatMap(({ shard, row }) =>
				row === null ? [shard] : [],
			),
			olderOn: copies.flatMap(({ shard, row }) =>
				row !== null && row.version < newest.version ? [shard] : [],
			),
		};
	});
	return { queues, failures };
}

/** Throws NOT_FOUND, naming a similar queue, or if no shard answers. */
export async function findQueue(
	store: JobStore & JobAdmin,
	name: string,
): Promise<QueueOnShards> {
	const { queues } = await listQueues(store);
	const found = queues.find((queue) => queue.name === name);
	if (found !== undefined) return found;
	const names = queues.map((queue) => queue.name);
	throw new CorkboardError(
		"NOT_FOUND",
		`There is no queue ${quoted(name)}. ${names.length === 0 ? "There are none: queues create makes one." : `Queues: ${names.join(", ")}.`}`,
	);
}

/**
 * Creates a queue on every shard that lacks it. Returns whether any did.
 * Settings are `NAME=VALUE`. Throws BAD_USER_INPUT for a bad name or setting,
 * CONFLICT for a queue that has other settings or is being deleted, and
 * UNAVAILABLE if a shard does not answer: the others have it then.
 */
export async function createQueue(
	store: JobStore & JobAdmin,
	name: string,
	given: readonly string[] = [],
): Promise<boolean> {
	checkNewQueue(name);
	const wanted = applySettings({}, given);
	checkLimits(store, settingsOf(wanted));
	const { rows, failures } = await readRows(store);
	const copies = copiesOf(rows, name);
	const newest = newestCopy(copies);
	if (newest !== null && isDropping(newest)) throw beingDeleted(name);
	if (newest !== null && given.length > 0) {
		const set = checkedSettings(newest.settings);
		const differs = Object.entries(wanted).some(
			([key, value]) => set[key] !== value,
		);
		if (differs) {
			throw new CorkboardError(
				"CONFLICT",
				`Queue ${name} exists with other settings. Change them with queues set.`,
			);
		}
	}
	const row = newest ?? { name, settings: wanted, version: newVersion(null) };
	const lacking = [...rows].flatMap(([shard, all]) =>
		all.some((one) => one.name === name) ? [] : [shard],
	);
	const failed = await onShards(lacking, (shard) => store.put(shard, row));
	throwIncomplete([...failures, ...failed], `Queue ${name} is not created`);
	return lacking.length > 0;
}

export interface SettingsChange {
	readonly before: QueueSettings;
	readonly after: QueueSettings;
	/** Shards that do not have them yet. They are in force all the same: the newest copy is. */
	readonly failures: ReadonlyMap<number, CorkboardError>;
}

/**
 * Changes settings, given as `NAME=VALUE`; workers apply them within a second.
 * Throws BAD_USER_INPUT, NOT_FOUND, CONFLICT for a queue that is being deleted,
 * and UNAVAILABLE if no shard takes them.
 */
export async function changeSettings(
	store: JobStore & JobAdmin,
	name: string,
	given: readonly string[],
	options: { readonly dryRun?: boolean } = {},
): Promise<SettingsChange> {
	const queue = await findQueue(store, name);
	if (queue.state === "deleting") throw beingDeleted(name);
	const { rows, failures } = await readRows(store);
	const newest = newestOf(copiesOf(rows, name));
	const settings = applySettings(newest.settings, given);
	const before = settingsOf(checkedSettings(newest.settings));
	const after = settingsOf(checkedSettings(settings));
	checkLimits(store, after);
	if (options.dryRun === true) return { before, after, failures: new Map() };
	const row = { name, settings, version: newVersion(newest.version) };
	const shards = [...rows].flatMap(([shard, all]) =>
		all.some((one) => one.name === name) ? [shard] : [],
	);
	const failed = await onShards(shards, (shard) => store.put(shard, row));
	if (failed.size === shards.length) {
		throwIncomplete([...failed], `The settings of ${name} are not changed`);
	}
	return { before, after, failures: new Map([...failures, ...failed]) };
}

/**
 * Deletes a queue with its jobs from every shard. First it is marked
 * on each shard, so that none keeps it that answers only later. Throws
 * CONFLICT if jobs are pending or running, unless `force`.
 */
export async function deleteQueue(
	store: JobStore & JobAdmin,
	name: string,
	options: { readonly force?: boolean } = {},
): Promise<void> {
	const queue = await findQueue(store, name);
	const { rows, failures } = await readRows(store);
	throwIncomplete([...failures], `Queue ${name} is not deleted`);
	const shards = [...rows].flatMap(([shard, all]) =>
		all.some((one) => one.name === name) ? [shard] : [],
	);
	let newest = newestOf(copiesOf(rows, name));
	if (queue.state === "active") {
		if (options.force !== true) await requireNoJobs(store, name, shards);
		const settings = { ...newest.settings, [DROPPING]: true };
		newest = { name, settings, version: newVersion(newest.version) };
	}
	// Also one that is marked on a shard: a shard that was away then may not be.
	const marked = await onShards(shards, (shard) => store.put(shard, newest));
	throwIncomplete([...marked], `Queue ${name} is not deleted`);
	const failed = await onShards(shards, (shard) =>
		store.drop({ queue: name, shard }),
	);
	throwIncomplete([...failed], `Queue ${name} is deleted in part`);
}

/** Jobs that wait or run. Succeeded and failed ones do not count: they are history. */
async function requireNoJobs(
	store: JobStore & JobAdmin,
	queue: string,
	shards: readonly number[],
): Promise<void> {
	for (const state of ["pending", "running"] as const) {
		const counts = await Promise.all(
			shards.map((shard) => store.count({ queue, shard }, { state }, 1)),
		);
		if (counts.some((count) => count > 0)) {
			throw new CorkboardError(
				"CONFLICT",
				`Queue ${queue} has ${state} jobs. Let workers finish them, or use --force to delete them too.`,
			);
		}
	}
}

/** A share of less than one job would be rounded up on each shard. */
function checkLimits(
	store: JobStore & JobAdmin,
	{ maxRunning }: QueueSettings,
): void {
	const shards = store.shards.length;
	if (maxRunning !== null && maxRunning < shards) {
		throw new CorkboardError(
			"BAD_USER_INPUT",
			`maxRunning must be at least ${shards}, one for each shard of the queue, got ${maxRunning}.`,
		);
	}
}

interface Rows {
	/** By shard, of those that answered. */
	readonly rows: ReadonlyMap<number, readonly QueueRow[]>;
	readonly failures: ReadonlyMap<number, CorkboardError>;
}

async function readRows(store: JobStore & JobAdmin): Promise<Rows> {
	const rows = new Map<number, readonly QueueRow[]>();
	const failures = await onShards(store.shards, async (shard) => {
		rows.set(shard, await store.queues(shard));
	});
	for (const failure of rows.size === 0 ? failures.values() : []) throw failure;
	const inOrder = [...rows].sort(([one], [other]) => one - other);
	return { rows: new Map(inOrder), failures };
}

/** The shards on which it failed. */
async function onShards(
	shards: readonly number[],
	work: (shard: number) => Promise<void>,
): Promise<ReadonlyMap<number, CorkboardError>> {
	const failures = new Map<number, CorkboardError>();
	await Promise.all(
		shards.map(async (shard) => {
			try {
				await work(shard);
			} catch (error) {
				if (!(error instanceof CorkboardError)) throw error;
				failures.set(shard, error);
			}
		}),
	);
	return failures;
}

function throwIncomplete(
	failures: readonly (readonly [number, CorkboardError])[],
	problem: string,
): void {
	if (failures.length === 0) return;
	const shards = failures.map(([shard, { message }]) => `${shard}: ${message}`);
	throw new CorkboardError(
		"UNAVAILABLE",
		`${problem} on ${shards.length === 1 ? "shard" : "shards"} ${shards.join(" ")} Run it again.`,
	);
}

function copiesOf(rows: Rows["rows"], name: string): readonly QueueRow[] {
	return [...rows.values()].flat().filter((row) => row.name === name);
}

function newestOf(copies: readonly QueueRow[]): QueueRow {
	const newest = newestCopy(copies);
	if (newest === null) throw new TypeError("expected a copy of the queue");
	return newest;
}

function beingDeleted(name: string): CorkboardError {
	return new CorkboardError(
		"CONFLICT",
		`Queue ${name} is being deleted. Run queues delete ${name} again to end that first.`,
	);
}

/** Two operators who change a queue at once must not make two copies of one version: a time in microseconds, the last digits of chance. */
function newVersion(before: number | null): number {
	const now = Date.now() * 1_000 + Math.floor(Math.random() * 1_000);
	return before === null ? now : Math.max(before + 1, now);
}
