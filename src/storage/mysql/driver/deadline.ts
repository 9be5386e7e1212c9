/** How long somebody waits: until a moment, in milliseconds as `performance.now()` counts them, and no longer than they care. */
export interface Deadline {
	readonly until: number;
	readonly signal?: AbortSignal | undefined;
}

export function deadlineIn(ms: number, signal?: AbortSignal): Deadline {
	return { until: performance.now() + ms, signal };
}

/** The sooner of a limit and some milliseconds from now. */
export function earlierOf({ until, signal }: Deadline, ms: number): Deadline {
	return { until: Math.min(until, performance.now() + ms), signal };
}

/**
 * The promise, or what `late` makes once the limit has passed, or the signal's
 * reason. What the promise does afterwards is the caller's to clean up; its
 * rejection is swallowed.
 */
export function withDeadline<T>(
	promise: Promise<T>,
	{ until, signal }: Deadline,
	late: () => Error,
): Promise<T> {
	return new Promise((resolve, reject) => {
		const abort = () => {
			settle();
			reject(signal?.reason);
		};
		const timer = setTimeout(
			() => {
				settle();
				reject(late());
			},
			Math.max(0, until - performance.now()),
		);
		const settle = () => {
			clearTimeout(timer);
			signal?.removeEventListener("abort", abort);
		};
		promise.then(
			(value) => {
				settle();
				resolve(value);
			},
			(thrown: unknown) => {
				settle();
				reject(thrown);
			},
		);
		if (signal?.aborted) abort();
		else signal?.addEventListener("abort", abort);
	});
}
