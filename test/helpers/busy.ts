const NOTHING = new Int32Array(new SharedArrayBuffer(4));

/** Keeps the event loop busy for so many milliseconds: no timer runs, and no socket is read. The core is free for others. */
export function busyFor(ms: number): void {
	Atomics.wait(NOTHING, 0, 0, ms);
}

/** Does what comes next in another turn of the event loop, after sockets were read. */
export const nextTurn = () =>
	new Promise<void>((resolve) => setImmediate(resolve));
