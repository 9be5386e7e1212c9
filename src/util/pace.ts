import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";

interface PaceLimits {
	/** Null: as many as there are. */
	readonly rowsPerSecond: number | null;
	readonly bytesPerSecond: number | null;
	/** A replica that is further behind makes copies wait. Seconds. */
	readonly maxLagSeconds: number;
}

/** What a pace measures time by. Milliseconds. */
interface PaceClock {
	now(): number;
	sleep(ms: number, signal: AbortSignal): Promise<void>;
}

const CLOCK: PaceClock = {
	now: () => performance.now(),
	sleep: (ms, signal) => sleep(ms, undefined, { signal }),
};

/** How long somebody who waits looks again. Milliseconds. */
const LOOK_MS = 100;
/** Rows that were not copied in time are not made up for beyond that. Milliseconds. */
const BURST_MS = 200;

/** How fast is copied and verified. It can be changed, and paused, while that continues; the row stream does not wait for it. */
export class Pace {
	#limits: PaceLimits;
	#isPaused = false;
	/** What replicas that are behind are called, by who says so. */
	readonly #late = new Map<object, string>();
	/** When the next rows, and bytes, may be read. On its clock. */
	#nextAt = 0;
	#waiting = 0;
	#waitingSince = 0;
	#waitedMs = 0;
	readonly #clock: PaceClock;
	readonly #since: number;

	constructor(limits: PaceLimits, clock = CLOCK) {
		this.#limits = limits;
		this.#clock = clock;
		this.#since = clock.now();
	}

	get limits(): PaceLimits {
		return this.#limits;
	}

	set(limits: Partial<PaceLimits>): void {
		const next = { ...this.#limits, ...limits };
		// Callers that wait go on at another rate, not at the same one again.
		if (isDeepStrictEqual(next, this.#limits)) return;
		this.#limits = next;
		this.#nextAt = 0;
	}

	pause(): void {
		this.#isPaused = true;
	}

	resume(): void {
		this.#isPaused = false;
	}

	/** Makes all wait while a replica is behind; null: none is. */
	setLate(whose: object, name: string | null): void {
		if (name === null) this.#late.delete(whose);
		else this.#late.set(whose, name);
	}

	/** What holds rows back now: `moves pause`, `lag of db001b:3306`, `rate`. */
	get reason(): string | null {
		if (this.#isPaused) return "moves pause";
		const [late] = this.#late.values();
		if (late !== undefined) return `lag of ${late}`;
		return this.#waiting > 0 ? "rate" : null;
	}

	/** The share of its time for which somebody waited. */
	get waitedShare(): number {
		const now = this.#clock.now();
		const waiting = this.#waiting > 0 ? now - this.#waitingSince : 0;
		return (this.#waitedMs + waiting) / Math.max(1, now - this.#since);
	}

	/** Resolves when so many more may be read. */
	async take(rows: number, bytes: number, signal: AbortSignal): Promise<void> {
		const { rowsPerSecond, bytesPerSecond } = this.#limits;
		const costMs = Math.max(
			rowsPerSecond === null ? 0 : (rows / rowsPerSecond) * 1_000,
			bytesPerSecond === null ? 0 : (bytes / bytesPerSecond) * 1_000,
		);
		const now = this.#clock.now();
		const from = Math.max(this.#nextAt, now - BURST_MS);
		this.#nextAt = from + costMs;
		if (from <= now && !this.#isPaused && this.#late.size === 0) return;
		if (this.#waiting++ === 0) this.#waitingSince = now;
		try {
			// A new rate lets go who waits for the old one.
			const before = this.#limits;
			while (
				this.#isPaused ||
				this.#late.size > 0 ||
				(before === this.#limits && this.#clock.now() < from)
			) {
				const left = from - this.#clock.now();
				await this.#clock.sleep(Math.min(LOOK_MS, Math.max(1, left)), signal);
			}
		} finally {
			if (--this.#waiting === 0) {
				this.#waitedMs += this.#clock.now() - this.#waitingSince;
			}
		}
	}
}
