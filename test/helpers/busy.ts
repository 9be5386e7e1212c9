/** Keeps the event loop busy for so many milliseconds: no timer runs, and no socket is read. */
export function busyFor(ms: number): void {
	const end = performance.now() + ms;
	while (performance.now() < end);
}

/** Does what comes next in another turn of the event loop, after sockets were read. */
export const nextTurn = () =>
	new Promise<void>((resolve) => setImmediate(resolve));
