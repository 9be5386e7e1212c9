import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../src/errors.ts";
import { claimJobs } from "../../src/queue/claim/claimJobs.ts";
import { LiveSettings } from "../../src/queue/liveSettings.ts";
import { openJobStoreOf } from "../../src/queue/openJobStore.ts";

/** A process that claims whatever it gets of a queue, and finishes nothing: `node claimer.ts QUEUE RANGES`. */
const [queue = "", ranges = "[]"] = process.argv.slice(2);
const store = openJobStoreOf({ queues: JSON.parse(ranges) });
const settings = await LiveSettings.open(store);
process.stdout.write("claiming\n");
for (;;) {
	try {
		const { waitMs } = await claimJobs(store, settings, queue, {
			limit: 100,
			claimMs: 3_600_000,
		});
		await sleep(Math.min(waitMs ?? 50, 50));
	} catch (error) {
		// A file that another process holds for long is as good as a host that is away.
		if (!(error instanceof CorkboardError)) throw error;
		await sleep(20);
	}
}
