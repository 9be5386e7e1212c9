import type { Host } from "../../storage/mysql/driver/host.ts";
import { deadlineIn } from "../../util/deadline.ts";

/** So old, an offset is measured again in the background. Milliseconds. */
const FRESH_MS = 10_000;
/** And so old, before it is used. */
const OLDEST_MS = 60_000;
/** The two clocks of this process differ by that much more: it was suspended, or its time was set. */
const STEP_MS = 500;

const NOW = {
	name: "clock",
	text: "SELECT CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS UNSIGNED)",
	values: [],
};

/**
 * A host's clock, by its offset to the one of this process: statements carry
 * moments as literals, which MySQL needs to choose partitions, and the clocks of
 * workers do not matter.
 */
export class HostClock {
	readonly #host: Host;
	readonly #readMs: number;
	#measured: {
		/** Microseconds to add to the monotonic clock. */
		readonly offset: number;
		readonly at: number;
		/** Between this process's own two clocks. */
		readonly drift: number;
	} | null = null;
	#measuring: Promise<void> | null = null;

	constructor(host: Host, readMs: number) {
		this.#host = host;
		this.#readMs = readMs;
	}

	/** Microseconds since 1970, with half of a round trip as the error. Throws a StorageFailure while the host has never answered. */
	async now(shard: number): Promise<number> {
		const measured = this.#measured;
		if (measured === null || isOld(measured)) await this.#measure(shard);
		else if (performance.now() - measured.at > FRESH_MS) {
			this.#measure(shard).catch(() => {});
		}
		const { offset } = this.#measured as { readonly offset: number };
		return Math.round(performance.now() * 1_000 + offset);
	}

	#measure(shard: number): Promise<void> {
		this.#measuring ??= this.#ask(shard).finally(() => {
			this.#measuring = null;
		});
		return this.#measuring;
	}

	async #ask(shard: number): Promise<void> {
		const before = performance.now();
		const [[now] = []] = await this.#host.rows(NOW, {
			shard,
			deadline: deadlineIn(this.#readMs),
		});
		const at = performance.now();
		// The wait for a first connection is no part of the answer's way, but only makes it worse.
		const offset = Number(now) - ((before + at) / 2) * 1_000;
		this.#measured = { offset, at, drift: driftOf(at) };
	}
}

function isOld({
	at,
	drift,
}: {
	readonly at: number;
	readonly drift: number;
}): boolean {
	const now = performance.now();
	return now - at > OLDEST_MS || Math.abs(driftOf(now) - drift) > STEP_MS;
}

function driftOf(monotonic: number): number {
	return Date.now() - monotonic;
}
