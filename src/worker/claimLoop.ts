import { randomUUID } from "node:crypto";
import {
	type DueBucket,
	DueProbe,
	type Probed,
} from "../queue/claim/dueProbe.ts";
import { ShardChoice } from "../queue/claim/shardChoice.ts";
import { QUEUE_CHANNELS } from "../queue/diagnostics.ts";
import type { JobHints } from "../queue/hints.ts";
import { newClaim } from "../queue/jobId.ts";
import {
	type ClaimedJob,
	type JobStore,
	MAX_JOBS,
	type Priority,
	type ShardOfQueue,
} from "../queue/jobStore.ts";
import type { LiveSettings } from "../queue/liveSettings.ts";
import { monotonicMs } from "../util/monotonic.ts";
import type { Acks } from "./acks.ts";
import type { Capacity } from "./capacity.ts";
import {
	afterFollowing,
	afterHinted,
	afterProbe,
	afterWait,
	type ClaimAction,
	nextAction,
	type Pace,
	startingPace,
	type WorkerState,
} from "./claimPace.ts";
import type { HeldClaims } from "./heldJobs.ts";
import type { WorkerLimits } from "./limits.ts";
import type { ShardProblems } from "./shardProblems.ts";
import type { WorkerQueue } from "./workerQueue.ts";

/** The lease of the process that probes for all while they are idle; it asks again every `hintedIdleMs`. */
const PROBING = { name: "probe", ms: 5_000 };

/** Claims of different places at the same time. */
const MAX_CLAIMS = 3;
/** Jobs that a claim may take by itself. More are shared by the claims of several places, so that they run beside each other. */
const SHARED_FROM = 50;

export interface ClaimedTogether extends HeldClaims {
	readonly jobs: readonly ClaimedJob[];
}

interface HintedJobs {
	readonly place: ShardOfQueue;
	readonly priority: Priority;
}

interface ClaimLoopOptions<Context> {
	readonly store: JobStore;
	readonly settings: LiveSettings;
	readonly hints: JobHints;
	/** By name. */
	readonly queues: ReadonlyMap<string, WorkerQueue<Context>>;
	readonly limits: WorkerLimits;
	/** What waits for a place goes with a claim there. */
	readonly acks: Acks;
	readonly problems: ShardProblems;
	/** Woken when the worker wants jobs again. */
	readonly wake: WakeUp;
	readonly signal: AbortSignal;
	/** How many jobs the worker has room for. */
	readonly capacity: Capacity;
	readonly onClaimed: (
		queue: WorkerQueue<Context>,
		claimed: ClaimedTogether,
	) => void;
}

/**
 * Claims jobs for a worker that wants some: looks for jobs of all its queues on
 * all shards (`DueProbe`), decides where to claim first (`ShardChoice`), and
 * waits while nothing is due.
 */
export class ClaimLoop<Context> {
	readonly #options: ClaimLoopOptions<Context>;
	readonly #probe: DueProbe;
	readonly #choice = new ShardChoice(randomUUID());
	/** Something may be due somewhere: a probe finds out where. */
	#isHinted = false;
	/** Where jobs were enqueued that nobody has claimed yet, by place and priority. */
	readonly #hinted = new Map<string, HintedJobs>();
	/** By place, in milliseconds of `monotonicMs`. */
	readonly #limitedUntil = new Map<string, number>();

	constructor(options: ClaimLoopOptions<Context>) {
		this.#options = options;
		this.#probe = new DueProbe(options.store);
	}

	/** A job may be due at a place. With its priority it is claimed there without a probe. */
	hint(place: ShardOfQueue, priority: Priority | null): void {
		if (priority === null) this.#isHinted = true;
		else {
			const { queue, shard } = place;
			const key = `${queue} ${shard} ${priority}`;
			this.#hinted.set(key, { place, priority });
		}
		this.#options.wake.wake();
	}

	/** Claims until the signal aborts. */
	async run(): Promise<void> {
		const { signal, limits } = this.#options;
		let pace = startingPace(limits);
		while (!signal.aborted) {
			pace = await this.#act(nextAction(pace, this.#workerState, limits), pace);
		}
	}

