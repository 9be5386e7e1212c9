import { CorkboardError } from "../errors.ts";

/** When to stop waiting: at a moment, or when a signal is aborted. */
export interface Deadline {
	/** In milliseconds of `performance.now()`. */
	readonly until: number;
	readonly signal?: AbortSignal | undefined;
}

/** When an operation ends, whether it is done or not. */
export interface OperationDeadline {
	/** Whether that is past. */
	readonly isOver: boolean;
	/** Aborted then. Ask for it only if you wait, because watching for it costs microseconds. */
	readonly signal: AbortSignal;
}

export function deadlineIn(ms: number, signal?: AbortSignal): Deadline {
	return { until: performance.now() + ms, signal };
}

/** The earlier of a deadline and some milliseconds from now. */
export function earlierOf({ until, signal }: Deadline, ms: number): Deadline {
	return { until: Math.min(until, performance.now() + ms), signal };
}

/**
 * Settles as the promise does, if it does so in time. Otherwise rejects with
 * `timeoutError`, or with the reason of the signal. What the promise does
 * afterwards is ignored, also a rejection.
 *
 * A process that was busy past the deadline may have the answer in a socket it
 * has not read: timers run first in a turn of the event loop, `setImmediate`
 * after the sockets. So sockets are read once more before the wait ends.
 */
export function withDeadline<T>(
	promise: Promise<T>,
	{
		until = Number.POSITIVE_INFINITY,
		signal,
		graceMs = 0,
	}: Partial<Deadline> & {
		/** How long after the signal the promise may still settle. */
		readonly graceMs?: number;
	},
	timeoutError: () => unknown = noAnswer,
): Promise<T> {
	return new Promise((resolve, reject) => {
		let timer: NodeJS.Timeout | undefined;
		let graceTimer: NodeJS.Timeout | undefined;
		const stop = () => {
			clearTimeout(timer);
			clearTimeout(graceTimer);
			signal?.removeEventListener("abort", onAbort);
		};
		const giveUp = (reason: unknown) => {
			stop();
			reject(reason);
		};
		const onAbort = () => {
			if (graceMs === 0) return giveUp(signal?.reason);
			graceTimer = setTimeout(() => giveUp(signal?.reason), graceMs);
		};
		if (until !== Number.POSITIVE_INFINITY) {
			timer = setTimeout(
				() => setImmediate(() => giveUp(timeoutError())),
				Math.max(0, until - performance.now()),
			);
		}
		promise.then(resolve, reject).finally(stop);
		if (signal?.aborted) onAbort();
		else signal?.addEventListener("abort", onAbort, { once: true });
	});
}

function noAnswer(): CorkboardError {
	return new CorkboardError("UNAVAILABLE", "No answer in time.");
}
