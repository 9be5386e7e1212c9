/**
 * What is in memory is answered at once, without a promise; what has to be
 * waited for, with one.
 */
export type MaybePromise<T> = T | Promise<T>;

export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
	return value instanceof Promise;
}

/** Calls `next` at once for a plain value, and otherwise when the promise is fulfilled. What `next` throws is thrown for a plain value. */
export function andThen<T, U>(
	value: MaybePromise<T>,
	next: (value: T) => MaybePromise<U>,
): MaybePromise<U> {
	return value instanceof Promise ? value.then(next) : next(value);
}
