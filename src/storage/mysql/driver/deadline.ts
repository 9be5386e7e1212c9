/** How long somebody waits: until a moment, in milliseconds as `performance.now()` counts them, and no longer than they care. */
export interface Limit {
	readonly until: number;
	readonly signal?: AbortSignal | undefined;
}

export function limitOf(ms: number, signal?: AbortSignal): Limit {
	return { until: performance.now() + ms, signal };
}

/** The sooner of a limit and some milliseconds from now. */
export function sooner({ until, signal }: Limit, ms: number): Limit {
	return { until: Math.min(until, performance.now() + ms), signal };
}

/**
 * The promise, or what `late` makes once the limit has passed, or the signal's
 * reason. What the promise does afterwards is the caller's to clean up; its
 * rejection is swallowed.
 */
export function within<T>(
	promise: Promise<T>,
	{ until, signal }: Limit,
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
