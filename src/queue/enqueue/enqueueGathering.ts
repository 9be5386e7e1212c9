import { MAX_JOBS } from "../jobStore.ts";

/** So many calls of a queue are under way before others wait for each other. */
const PARALLEL = 2;
/** Most that a call waits for each that is under way, and for all. Milliseconds. */
const WAIT_MS = 5;
const LONGEST_WAIT_MS = 100;
/** Calls with more jobs, or more characters in a body, are large enough to go alone. */
const MOST_JOBS = 100;
const MOST_LENGTH = 100_000;
/** The longest all bodies may be together. */
const TOTAL_LENGTH = 1_000_000;

interface Body {
	readonly body: string;
}

interface Call<Job, Result> {
	readonly jobs: readonly Job[];
	readonly length: number;
	resolve(results: readonly Result[]): void;
	reject(error: unknown): void;
}

/**
 * Puts small enqueues of one queue together while others are under way: they
 * share a statement and its COMMIT, and the worker that claims them claims them
 * together. A call that comes alone goes at once. If a shard is paused,
 * the calls behind it wait for milliseconds and go without it.
 */
export class EnqueueGathering<Job extends Body, Result> {
	readonly #send: (jobs: readonly Job[]) => Promise<readonly Result[]>;
	readonly #isOfAll: (error: unknown) => boolean;
	#waiting: Call<Job, Result>[] = [];
	#underWay = 0;
	#timer: NodeJS.Timeout | undefined;

	constructor(
		/** Stores all of the jobs or none; the results are in their order. */
		send: (jobs: readonly Job[]) => Promise<readonly Result[]>,
		/** Whether an error has nothing to do with single jobs. After another one each call is sent by itself. */
		isOfAll: (error: unknown) => boolean,
	) {
		this.#send = send;
		this.#isOfAll = isOfAll;
	}

	/** Whether jobs that come in one call may share a statement with those of others. */
	takes(jobs: readonly Job[]): boolean {
		return jobs.length <= MOST_JOBS && lengthOf(jobs) <= MOST_LENGTH;
	}

	/** Resolves with the results of these jobs, and rejects as `send` does. */
	send(jobs: readonly Job[]): Promise<readonly Result[]> {
		const { promise, resolve, reject } =
			Promise.withResolvers<readonly Result[]>();
		this.#waiting.push({ jobs, length: lengthOf(jobs), resolve, reject });
		if (this.#underWay < PARALLEL) this.#sendNext();
		else {
			const waitMs = Math.min(LONGEST_WAIT_MS, WAIT_MS * this.#underWay);
			this.#timer ??= setTimeout(() => this.#sendNext(), waitMs);
		}
		return promise;
	}

	#sendNext(): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		const calls = this.#take();
		if (calls.length === 0) return;
		this.#underWay++;
		void this.#sendTogether(calls).finally(() => {
			this.#underWay--;
			if (this.#waiting.length > 0) this.#sendNext();
		});
		// More than fits into one statement.
		if (this.#waiting.length > 0) {
			this.#timer = setTimeout(() => this.#sendNext(), WAIT_MS);
		}
	}

	#take(): readonly Call<Job, Result>[] {
		let jobs = 0;
		let length = 0;
		const tooMany = this.#waiting.findIndex((call) => {
			jobs += call.jobs.length;
			length += call.length;
			return jobs > MAX_JOBS || length > TOTAL_LENGTH;
		});
		return this.#waiting.splice(
			0,
			tooMany === -1 ? this.#waiting.length : tooMany,
		);
	}

	/** Never rejects. */
	async #sendTogether(calls: readonly Call<Job, Result>[]): Promise<void> {
		try {
			const results = await this.#send(calls.flatMap(({ jobs }) => jobs));
			let from = 0;
			for (const { jobs, resolve } of calls) {
				resolve(results.slice(from, from + jobs.length));
				from += jobs.length;
			}
		} catch (error) {
			if (calls.length === 1 || this.#isOfAll(error)) {
				for (const { reject } of calls) reject(error);
				return;
			}
			for (const call of calls) await this.#sendTogether([call]);
		}
	}
}

function lengthOf(jobs: readonly Body[]): number {
	return jobs.reduce((sum, { body }) => sum + body.length, 0);
}
