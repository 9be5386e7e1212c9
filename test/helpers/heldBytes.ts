import { setImmediate } from "node:timers/promises";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Bytes of the heap that each of these values takes, with all that it keeps: the
 * second least of seven rounds, as a round may also meet tables that grew, code that
 * was compiled, or garbage of the one before.
 */
export function heldBytes(
	count: number,
	make: (at: number) => unknown,
): number {
	setFlagsFromString("--expose-gc");
	const collect: () => void = runInNewContext("gc");
	const rounds = Array.from({ length: 7 }, () => {
		collect();
		const before = process.memoryUsage().heapUsed;
		const values = Array.from({ length: count }, (_, at) => make(at));
		collect();
		return (process.memoryUsage().heapUsed - before) / values.length;
	});
	return rounds.sort((a, b) => a - b)[1] as number;
}

/**
 * Bytes in old space that each of these calls leaves behind, though nothing refers to
 * what it made: what old garbage refers to, the collector of young garbage takes for
 * used. As it runs twice, nothing young is old by its age.
 */
export async function leftBytes(
	count: number,
	call: (at: number) => unknown,
): Promise<number> {
	setFlagsFromString("--expose-gc");
	const collect: (options?: { type: "minor" }) => void = runInNewContext("gc");
	const oldBytes = () =>
		getHeapSpaceStatistics()
			.filter(({ space_name }) => space_name.startsWith("old_"))
			.reduce((sum, { space_used_size }) => sum + space_used_size, 0);
	collect();
	const before = oldBytes();
	for (let at = 0; at < count; at++) {
		await call(at);
		if (at % CALLS_A_COLLECTION !== 0) continue;
		await setImmediate();
		collect({ type: "minor" });
	}
	return (oldBytes() - before) / count;
}

const CALLS_A_COLLECTION = 20;

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
