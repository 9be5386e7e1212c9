import { setTimeout as sleep } from "node:timers/promises";
import { askMembers } from "../asks.ts";
import { TOPOLOGY_CHANNELS } from "../diagnostics.ts";
import type { TopologyStore } from "../store.ts";
import {
	describeRecordedLoss,
	type RecordedLoss,
	readAccepted,
	readLosses,
	recordLoss,
	watchLosses,
} from "./losses.ts";

/** A server that takes writes, as a session found it behind the name of a host. */
export interface FoundServer {
	/** `host:port` */
	readonly host: string;
	/** As it calls itself. */
	readonly server: string;
	/** Whether this process knew another behind the name. */
	readonly isChange: boolean;
	/** Whether the host's URL says that a failover loses nothing. */
	readonly isLossless: boolean;
	/**
	 * What it lacks of a set of GTIDs, besides another; null: it has no GTIDs.
	 * Rejects if it does not answer, or the name leads elsewhere by now.
	 */
	lacks(set: string, besides: string): Promise<string | null>;
}

/** How long a write waits for the comparison before it is refused, and tried again later. Milliseconds. */
const WAIT_MS = 1_000;
const ASK_MS = 2_000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

interface Known {
	readonly found: FoundServer;
	/** Whether the server is still compared with what was acknowledged. */
	checking: Promise<void> | null;
	loss: RecordedLoss | null;
	/** Whether the store has had the loss: it ends when it is not there any more. */
	isRecorded: boolean;
}

/**
 * Whether the server behind a host's name has what the one before acknowledged,
 * to any process of the fleet. Until that is known nothing is written there, and
 * where it has not, until an operator accepts the loss (docs/consistency/topology.md,
 * "A name that leads to another server").
 */
export class ServerGuard implements Disposable {
	readonly #store: TopologyStore;
	readonly #acknowledged: (host: string) => string;
	readonly #known = new Map<string, Known>();
	readonly #watch: Disposable;
	#recorded: ReadonlyMap<string, RecordedLoss> = new Map();
	#stopped: ReadonlySet<string> = new Set();
	#onStopped: (hosts: ReadonlySet<string>) => void = () => {};
	#reading: Promise<void>;
	#isClosed = false;

