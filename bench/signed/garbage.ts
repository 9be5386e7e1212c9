import { setTimeout as sleep } from "node:timers/promises";
import { Inspector } from "./inspector.ts";

export interface Garbage {
	/** The share of samples in the collector, of those in which the main thread did something. */
	readonly profiled: number;
	/** The share of pauses, as the process reports them, in the time in which the event loop was busy. Without profiler. */
	readonly paused: number;
	/** A second. */
	readonly collections: number;
}

interface Profile {
	readonly nodes: readonly {
		readonly id: number;
		readonly callFrame: { readonly functionName: string };
	}[];
	readonly samples: readonly number[];
	/** Microseconds before each sample. */
	readonly timeDeltas: readonly number[];
}

/** Counts pauses in the server from now on. */
const WATCH = `(() => {
	const watched = { ms: 0, count: 0, from: performance.eventLoopUtilization() };
	watched.observer = new PerformanceObserver((list) => {
		for (const { duration } of list.getEntries()) {
			watched.ms += duration;
			watched.count++;
		}
	});
	watched.observer.observe({ entryTypes: ["gc"] });
	globalThis.watchedGarbage = watched;
})()`;
const READ = `(() => {
	const { ms, count, from, observer } = globalThis.watchedGarbage;
	observer.disconnect();
	delete globalThis.watchedGarbage;
	return { ms, count, active: performance.eventLoopUtilization(from).active };
})()`;

/** For so many seconds without the profiler, and as many with it. */
export async function garbageOf(
	port: number,
	seconds: number,
): Promise<Garbage> {
	using inspector = await Inspector.open(port);
	await inspector.evaluate(WATCH);
	await sleep(seconds * 1_000);
	const watched = (await inspector.evaluate(READ)) as {
		readonly ms: number;
		readonly count: number;
		readonly active: number;
	};
	await inspector.send("Profiler.enable");
	await inspector.send("Profiler.start");
	await sleep(seconds * 1_000);
	const { profile } = (await inspector.send("Profiler.stop")) as {
		readonly profile: Profile;
	};
	await inspector.send("Profiler.disable");
	return {
		profiled: shareOfCollector(profile),
		paused: watched.ms / Math.max(1, watched.active),
		collections: watched.count / seconds,
	};
}

export function shareOfCollector({
	nodes,
	samples,
	timeDeltas,
}: Profile): number {
	const names = new Map(
		nodes.map(({ id, callFrame }) => [id, callFrame.functionName]),
	);
	let busy = 0;
	let collecting = 0;
	for (const [n, id] of samples.entries()) {
		const name = names.get(id);
		if (name === "(idle)") continue;
		// A sample stands for the time until the next one.
		const took = timeDeltas[n + 1] ?? 0;
		busy += took;
		if (name === "(garbage collector)") collecting += took;
	}
	return collecting / Math.max(1, busy);
}
