import { setImmediate } from "node:timers/promises";
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

/** Whether nothing keeps the object in memory any more. Collects garbage a few times, as timers and sockets may let go of it later. */
export async function isCollected(ref: WeakRef<object>): Promise<boolean> {
	setFlagsFromString("--expose-gc");
	const collect: () => void = runInNewContext("gc");
	for (let n = 0; n < 50; n++) {
		// A WeakRef keeps its object until the job ends.
		await setImmediate();
		collect();
		if (ref.deref() === undefined) return true;
	}
	return false;
}