	get #workerState(): WorkerState {
		return {
			now: monotonicMs(),
			wants: this.#options.capacity.wants,
			isHinted: this.#isHinted,
			hasHintedPlaces: this.#hinted.size > 0,
			isConnected: this.#options.hints.isConnected,
		};
	}

	/** Returns the pace after the action. */
	async #act(action: ClaimAction, pace: Pace): Promise<Pace> {
		const { wake, limits } = this.#options;
		switch (action.kind) {
			case "rest":
				await wake.wait(Number.POSITIVE_INFINITY);
				return pace;
			case "wait":
				return afterWait(pace, await wake.wait(action.ms));
			case "claimHinted": {
				const found = await this.#claimFrom(await this.#takeHinted());
				return afterHinted(pace, found, monotonicMs(), limits);
			}
			case "probe":
				return this.#probeAndClaim(action, pace);
		}
	}

	async #probeAndClaim(
		{ isIdle, unlessFollowing }: ClaimAction & { readonly kind: "probe" },
		pace: Pace,
	): Promise<Pace> {
		const { store, settings, hints, queues, limits, problems } = this.#options;
		this.#isHinted = false;
		// The probe sees what they are about.
		this.#hinted.clear();
		if (unlessFollowing && !(await hints.leads([...queues.keys()], PROBING))) {
			return afterFollowing(pace, monotonicMs(), limits);
		}
		const probedAt = monotonicMs();
		const started = [...queues.keys()].filter(
			(name) => !settings.isStopped(name),
		);
		const { shards } = store;
		let probed: Pick<Probed, "due" | "nextMs"> = { due: [], nextMs: null };
		try {
			const found = await this.#probe.find(started, shards);
			problems.asked(shards, found.failures);
			probed = found;
		} catch (error) {
			problems.failed(null, error);
		}
		const { due, nextMs } = this.#withoutLimited(probed);
		if (isIdle && hints.isConnected) {
			for (const { queue, shard } of due) hints.publish(queue, shard);
		}
		const found = await this.#claimFrom(due);
		const { isConnected } = hints;
		return afterProbe(
			pace,
			{ ...found, probedAt, due: due.length, nextMs, isConnected },
			monotonicMs(),
			limits,
		);
	}

	/** Where hints say that jobs were enqueued, and they may start. */
	async #takeHinted(): Promise<readonly DueBucket[]> {
		const { settings, problems } = this.#options;
		const hinted = [...this.#hinted.values()].filter(
			({ place }) => !settings.isStopped(place.queue),
		);
		this.#hinted.clear();
		const due = await Promise.all(
			hinted.map(async ({ place, priority }) => {
				try {
					return [await this.#probe.recent(place, priority)];
				} catch (error) {
					problems.failed(place.shard, error);
					return [];
				}
			}),
		);
		return this.#withoutLimited({ due: due.flat(), nextMs: null }).due;
	}

	/** Leaves out places whose rate lets nothing start, and counts when it does. */
	#withoutLimited({ due, nextMs }: Pick<Probed, "due" | "nextMs">): {
		readonly due: readonly DueBucket[];
		readonly nextMs: number | null;
	} {
		const now = monotonicMs();
		let next = nextMs;
		const open = due.filter((place) => {
			const name = nameOfPlace(place);
			const waitMs = (this.#limitedUntil.get(name) ?? 0) - now;
			if (waitMs <= 0) {
				this.#limitedUntil.delete(name);
				return true;
			}
			next = Math.min(next ?? waitMs, waitMs);
			return false;
		});
		return { due: open, nextMs: next };
	}

	/** Claims from the places until there is enough, or nothing left there (`isDrained`). */
	async #claimFrom(due: readonly DueBucket[]): Promise<{
		/** Jobs. */
		readonly claimed: number;
		readonly isDrained: boolean;
	}> {
		const { store, signal, capacity } = this.#options;
		const left = new Set(due);
		const claims = new Set<Promise<void>>();
		let total = 0;
		while (!signal.aborted) {
			const place =
				claims.size < MAX_CLAIMS && capacity.wants
					? this.#choice.next([...left], store.shards)
					: undefined;
			if (place === undefined) {
				if (claims.size === 0) break;
				await Promise.race(claims);
				continue;
			}
			left.delete(place);
			const claim = this.#claim(place)
				.then(({ taken, rest }) => {
					total += taken;
					if (rest !== null) left.add(rest);
				})
				.finally(() => claims.delete(claim));
			claims.add(claim);
		}
		await Promise.all(claims);
		return { claimed: total, isDrained: left.size === 0 };
	}

	/** Never rejects. `rest` is where the next claim of the place begins, if there may be more. */
	async #claim(place: DueBucket): Promise<{
		readonly taken: number;
		readonly rest: DueBucket | null;
	}> {
		const { queue, shard } = place;
		const { queues, settings, acks, problems, capacity } = this.#options;
		const workerQueue = queues.get(queue) as WorkerQueue<Context>;
		const share = Math.max(SHARED_FROM, Math.ceil(capacity.total / MAX_CLAIMS));
		const limit = Math.min(
			capacity.room,
			share,
			workerQueue.mostJobs,
			MAX_JOBS,
		);
		if (limit === 0) return { taken: 0, rest: null };
		const own = acks.take(place);
		const endReservation = capacity.reserve(limit);
		const since = monotonicMs();
		try {
			const { claimMs } = workerQueue;
			const { bucket, priority, oldestAt } = place;
			const range = { bucket, priority, floor: oldestAt, limit, claimMs };
			const { claimed, acked, waitMs } = await this.#options.store.ackAndClaim(
				{ queue, shard },
				{
					acks: own.map(({ ack }) => ack),
					claim: {
						...range,
						claim: newClaim(),
						limits: settings.limit(place),
					},
				},
			);
			this.#probe.claimed(place, claimed, claimMs);
			publishClaim(place, claimed.length, monotonicMs() - since);
			acks.settle(own, acked);
			endReservation();
			// Until then the rate lets nothing start there.
			if (waitMs) this.#limitedUntil.set(nameOfPlace(place), since + waitMs);
			if (claimed.length === 0) return { taken: 0, rest: null };
			this.#options.onClaimed(workerQueue, {
				place: { queue, shard },
				jobs: claimed,
				claimMs,
				since,
			});
			const last = claimed.at(-1) as ClaimedJob;
			return {
				taken: claimed.length,
				rest:
					claimed.length < limit ? null : { ...place, oldestAt: last.dueAt },
			};
		} catch (error) {
			endReservation();
			acks.fail(place, own, error);
			problems.failed(shard, error);
			return { taken: 0, rest: null };
		}
	}
}

function publishClaim(
	{ queue, shard }: ShardOfQueue,
	jobs: number,
	ms: number,
): void {
	if (!QUEUE_CHANNELS.jobsClaimed.hasSubscribers) return;
	QUEUE_CHANNELS.jobsClaimed.publish({ queue, shard, jobs, ms });
}

function nameOfPlace({ queue, shard }: ShardOfQueue): string {
	return `${queue} ${shard}`;
}

/** Lets one loop wait until something wakes it. A wake-up while it does not wait ends its next wait at once. */
export class WakeUp {
	#isDue = false;
	#resolve: (() => void) | undefined;

	wake(): void {
		this.#isDue = true;
		this.#resolve?.();
	}

	/** Resolves at a wake-up, or after so many milliseconds; with whether it was woken. */
	async wait(ms: number): Promise<boolean> {
		if (!this.#isDue) {
			let timer: NodeJS.Timeout | undefined;
			await new Promise<void>((resolve) => {
				this.#resolve = resolve;
				if (ms !== Number.POSITIVE_INFINITY) timer = setTimeout(resolve, ms);
			});
			clearTimeout(timer);
			this.#resolve = undefined;
		}
		const wasWoken = this.#isDue;
		this.#isDue = false;
		return wasWoken;
	}
}
