import type { Host } from "../../storage/mysql/driver/host.ts";
import { deadlineIn } from "../../util/deadline.ts";

/** So old, an offset is measured again in the background. Milliseconds. */
const FRESH_MS = 10_000;
/** And so old, before it is used. */
const OLDEST_MS = 60_000;
/** An answer that took so long may be half of that wrong, so the host is asked again, so often. */
const SURE_MS = 200;
const TRIES = 3;
/** The two clocks of this process differ by that much more: it was suspended, or its time was set. */
const STEP_MS = 500;

const NOW = {
	name: "clock",
	text: "SELECT CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS UNSIGNED)",
	values: [],
};

interface Measured {
	/** Microseconds to add to the monotonic clock. */
	readonly offset: number;
	/** The round trip: the offset is at most half of it wrong. */
	readonly tookMs: number;
	readonly at: number;
	/** Between this process's own two clocks. */
	readonly drift: number;
}

/**
 * A host's clock, by its offset to the one of this process: statements carry
 * moments as literals, which MySQL needs to choose partitions, and the clocks of
 * workers do not matter.
 */
export class HostClock {
	readonly #host: Pick<Host, "rows">;
	readonly #readMs: number;
	#measured: Measured | null = null;
	#measuring: Promise<void> | null = null;

	constructor(host: Pick<Host, "rows">, readMs: number) {
		this.#host = host;
		this.#readMs = readMs;
	}

	/** Microseconds since 1970, with half of a round trip as the error. Throws a StorageFailure while the host has never answered. */
	async now(shard: number): Promise<number> {
		const measured = this.#measured;
		if (measured === null || isOld(measured)) await this.measure(shard);
		else if (performance.now() - measured.at > FRESH_MS) {
			this.measure(shard).catch(() => {});
		}
		const { offset } = this.#measured as Measured;
		return Math.round(performance.now() * 1_000 + offset);
	}

	/** Asks the host again. */
	measure(shard: number): Promise<void> {
		this.#measuring ??= this.#ask(shard).finally(() => {
			this.#measuring = null;
		});
		return this.#measuring;
	}

	/**
	 * While the host or this process is paused between question and answer, the
	 * offset is seconds off, and valid claims would be ended. An offset that was
	 * measured well before is better: clocks drift apart by milliseconds in a minute.
	 */
	async #ask(shard: number): Promise<void> {
		for (let tries = 1; tries <= TRIES; tries++) {
			const measured = await this.#askOnce(shard);
			const known = this.#measured;
			if (measured.tookMs <= SURE_MS || known === null || hasStepped(known)) {
				this.#measured = measured;
			} else {
				const best = measured.tookMs < known.tookMs ? measured : known;
				this.#measured = { ...best, at: measured.at };
			}
			if ((this.#measured as Measured).tookMs <= SURE_MS) return;
		}
	}

	async #askOnce(shard: number): Promise<Measured> {
		const before = performance.now();
		const [[now] = []] = await this.#host.rows(NOW, {
			shard,
			deadline: deadlineIn(this.#readMs),
		});
		const at = performance.now();
		// The wait for a first connection is no part of the answer's way, but only makes it worse.
		const offset = Number(now) - ((before + at) / 2) * 1_000;
		return { offset, at, tookMs: at - before, drift: driftOf(at) };
	}
}

function isOld(measured: Measured): boolean {
	return performance.now() - measured.at > OLDEST_MS || hasStepped(measured);
}

function hasStepped({ drift }: Measured): boolean {
	return Math.abs(driftOf(performance.now()) - drift) > STEP_MS;
}

function driftOf(monotonic: number): number {
	return Date.now() - monotonic;
}
