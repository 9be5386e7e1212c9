/** Calls that decide whether a shard is well. */
const WINDOW = 100;
/** Good ones of these that a shard needs. */
const LEAST_GOOD = 75;
/** A few failures alone make no shard ill. */
const LEAST_FAILURES = 5;
/** After so long, an ill shard gets one call again. Milliseconds. */
const RETRY_MS = 10_000;
/** How much a new latency counts. */
const WEIGHT = 0.2;

/**
 * Which shards to send new jobs to, by how calls to them went: PinLater's rule.
 * A shard is ill with less than 75 good ones of its last 100 calls, and is then
 * tried again with one call after 10 s.
 */
export class ShardHealth {
	readonly #shards = new Map<number, Health>();
	readonly #now: () => number;
	readonly #random: () => number;

	constructor(
		/** Milliseconds. */
		now: () => number = () => performance.now(),
		random: () => number = Math.random,
	) {
		this.#now = now;
		this.#random = random;
	}

	/**
	 * Takes two healthy shards at random and returns the one that is less busy
	 * (the power of two choices): nearly as even as asking all, and no
	 * herd runs to the one that was best a moment ago. Undefined without shards.
	 */
	pick(shards: readonly number[]): number | undefined {
		const well = shards.filter((shard) => this.isWell(shard));
		const among = well.length > 0 ? well : shards;
		const first = this.#random() * among.length;
		const one = among[Math.floor(first)];
		if (one === undefined || among.length === 1) return one;
		const step = 1 + Math.floor(this.#random() * (among.length - 1));
		const other = among[(Math.floor(first) + step) % among.length] ?? one;
		return this.#load(one) <= this.#load(other) ? one : other;
	}

	isWell(shard: number): boolean {
		const health = this.#shards.get(shard);
		return health === undefined || this.#now() >= health.illUntil;
	}

	/** A call to the shard begins. Call what is returned once, when it ends, with whether the shard did well. */
	begin(shard: number): (isGood: boolean) => void {
		const health = this.#of(shard);
		// One call at a time finds out whether it is well again.
		if (health.illUntil > 0) health.illUntil = this.#now() + RETRY_MS;
		health.running++;
		const started = this.#now();
		return (isGood) => {
			this.#count(health, isGood);
			health.running--;
			health.latencyMs += WEIGHT * (this.#now() - started - health.latencyMs);
		};
	}

	#load(shard: number): number {
		const health = this.#shards.get(shard);
		return health === undefined ? 0 : (health.running + 1) * health.latencyMs;
	}

	#of(shard: number): Health {
		let health = this.#shards.get(shard);
		if (health === undefined) {
			health = { results: [], illUntil: 0, running: 0, latencyMs: 0 };
			this.#shards.set(shard, health);
		}
		return health;
	}

	#count(health: Health, isGood: boolean): void {
		if (health.illUntil > 0 && isGood) {
			health.results = [];
			health.illUntil = 0;
		}
		health.results.push(isGood);
		if (health.results.length > WINDOW) health.results.shift();
		const failures = health.results.filter((good) => !good).length;
		const isIll =
			failures >= LEAST_FAILURES &&
			health.results.length - failures <
				(LEAST_GOOD / WINDOW) * health.results.length;
		if (isIll && !isGood) health.illUntil = this.#now() + RETRY_MS;
	}
}

interface Health {
	results: boolean[];
	/** 0: well. */
	illUntil: number;
	running: number;
	latencyMs: number;
}
