import pinsApp from "../../pins/app.ts";
/** A worker of the queue, as `corkboard worker` is one, which reports to its parent how long each page of followers took. */

import { openCorkboard } from "../../src/app/openCorkboard.ts";
import { readConfig } from "../../src/config/config.ts";
import { FEED_CHANNELS, type FeedPushed } from "../../src/feed/diagnostics.ts";

/** To the parent: pages that were pushed since the last message. */
export interface WorkerReport {
	readonly lagsMs: readonly number[];
	readonly rows: number;
}

const REPORT_MS = 500;

let lagsMs: number[] = [];
let rows = 0;
FEED_CHANNELS.feedPushed.subscribe((pushed: FeedPushed) => {
	lagsMs.push(pushed.lagMs);
	rows += pushed.rows;
});
{
	await using corkboard = await openCorkboard(pinsApp, readConfig(process.env));
	await using _worker = await corkboard.startWorker({
		queues: null,
		concurrency: Number(process.env.JOBS),
	});
	const report = () => {
		process.send?.({ lagsMs, rows } satisfies WorkerReport);
		lagsMs = [];
		rows = 0;
	};
	report();
	const timer = setInterval(report, REPORT_MS);
	await new Promise<void>((resolve) => {
		process.once("disconnect", resolve);
		process.once("SIGTERM", resolve);
	});
	clearInterval(timer);
}
if (process.connected) process.disconnect();
