import { CorkboardError } from "../errors.ts";
import type { JobStore, QueueRow, ShardOfQueue } from "./jobStore.ts";
import { isStopped, limitOfShard, type ShardLimit } from "./rateLimit.ts";
import {
	checkedSettings,
	knownSettings,
	newestCopy,
	type QueueSettings,
	settingsOf,
} from "./settings.ts";

/** Between two readings: what an operator sets holds within so long. Milliseconds. */
const EVERY_MS = 1_000;

/**
 * The settings of all queues as they are now, in memory. Each shard keeps a
 * copy, and the newest that answers is in force: so a change holds
 * for all workers as soon as one shard has it. While no shard answers, what was
 * read last holds.
 */
export class LiveSettings implements AsyncDisposable {
	readonly #store: JobStore;
	readonly #everyMs: number;
	#newest: ReadonlyMap<string, QueueRow> = new Map();
	#settings = new Map<QueueRow, QueueSettings>();
	#reading: Promise<void> | null = null;
	#timer: NodeJS.Timeout | null = null;
	#isDisposed = false;

	private constructor(store: JobStore, everyMs: number) {
		this.#store = store;
		this.#everyMs = everyMs;
	}

	/** Reads once. If no shard answers there are no queues until one does. */
	static async open(
		store: JobStore,
		everyMs: number = EVERY_MS,
	): Promise<LiveSettings> {
		const live = new LiveSettings(store, everyMs);
		await live.refresh().catch(ignoreUnavailable);
		live.#schedule();
		return live;
	}

	/** Null for a queue that does not exist, or that is being deleted. */
	settingsOf(queue: string): QueueSettings | null {
		const row = this.#newest.get(queue);
		if (row === undefined || isDropping(row)) return null;
		let settings = this.#settings.get(row);
		if (settings === undefined) {
			settings = settingsOf(checkedSettings(row.settings));
			this.#settings.set(row, settings);
		}
		return settings;
	}

	/** What operators have set, and no defaults; empty for a queue that does not exist. */
	overridesOf(queue: string): Partial<QueueSettings> {
		const row = this.#newest.get(queue);
		if (row === undefined) return {};
		return knownSettings(checkedSettings(row.settings));
	}

	/** The names of all queues. */
	get queues(): readonly string[] {
		return [...this.#newest.keys()].filter(
			(name) => this.settingsOf(name) !== null,
		);
	}

	/** Whether no job of the queue may start until that is changed. */
	isStopped(queue: string): boolean {
		const settings = this.settingsOf(queue);
		return settings === null || isStopped(settings);
	}

	/** For `ClaimRange`: what the shard may start of the queue; null: as much as it likes. */
	limit({ queue, shard }: ShardOfQueue): ShardLimit | null {
		const settings = this.settingsOf(queue);
		if (settings === null) return null;
		const { shards } = this.#store;
		return limitOfShard(settings, shards.length, shards.indexOf(shard));
	}

	/** Reads now. Throws UNAVAILABLE if no shard answers. */
	refresh(): Promise<void> {
		this.#reading ??= this.#read().finally(() => {
			this.#reading = null;
		});
		return this.#reading;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#isDisposed = true;
		if (this.#timer !== null) clearTimeout(this.#timer);
		await this.#reading?.catch(() => {});
	}

	async #read(): Promise<void> {
		const answers = await this.#store.queuesOn(this.#store.shards);
		const rows = answers.flatMap((answer) =>
			answer instanceof CorkboardError ? [] : answer,
		);
		const failed = answers.find((answer) => answer instanceof CorkboardError);
		if (failed !== undefined && rows.length === 0) throw failed;
		const next = new Map<string, QueueRow>();
		for (const row of rows) {
			next.set(row.name, newestCopy([next.get(row.name) ?? row, row]) ?? row);
		}
		if (failed !== undefined) {
			// A shard that does not answer may have the only copy, or a newer one.
			for (const [name, row] of this.#newest) {
				next.set(name, newestCopy([row, next.get(name) ?? row]) ?? row);
			}
		}
		this.#newest = next;
		this.#settings = new Map();
	}

	#schedule(): void {
		if (this.#isDisposed) return;
		this.#timer = setTimeout(async () => {
			await this.refresh().catch(() => {});
			this.#schedule();
		}, this.#everyMs);
		this.#timer.unref();
	}
}

function ignoreUnavailable(error: unknown): void {
	if (!(error instanceof CorkboardError)) throw error;
}

/** A queue that is being deleted has this on its shards until it is gone from all of them. */
export const DROPPING = "dropping";

export function isDropping({ settings }: QueueRow): boolean {
	return settings[DROPPING] === true;
}
