import type { Writable } from "node:stream";

/**
 * From now on, what is written to a socket in one turn of the event loop goes out
 * at its end, with one system call. On a loaded server these calls cost more than
 * what they send.
 */
export function writeOncePerTurn(socket: Pick<Writable, "write">): void {
	const stream = socket as Writable;
	const write = stream.write;
	let isCorked = false;
	stream.write = function corkedWrite(this: Writable, ...args: unknown[]) {
		if (!isCorked) {
			isCorked = true;
			stream.cork();
			setImmediate(() => {
				isCorked = false;
				stream.uncork();
			});
		}
		return write.apply(stream, args as Parameters<typeof write>);
	} as typeof write;
}
