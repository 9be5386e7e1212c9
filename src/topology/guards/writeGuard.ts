import { setTimeout as sleep } from "node:timers/promises";
import { listen } from "../../diagnostics.ts";
import { TOPOLOGY_CHANNELS } from "../diagnostics.ts";
import { parseHostUrl } from "../hostUrl.ts";
import type { HostRange, Topology } from "../types.ts";

/** The topology in use, and when the store said last that it is the newest. */
export interface ConfirmedTopology {
	readonly topology: Topology;
	/** When the read began that confirmed it: since then, a newer one may be there. */
	readonly confirmed: Moment;
	/** Reads the store. Resolves when what it says is in use, or when it does not answer; never rejects. */
	look(): Promise<void>;
}

/** A moment by both clocks: one stops while a machine is suspended, the other may be set. */
export interface Moment {
	/** `performance.now()` */
	readonly at: number;
	/** `Date.now()` */
	readonly wall: number;
}

export function moment(): Moment {
	return { at: performance.now(), wall: Date.now() };
}

/** A topology that was confirmed longer ago is confirmed again before a COMMIT. Milliseconds. */
const FRESH_MS = 2_000;
/** From this age on, the begin of a write has it read, so that COMMIT need not wait. */
const RENEW_MS = 1_000;
/** `hosts promote --dead` waits this long for a process that does not say what it was acknowledged. */
const PAUSED_MS = 5_000;
const BEAT_MS = 1_000;
const LIMITS = { freshMs: FRESH_MS, pausedMs: PAUSED_MS };
/** How long a COMMIT waits for a store that answered before. Milliseconds. */
const WAIT_MS = 250;
/** How long it waits if it may not do without. The locks of its transaction are held meanwhile. */
const DOUBT_WAIT_MS = 1_000;
const AGAIN_MS = 20;

/**
 * Whether this process may still write to a host. A dead primary cannot be informed
 * that its replica took its place, and may come back; so a process that writes
 * makes sure that the topology still names it (docs/consistency.md, "6. Topology").
 *
 * A store that does not answer stops no write, unless the place may have been
 * taken without a word to this process: it was paused, or the host was down for it.
 */
export class WriteGuard implements Disposable {
	readonly #source: ConfirmedTopology;
	readonly #limits: typeof LIMITS;
	readonly #beatTimer: NodeJS.Timeout;
	#beat = moment();
	/** Only what was confirmed later counts; by `performance.now()`. */
	#doubtedAt = Number.NEGATIVE_INFINITY;
	readonly #hostsDoubtedAt = new Map<string, number>();
	/** What was confirmed last when the store did not answer in time. */
	#silentAt: Moment | null = null;
	#looking: Promise<void> | null = null;
	#primariesOf: Topology | null = null;
	#primaries: ReadonlySet<string> = new Set();

	constructor(source: ConfirmedTopology, limits: Partial<typeof LIMITS> = {}) {
		this.#source = source;
		this.#limits = { ...LIMITS, ...limits };
		this.#beatTimer = setInterval(() => this.#notice(), BEAT_MS).unref();
	}

	/** A write begins. */
	begin(): void {
		if (elapsed(this.#source.confirmed) > RENEW_MS) void this.#look();
	}

	/** Why this process may not COMMIT on a host; null: it may. At once if the topology was confirmed lately. */
	refusal(host: string): string | null | Promise<string | null> {
		this.#notice();
		return this.#isFresh(host) ? this.#unnamed(host) : this.#confirm(host);
	}

	[Symbol.dispose](): void {
		clearInterval(this.#beatTimer);
		this.#listening[Symbol.dispose]();
	}

	async #confirm(host: string): Promise<string | null> {
		const isDoubted = this.#isDoubted(host);
		if (!isDoubted && this.#silentAt === this.#source.confirmed) {
			// It was waited for in vain; the next answer is noticed.
			void this.#look();
			return this.#unnamed(host);
		}
		const until = performance.now() + (isDoubted ? DOUBT_WAIT_MS : WAIT_MS);
		do {
			const leftMs = until - performance.now();
			const stop = new AbortController();
			const { signal } = stop;
			await Promise.race([
				this.#look(),
				sleep(leftMs, undefined, { signal }).catch(() => {}),
			]);
			stop.abort();
			if (this.#isFresh(host)) return this.#unnamed(host);
			await sleep(AGAIN_MS);
		} while (performance.now() < until);
		this.#silentAt = this.#source.confirmed;
		return isDoubted
			? "Whether this is a primary still has to be confirmed by the topology's store, which does not answer."
			: this.#unnamed(host);
	}

	#look(): Promise<void> {
		this.#looking ??= this.#source.look().finally(() => {
			this.#looking = null;
		});
		return this.#looking;
	}

	#isFresh(host: string): boolean {
		return (
			elapsed(this.#source.confirmed) <= this.#limits.freshMs &&
			!this.#isDoubted(host)
		);
	}

	#isDoubted(host: string): boolean {
		const { at } = this.#source.confirmed;
		return (
			at < this.#doubtedAt ||
			at < (this.#hostsDoubtedAt.get(host) ?? Number.NEGATIVE_INFINITY)
		);
	}

	#unnamed(host: string): string | null {
		const { topology } = this.#source;
		if (topology !== this.#primariesOf) {
			this.#primariesOf = topology;
			this.#primaries = primariesOf(topology);
		}
		return this.#primaries.has(host)
			? null
			: `Version ${topology.version} of the topology names no such primary.`;
	}

	/** A timer that is late, or a call after a long time without one, says that the process was paused. */
	#notice(): void {
		if (elapsed(this.#beat) > this.#limits.pausedMs) {
			this.#doubtedAt = performance.now();
			void this.#look();
		}
		this.#beat = moment();
	}

	readonly #listening = listen(
		TOPOLOGY_CHANNELS.databaseHost,
		({ host, state }) => {
			if (state === "left") return;
			this.#hostsDoubtedAt.set(host, performance.now());
			if (state === "up") void this.#look();
		},
	);
}

function elapsed({ at, wall }: Moment): number {
	return Math.max(performance.now() - at, Date.now() - wall);
}

function primariesOf({
	shards,
	lookups,
	queues = [],
	feeds = [],
	pools = [],
}: Topology): ReadonlySet<string> {
	const ranges: readonly HostRange[] = [
		...[...shards, ...lookups],
		...[...queues, ...feeds, ...pools],
	];
	return new Set(
		ranges.map(({ primary }) => {
			const url = parseHostUrl(primary);
			return url?.scheme === "mysql" ? url.name : primary;
		}),
	);
}
