import { channel } from "node:diagnostics_channel";

/**
 * A diagnostics channel: what a room of the program reports to metrics, the log, and
 * tests that count calls. Nothing is computed for one without subscribers. The
 * `diagnostics.ts` of each room has its channels and their messages.
 */
export interface Channel<T> {
	readonly hasSubscribers: boolean;
	publish(message: T): void;
	subscribe(listener: (message: T) => void): void;
	unsubscribe(listener: (message: T) => void): void;
}

/** All publishers have this object, so each message is a `T`: Node's type does not know that. */
export function channelOf<T>(name: string): Channel<T> {
	return channel(name) as Channel<T>;
}

/** Calls `listener` with each message until disposed. */
export function listen<T>(
	from: Channel<T>,
	listener: (message: T) => void,
): Disposable {
	from.subscribe(listener);
	return { [Symbol.dispose]: () => from.unsubscribe(listener) };
}

/** What can say at any time how full it is, such as all pools of the process. */
export class Levels<T> {
	readonly #sources = new Set<() => T>();

	/** `source` is asked until disposed. */
	add(source: () => T): Disposable {
		this.#sources.add(source);
		return { [Symbol.dispose]: () => void this.#sources.delete(source) };
	}

	read(): readonly T[] {
		return [...this.#sources].map((source) => source());
	}
}
