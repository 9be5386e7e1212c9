import { setTimeout as sleep } from "node:timers/promises";
import { listen } from "../diagnostics.ts";
import type { SchemaUses } from "../plan/diagnostics.ts";
import {
	type RequestCompleted,
	SERVER_CHANNELS,
} from "../server/diagnostics.ts";
import {
	DAY_MS,
	dayOf,
	documentKey,
	OTHER,
	type UsageBatch,
	type UsageStore,
} from "./usageStore.ts";

interface UsageRecorderOptions {
	readonly store: UsageStore;
	/** Names of clients in a day; further ones count as `OTHER`. */
	readonly maxClients?: number;
	/** Pairs of a client and an operation that are counted by themselves until they are stored. */
	readonly maxPairs?: number;
	readonly now?: () => number;
}

/** Between two times that counts are stored. Milliseconds. */
const FLUSH_MS = 30_000;
const MAX_CLIENTS = 100;
const MAX_PAIRS = 5_000;
/** Days that a store may be away before the oldest is given up. */
const MAX_DAYS = 3;
/** At the end, to store what is left. */
const ATTEMPTS = 3;
const PAUSE_MS = 100;
/** Documents, or coordinates, in one batch. */
const BATCH = 500;

/** What one client ran since counts were taken. */
interface OfClient {
	/** By identity: to count a request takes one look into this map. */
	readonly operations: Map<SchemaUses, Counted>;
	/** Requests for documents without a key, and those beyond `maxPairs`. */
	others: number;
	readonly coordinates: Map<string, number>;
}

interface Counted {
	readonly key: string;
	count: number;
}

/** Counts of one day that are not yet handed to the store. */
interface Day {
	readonly clients: Map<string, OfClient>;
	pairs: number;
}

/**
 * Counts what clients run, in memory, and hands it to a store now and then. What
 * was not stored when the process dies is lost; while the store is away, counts
 * add up here, and memory stays bounded.
 */
export class UsageRecorder implements AsyncDisposable {
	readonly #store: UsageStore;
	readonly #maxClients: number;
	readonly #maxPairs: number;
	readonly #now: () => number;
	readonly #timer: NodeJS.Timeout;
	readonly #days = new Map<string, Day>();
	/** Taken out of `#days`, and offered to the store until it has them. */
	#batches: UsageBatch[] = [];
	#batchNumber = 0;
	/** The last day of which the store knows that something counted. */
	#marked = "";
	#today: Day | null = null;
	#todayEnds = 0;
	#flushing: Promise<void> | null = null;
	readonly #listening: Disposable;

	constructor(options: UsageRecorderOptions) {
		this.#store = options.store;
		this.#maxClients = options.maxClients ?? MAX_CLIENTS;
		this.#maxPairs = options.maxPairs ?? MAX_PAIRS;
		this.#now = options.now ?? Date.now;
		this.#listening = listen(SERVER_CHANNELS.request, (completed) =>
			this.count(completed),
		);
		this.#timer = setInterval(() => void this.flush(), FLUSH_MS);
		this.#timer.unref();
	}

	count({
		uses,
		client,
		sha256,
		operation,
	}: Pick<RequestCompleted, "uses" | "client" | "sha256" | "operation">): void {
		if (uses === null) return;
		const day = this.#currentDay();
		const own = this.#clientOf(day, client);
		const counted = own.operations.get(uses);
		if (counted !== undefined) {
			counted.count++;
			return;
		}
		if (sha256 !== null && day.pairs < this.#maxPairs) {
			day.pairs++;
			own.operations.set(uses, {
				key: documentKey(sha256, operation),
				count: 1,
			});
			return;
		}
		own.others++;
		for (const coordinate of uses.coordinates) {
			const count = own.coordinates.get(coordinate) ?? 0;
			own.coordinates.set(coordinate, count + 1);
		}
	}

	/** Hands to the store what was counted. What it does not take is offered again at the next call. */
	flush(): Promise<void> {
		this.#flushing ??= this.#flush().finally(() => {
			this.#flushing = null;
		});
		return this.#flushing;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#listening[Symbol.dispose]();
		clearInterval(this.#timer);
		// Again for what was counted while the first ran, or if its connection was lost.
		for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
			if (attempt > 0) await sleep(PAUSE_MS);
			await this.flush();
			if (this.#batches.length + this.#days.size === 0) break;
		}
		await this.#store[Symbol.asyncDispose]();
	}

	async #flush(): Promise<void> {
		// Else a store that is away would leave ever more batches here.
		if (this.#batches.length === 0) this.#batches = this.#take();
		for (;;) {
			const [batch] = this.#batches;
			if (batch === undefined || !(await this.#store.add(batch))) return;
			this.#batches.shift();
			if (batch.day > this.#marked) this.#marked = batch.day;
		}
	}

	#take(): UsageBatch[] {
		const today = dayOf(this.#now());
		// A day without a request was recorded too.
		if (today > this.#marked) this.#currentDay();
		const batches: UsageBatch[] = [];
		for (const [day, { clients }] of this.#days) {
			const documents: UsageBatch["documents"][number][] = [];
			const others: UsageBatch["others"][number][] = [];
			for (const [client, own] of clients) {
				for (const [{ coordinates }, { key, count }] of own.operations) {
					documents.push({ client, key, coordinates, count });
				}
				if (own.others > 0) {
					const coordinates = [...own.coordinates];
					for (let at = 0; at === 0 || at < coordinates.length; at += BATCH) {
						others.push({
							client,
							requests: at === 0 ? own.others : 0,
							coordinates: coordinates.slice(at, at + BATCH),
						});
					}
				}
			}
			const add = (part: Pick<UsageBatch, "documents" | "others">) =>
				batches.push({
					number: ++this.#batchNumber,
					day,
					at: new Date(this.#now()).toISOString(),
					...part,
				});
			for (let at = 0; at < documents.length; at += BATCH) {
				add({ documents: documents.slice(at, at + BATCH), others: [] });
			}
			for (const other of others) add({ documents: [], others: [other] });
			if (documents.length + others.length === 0 && day > this.#marked) {
				add({ documents: [], others: [] });
			}
		}
		this.#days.clear();
		this.#today = null;
		return batches;
	}

	#currentDay(): Day {
		const now = this.#now();
		if (this.#today !== null && now < this.#todayEnds) return this.#today;
		const name = dayOf(now);
		this.#todayEnds = (Math.floor(now / DAY_MS) + 1) * DAY_MS;
		const known = this.#days.get(name) ?? { clients: new Map(), pairs: 0 };
		this.#days.set(name, known);
		this.#today = known;
		if (this.#days.size > MAX_DAYS) {
			for (const oldest of this.#days.keys()) {
				this.#days.delete(oldest);
				break;
			}
		}
		return known;
	}

	#clientOf({ clients }: Day, client: string): OfClient {
		const known = clients.get(client);
		if (known !== undefined) return known;
		const name = clients.size < this.#maxClients ? client : OTHER;
		const own = clients.get(name) ?? {
			operations: new Map(),
			others: 0,
			coordinates: new Map(),
		};
		clients.set(name, own);
		return own;
	}
}
