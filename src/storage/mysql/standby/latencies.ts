/** Upper bounds of the buckets grow by this: a quantile is at most so much too high. */
const GROWTH = 1.05;
/** 0.1 ms × 1.05^256 is 26 s. */
const BUCKETS = 256;
const FIRST_MS = 0.1;
const SLICES = 10;

/** Latencies of the last minutes, in buckets: quantiles without keeping each call. */
export class Latencies {
	readonly #sliceMs: number;
	readonly #slices: { from: number; count: number; readonly by: Uint32Array }[];

	/** `windowMs` is how long a latency counts. */
	constructor(windowMs: number) {
		this.#sliceMs = windowMs / SLICES;
		this.#slices = Array.from({ length: SLICES }, () => ({
			from: Number.NEGATIVE_INFINITY,
			count: 0,
			by: new Uint32Array(BUCKETS),
		}));
	}

	add(ms: number, now: number): void {
		const number = Math.floor(now / this.#sliceMs);
		const slice = this.#slices[number % SLICES];
		if (slice === undefined) return;
		const from = number * this.#sliceMs;
		if (slice.from !== from) {
			slice.from = from;
			slice.count = 0;
			slice.by.fill(0);
		}
		const at = Math.ceil(
			Math.log(Math.max(ms, FIRST_MS) / FIRST_MS) / Math.log(GROWTH),
		);
		const bucket = Math.min(at, BUCKETS - 1);
		slice.by[bucket] = (slice.by[bucket] as number) + 1;
		slice.count += 1;
	}

	/** In milliseconds; null with fewer than `least` calls. */
	quantile(part: number, least: number, now: number): number | null {
		const recent = this.#slices.filter(
			({ from }) => from > now - this.#sliceMs * SLICES,
		);
		const count = recent.reduce((sum, slice) => sum + slice.count, 0);
		if (count < least) return null;
		let above = Math.floor(count * (1 - part));
		for (let at = BUCKETS - 1; at > 0; at--) {
			for (const { by } of recent) above -= by[at] as number;
			if (above < 0) return FIRST_MS * GROWTH ** at;
		}
		return FIRST_MS;
	}
}
