import { setTimeout as sleep } from "node:timers/promises";
import pinsApp from "../../../pins/app.ts";
import { openCorkboard } from "../../../src/app/openCorkboard.ts";
import { readConfig } from "../../../src/config/config.ts";
import { createWrites } from "../../../src/graph/write/createWrites.ts";
import { WritePipeline } from "../../../src/graph/write/pipeline.ts";
import { type Id, unpackId } from "../../../src/id/ids.ts";
import { type Random, seededRandom } from "../../../src/util/random.ts";
import type { AskedJob } from "./evidence.ts";
import { type TrialBody, trial } from "./trialJobs.ts";

/** Callers that enqueue by themselves, and lanes of writes whose outbox entries do. */
const CALLERS = 2;
const LANES = 3;
const MOST_TOGETHER = 5;
const ATTEMPTS = 1_000;

type Corkboard = Awaited<ReturnType<typeof openCorkboard>>;

/** Enqueues jobs in both ways and remembers what was acknowledged. */
export class Producers {
	readonly #corkboard: Corkboard;
	/** What the lanes write to. */
	readonly #users: readonly Id[];
	readonly #random: Random;
	readonly #asked = new Map<number, AskedJob>();
	#last = 0;

	private constructor(
		corkboard: Corkboard,
		users: readonly Id[],
		seed: number,
	) {
		this.#corkboard = corkboard;
		this.#users = users;
		this.#random = seededRandom(seed);
	}

	static async open(
		env: Readonly<Record<string, string>>,
		seed: number,
		resources: AsyncDisposableStack,
	): Promise<Producers> {
		const corkboard = resources.use(
			await openCorkboard(pinsApp, readConfig(env)),
		);
		const users: Id[] = [];
		for (let lane = 0; lane < LANES; lane++) {
			const data = { username: `lane_${lane}` };
			users.push(
				await createWrites(corkboard.store).create({ type: "User", data }),
			);
		}
		return new Producers(corkboard, users, seed);
	}

	get asked(): readonly AskedJob[] {
		return [...this.#asked.values()];
	}

	/** Until the signal aborts, and the last answers are there. */
	async run(signal: AbortSignal): Promise<void> {
		await Promise.all([
			...Array.from({ length: CALLERS }, () => this.#call(signal)),
			...this.#users.map((user) => this.#write(user, signal)),
		]);
	}

	/** Jobs that are not finished, and outbox entries that are not delivered. Rejects while a host does not answer. */
	async unfinished(): Promise<number> {
		const { queues, storage } = this.#corkboard;
		const entries = await storage.pendingEntries({
			olderThanMs: 0,
			includeDelayed: true,
			limit: 1_000,
		});
		let total = entries.length;
		const { store } = queues as NonNullable<typeof queues>;
		for (const shard of store.shards) {
			for (const state of ["pending", "running"] as const) {
				total += await store.count(
					{ queue: "trial", shard },
					{ state },
					100_000,
				);
			}
		}
		return total;
	}

	#body(): TrialBody {
		const random = this.#random;
		const n = ++this.#last;
		if (random.chance(0.01)) return { n, ms: 7_000, how: "blocks" };
		if (random.chance(0.02)) {
			return { n, ms: random.integer(3_000, 12_000), how: "waits" };
		}
		const how = random.chance(0.05) ? "fails" : "waits";
		return { n, ms: random.integer(0, 60), how };
	}

	async #call(signal: AbortSignal): Promise<void> {
		const random = this.#random;
		const { jobs } = this.#corkboard.queues as NonNullable<Corkboard["queues"]>;
		while (!signal.aborted) {
			const wanted = Array.from(
				{ length: random.integer(1, MOST_TOGETHER) },
				() => ({
					body: this.#body(),
					// As long as an hour of the attack.
					...(random.chance(0.1) && { delayMs: random.integer(0, 10_000) }),
					priority: random.pick([1, 2, 3] as const),
					attempts: ATTEMPTS,
				}),
			);
			const outcome = await jobs.enqueueAll(trial, wanted).then(
				() => "acknowledged" as const,
				() => "unknown" as const,
			);
			for (const { body } of wanted) {
				this.#asked.set(body.n, { n: body.n, outcome, from: "call" });
			}
			await sleep(random.integer(100, 500));
		}
	}

	/**
	 * Each write stores its number in the user, and leaves a job with it. One
	 * whose outcome is unknown was committed if the next one finds its number.
	 */
	async #write(user: Id, signal: AbortSignal): Promise<void> {
		const { store } = this.#corkboard;
		let open: number | null = null;
		const settle = (n: number, outcome: AskedJob["outcome"]) =>
			this.#asked.set(n, { n, outcome, from: "outbox" });
		// The last write finds out about the one before, so it has to succeed.
		for (;;) {
			const isLast = signal.aborted;
			const body = this.#body();
			const before = open;
			open = body.n;
			let found: unknown;
			try {
				const newJob = await store.jobs?.queue.prepare();
				if (!newJob) throw new Error("expected a queue");
				await new WritePipeline(store).write<null>({
					shard: unpackId(user).shard,
					lists: [],
					objects: [user],
					decide({ objects: [data] }) {
						found = data?.about;
						const version = Number(data?.version ?? 0) + 1;
						return {
							result: null,
							objects: [
								{ id: user, data: { ...data, about: `${body.n}`, version } },
							],
							entry: {
								jobs: [
									newJob({
										queue: trial.queue,
										body: trial.encode(body),
										allowed: ATTEMPTS,
									}),
								],
							},
						};
					},
				});
				if (before !== null) {
					const isThere = found === `${before}`;
					settle(before, isThere ? "acknowledged" : "refused");
				}
				settle(body.n, "acknowledged");
				open = null;
				if (isLast) return;
			} catch {
				settle(body.n, "unknown");
				// `found` may be read by a try that was not the last one: only a write that succeeds reports it.
				if (before !== null) settle(before, "unknown");
			}
			await sleep(this.#random.integer(100, 400));
		}
	}
}
