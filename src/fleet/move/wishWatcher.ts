import { setTimeout as sleep } from "node:timers/promises";
import type { CorkboardError } from "../../errors.ts";
import type { Pace } from "../../util/pace.ts";
import { isUnknownRecord } from "../operations/operationRecord.ts";
import { requireRecord, takenOver } from "../operations/operations.ts";
import type { MoveRun } from "./moveRun.ts";
import { readWishes, type Wishes } from "./wishes.ts";

/** Reads once a second what operators wish of a move that this process runs, and whether another process has taken it over. */
export class WishWatcher implements AsyncDisposable {
	readonly #run: MoveRun;
	readonly #pace: Pace;
	readonly #stop = new AbortController();
	readonly #leaving = new AbortController();
	#now: Wishes;
	#lost: CorkboardError | null = null;
	readonly #looking: Promise<void>;
	/** Ends long steps, when it is interrupted or somebody wants the operation. */
	readonly signal: AbortSignal;

	private constructor(run: MoveRun, pace: Pace, now: Wishes) {
		this.#run = run;
		this.#pace = pace;
		this.#now = now;
		const { signal } = run.options;
		this.signal =
			signal === undefined
				? this.#leaving.signal
				: AbortSignal.any([this.#leaving.signal, signal]);
		this.#follow(now);
		this.#looking = this.#look();
	}

	static async begin(run: MoveRun, pace: Pace): Promise<WishWatcher> {
		const { store } = run.options;
		const now = await readWishes(store, run.operation.record.id);
		return new WishWatcher(run, pace, now);
	}

	/** Throws CONFLICT if somebody has taken the operation over. A copy reads no record by itself. */
	requireHeld(): void {
		if (this.#lost !== null) throw this.#lost;
	}

	get now(): Wishes {
		return this.#now;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#stop.abort();
		await this.#looking;
	}

	async #look(): Promise<void> {
		const { store, lookMs = 1_000 } = this.#run.options;
		const { signal } = this.#stop;
		for (;;) {
			await sleep(lookMs, undefined, { signal }).catch(() => {});
			if (signal.aborted) return;
			try {
				const { id, holder } = this.#run.operation.record;
				const { record } = await requireRecord(store, id);
				if (record.holder !== holder) this.#lose(takenOver(id, record.holder));
				this.#follow(await readWishes(store, id));
			} catch (thrown) {
				// If the store does not answer, the next look may.
				if (isUnknownRecord(thrown)) this.#lose(thrown as CorkboardError);
			}
		}
	}

	#lose(lost: CorkboardError): void {
		this.#lost = lost;
		this.#leaving.abort(this.#lost);
	}

	#follow(wishes: Wishes): void {
		this.#now = wishes;
		this.#pace.set({ rowsPerSecond: wishes.rate });
		if (wishes.isPaused) this.#pace.pause();
		else this.#pace.resume();
		if (wishes.isLeaving) this.#leaving.abort();
	}
}