	constructor(
		store: TopologyStore,
		/** What this process was acknowledged by a host, as a set of GTIDs. */
		acknowledged: (host: string) => string,
	) {
		this.#store = store;
		this.#acknowledged = acknowledged;
		this.#reading = this.#read();
		this.#watch = watchLosses(store, () => {
			this.#reading = this.#reading.then(() => this.#read());
		});
	}

	/** Resolves when the recorded losses are known, or the store does not say. */
	get ready(): Promise<void> {
		return this.#reading;
	}

	/** Hosts that nothing is written to, and whose shards' caches are not to be trusted. `onStopped` is called when others are. */
	get stopped(): ReadonlySet<string> {
		return this.#stopped;
	}

	set onStopped(listener: (hosts: ReadonlySet<string>) => void) {
		this.#onStopped = listener;
	}

	/** Called before a connection to the server is used. */
	found(found: FoundServer): void {
		const known: Known = {
			found,
			checking: null,
			loss: null,
			isRecorded: false,
		};
		this.#known.set(found.host, known);
		if (found.isChange) this.#startCheck(known);
		this.#update();
	}

	/** Why nothing may be written to a host; null: it may. */
	refusal(host: string): string | null | Promise<string | null> {
		const checking = this.#known.get(host)?.checking ?? null;
		const loss = this.#lossOf(host);
		if (loss !== null) return describeRecordedLoss(loss);
		return checking === null ? null : this.#wait(host, checking);
	}

	[Symbol.dispose](): void {
		this.#isClosed = true;
		this.#watch[Symbol.dispose]();
	}

	async #wait(host: string, checking: Promise<void>): Promise<string | null> {
		const stop = new AbortController();
		const { signal } = stop;
		await Promise.race([
			checking,
			sleep(WAIT_MS, undefined, { signal }).catch(() => {}),
		]);
		stop.abort();
		const loss = this.#lossOf(host);
		if (loss !== null) return describeRecordedLoss(loss);
		return this.#known.get(host)?.checking
			? `${host} leads to another server, which is still compared with what was acknowledged.`
			: null;
	}

	/** A loss of another server than the present one ended with a failover back. */
	#lossOf(host: string): RecordedLoss | null {
		const known = this.#known.get(host);
		const loss = known?.loss ?? this.#recorded.get(host) ?? null;
		if (loss === null || known === undefined) return loss;
		return loss.server === known.found.server ? loss : null;
	}

	#startCheck(known: Known): void {
		known.checking = this.#check(known).finally(() => {
			known.checking = null;
			this.#update();
		});
	}

	async #check(known: Known): Promise<void> {
		const { host } = known.found;
		const isCurrent = () => !this.#isClosed && this.#known.get(host) === known;
		for (let pause = FIRST_PAUSE_MS; isCurrent(); ) {
			const loss = await this.#compare(known.found).catch(() => undefined);
			if (loss !== undefined) {
				if (isCurrent()) await this.#settle(known, loss);
				return;
			}
			await sleep(pause, undefined, { ref: false });
			pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
		}
	}

	/** Null if the server has everything. Rejects if that cannot be known yet. */
	async #compare(found: FoundServer): Promise<RecordedLoss | null> {
		const { host, server, isLossless } = found;
		const accepted = await readAccepted(this.#store, host);
		const sets = [this.#acknowledged(host)];
		if (this.#store.hasMembers) {
			const question = { host, missing: null, server };
			const asked = await askMembers(this.#store, question, ASK_MS);
			// A member that does not answer may know of more, until it counts as gone.
			if (asked.silent.length > 0) throw new Error("Somebody is silent.");
			sets.push(...asked.answered.map(({ answer }) => answer.acknowledged));
		}
		const missing = await found.lacks(
			sets.filter((set) => set !== "").join(","),
			accepted?.gtids ?? "",
		);
		const isTrusted = isLossless || accepted?.server === server;
		if (missing === "" || (missing === null && isTrusted)) return null;
		return { host, server, missing, at: new Date().toISOString() };
	}

	async #settle(known: Known, loss: RecordedLoss | null): Promise<void> {
		const { host } = known.found;
		known.loss = loss;
		this.#update();
		try {
			await recordLoss(this.#store, host, loss);
			known.isRecorded = loss !== null;
		} catch {
			// Without the store, or the right to write there, each process finds out for itself.
		}
		await this.#read();
	}

	async #read(): Promise<void> {
		try {
			const losses = await readLosses(this.#store);
			this.#recorded = new Map(losses.map((loss) => [loss.host, loss]));
		} catch {
			// A store that does not answer says so elsewhere, and what it said last holds.
			return;
		}
		for (const [host, known] of this.#known) {
			const isThere = this.#recorded.has(host);
			if (known.loss !== null && isThere) known.isRecorded = true;
			if (known.loss === null || !known.isRecorded || isThere) continue;
			// It was accepted, or somebody saw the name lead back.
			known.loss = null;
			known.isRecorded = false;
			this.#startCheck(known);
		}
		this.#update();
	}

	/** Publishes what began and ended. */
	#update(): void {
		const hosts = new Set([...this.#known.keys(), ...this.#recorded.keys()]);
		const stopped = new Set([...hosts].filter((host) => this.#lossOf(host)));
		const before = this.#stopped;
		if ([...stopped, ...before].every((h) => stopped.has(h) && before.has(h))) {
			return;
		}
		this.#stopped = stopped;
		for (const host of new Set([...stopped, ...before])) {
			if (stopped.has(host) === before.has(host)) continue;
			const loss = this.#lossOf(host);
			TOPOLOGY_CHANNELS.databaseLoss.publish({
				host,
				state: loss === null ? "over" : "stopped",
				...(loss !== null && {
					server: loss.server,
					missing: loss.missing,
					reason: describeRecordedLoss(loss),
				}),
			});
		}
		this.#onStopped(stopped);
	}
}
