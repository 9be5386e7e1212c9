import {
	type AnyJob,
	ClaimLost,
	GiveUp,
	Later,
	type StartedJob,
} from "../queue/job.ts";
import { formatJobId } from "../queue/jobId.ts";
import type {
	Ack,
	ClaimedJob,
	JobUpdate,
	ShardOfQueue,
} from "../queue/jobStore.ts";
import { asError, namedReasonOf } from "../util/reasonOf.ts";
import { type Backoff, retryDelayMs } from "./workerQueue.ts";

/** The reason of a job's signal when its worker stops. */
export class WorkerStops extends Error {
	override readonly name = "WorkerStops";
}

/** The reason of a job's signal when its time is over. */
class RanTooLong extends Error {
	override readonly name = "RanTooLong";
}

/** How an attempt has ended: what the store gets, unless the claim is lost. */
export type AttemptOutcome =
	| { readonly kind: "succeed" | "giveUp"; readonly error?: unknown }
	| {
			readonly kind: "fail" | "again" | "release";
			readonly delayMs: number;
			readonly error?: unknown;
	  }
	| { readonly kind: "lost" };

/** Characters of an error that a job's status keeps. */
const MAX_MESSAGE = 500;
/** How long a handler may still run after its signal has aborted, unless the worker stops, which has times of its own. Milliseconds. */
const ABORT_MS = 3_000;

/**
 * Runs one claimed job with its handler. Never rejects. The outcome comes at
 * most `ABORT_MS` after the signal has aborted because the handler ran too long
 * or the claim is lost, even if it ignores the signal: then it continues by
 * itself, and nothing that it reports counts.
 */
export async function runJob<Context>(
	kind: AnyJob<Context>,
	claimed: ClaimedJob,
	options: {
		readonly place: ShardOfQueue;
		readonly context: Context;
		readonly abortion: Abortion;
		readonly backoff: Backoff;
		/** Resolves when the store has the change. Throws ClaimLost. */
		readonly checkpoint: (update: JobUpdate) => Promise<void>;
	},
): Promise<AttemptOutcome> {
	const { place, context, abortion, backoff } = options;
	const tooLong = setTimeout(
		() =>
			abortion.abort(
				new RanTooLong(`It ran longer than ${kind.maxRunMs / 1_000} s.`),
			),
		kind.maxRunMs,
	);
	// A handler that ignores that its worker stops does not keep the process.
	tooLong.unref();
	let isOver = false;
	const started: StartedJob = {
		// Most handlers ask for neither.
		get id() {
			return formatJobId({ ...place, ...claimed });
		},
		get signal() {
			return abortion.signal;
		},
		body: claimed.body,
		attempt: claimed.attempts,
		allowed: claimed.allowed,
		async checkpoint({ body, note }) {
			if (isOver || abortion.reason instanceof ClaimLost) {
				throw new ClaimLost("The claim of the job has ended.");
			}
			await options.checkpoint({
				...(body !== undefined && { body }),
				...(note !== undefined && { status: note }),
			});
		},
	};
	try {
		await new Promise<void>((resolve, reject) => {
			// Then nobody waits for the handler any more.
			abortion.onAbort((reason) => {
				if (reason instanceof WorkerStops) return;
				setTimeout(() => reject(reason), ABORT_MS).unref();
			});
			kind.start(started, context).then(resolve, reject);
		});
		return abortion.reason instanceof ClaimLost
			? { kind: "lost" }
			: { kind: "succeed" };
	} catch (thrown) {
		return outcomeOf(asError(thrown), abortion, claimed, backoff);
	} finally {
		isOver = true;
		clearTimeout(tooLong);
	}
}

function outcomeOf(
	error: unknown,
	{ reason }: Abortion,
	{ attempts }: ClaimedJob,
	backoff: Backoff,
): AttemptOutcome {
	if (error instanceof ClaimLost || reason instanceof ClaimLost) {
		return { kind: "lost" };
	}
	if (error instanceof Later) {
		return { kind: "again", delayMs: error.ms, error };
	}
	if (error instanceof GiveUp) return { kind: "giveUp", error };
	// It ended early because it was asked to: that is no failure of the job.
	if (reason instanceof WorkerStops) return { kind: "release", delayMs: 0 };
	return { kind: "fail", delayMs: retryDelayMs(attempts, backoff), error };
}

/** What the store gets. */
export function ackOf(
	outcome: Exclude<AttemptOutcome, { readonly kind: "lost" }>,
	{ local, bucket, claim, attempts }: ClaimedJob,
): Ack {
	const held = { local, bucket, claim };
	const status = statusOf(outcome.error, attempts);
	const update = status === null ? {} : { status };
	return "delayMs" in outcome
		? { ...held, ...update, kind: outcome.kind, delayMs: outcome.delayMs }
		: outcome.kind === "succeed"
			? { ...held, kind: "succeed" }
			: { ...held, ...update, kind: outcome.kind };
}

function statusOf(error: unknown, attempt: number): string | null {
	if (error === undefined) return null;
	// A line of the status: without ends of lines and control characters.
	const line = namedReasonOf(error)
		.replaceAll(/\p{Cc}+/gu, " ")
		.slice(0, MAX_MESSAGE);
	return `attempt ${attempt}: ${line}`;
}

/**
 * Whether a job is to stop, and why. Its `AbortSignal` is made when a handler
 * asks for it: most jobs are over before anybody does, and the signal costs
 * more than the rest of a short job.
 */
export class Abortion {
	#controller: AbortController | undefined;
	#reason: Error | undefined;
	readonly #listeners: ((reason: Error) => void)[] = [];

	/** Why; undefined while it is not aborted. */
	get reason(): Error | undefined {
		return this.#reason;
	}

	get signal(): AbortSignal {
		if (this.#controller === undefined) {
			this.#controller = new AbortController();
			if (this.#reason !== undefined) this.#controller.abort(this.#reason);
		}
		return this.#controller.signal;
	}

	/** The first reason stands. */
	abort(reason: Error): void {
		if (this.#reason !== undefined) return;
		this.#reason = reason;
		this.#controller?.abort(reason);
		for (const listener of this.#listeners) listener(reason);
	}

	/** Calls back when it is aborted. */
	onAbort(listener: (reason: Error) => void): void {
		this.#listeners.push(listener);
	}
}
