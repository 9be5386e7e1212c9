import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Bytes of the heap that each of these values takes, with all that it keeps. */
export function heldBytes(
	count: number,
	make: (at: number) => unknown,
): number {
	setFlagsFromString("--expose-gc");
	const collect: () => void = runInNewContext("gc");
	// Once before, so that code and tables are there already.
	make(0);
	collect();
	const before = process.memoryUsage().heapUsed;
	const values = Array.from({ length: count }, (_, at) => make(at));
	collect();
	const bytes = process.memoryUsage().heapUsed - before;
	return bytes / values.length;
}
