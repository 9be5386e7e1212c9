import pinsApp from "../../pins/app.ts";
import { openCorkboard } from "../../src/app/openCorkboard.ts";
import { readConfig } from "../../src/config/config.ts";
import { FEED_CHANNELS, type FeedPushed } from "../../src/feed/diagnostics.ts";
import { feedItem } from "../../src/feed/jobs/feedItem.ts";
import { createWrites } from "../../src/graph/write/createWrites.ts";
import type { Id } from "../../src/id/ids.ts";
import type { Progress } from "../progress.ts";
import { countDue, type FeedFleet, visitAll } from "./fleet.ts";
import { drained, drawOwner } from "./lag.ts";
import type { Options } from "./options.ts";
import { lookersOf } from "./pages.ts";
import { type Measurement, percentile } from "./results.ts";

const JOBS = 50;

/** What a pin costs those who push, and a look those who look, for some limits. */
export async function measurePushLimit(
	fleet: FeedFleet,
	options: Options,
	progress: Progress,
): Promise<readonly Measurement[]> {
	const measured: Measurement[] = [];
	for (const [round, limit] of options.limits.entries()) {
		await clearPulled(fleet);
		await using corkboard = await openCorkboard(
			pinsApp,
			readConfig({ ...fleet.env, CORKBOARD_FEED_PUSH_LIMIT: String(limit) }),
		);
		const { feed, queues } = corkboard;
		if (feed === null || queues === null) throw new Error("no pools");
		const { pools } = feed.parts;
		const { users, boards } = fleet.graph;
		await visitAll(pools, users);
		const writes = createWrites(corkboard.store);
		const pins = await Promise.all(
			Array.from({ length: options.pins }, (_, nth) => {
				const owner = drawOwner(fleet, round * options.pins + nth);
				return writes.create({
					type: "Pin",
					data: {
						user_id: users[owner] as Id,
						board_id: boards[owner] as Id,
						created_at: new Date().toISOString(),
					},
				});
			}),
		);
		let rows = 0;
		const count = (message: FeedPushed) => {
			rows += message.rows;
		};
		FEED_CHANNELS.feedPushed.subscribe(count);
		const own = process.cpuUsage();
		const began = performance.now();
		{
			await using _worker = await corkboard.startWorker({
				queues: null,
				concurrency: JOBS,
			});
			await queues.jobs.enqueueAll(
				feedItem,
				pins.map((pin) => ({ body: { item: pin } })),
			);
			await drained(() => countDue(queues, 100));
		}
		const pushMs = performance.now() - began;
		const { user, system } = process.cpuUsage(own);
		FEED_CHANNELS.feedPushed.unsubscribe(count);
		const looks: number[] = [];
		for (const looker of lookersOf(fleet, Math.ceil(options.lookers / 4))) {
			const at = performance.now();
			await feed.refresh(users[looker] as Id);
			looks.push(performance.now() - at);
		}
		await feed.flush();
		const values = {
			"rows a pin": rows / pins.length,
			"ms a pin": pushMs / pins.length,
			"worker CPU ms a pin": (user + system) / 1_000 / pins.length,
			"producers that are pulled": (await pools.pulled()).length,
			"look p50 ms": percentile(looks, 0.5),
			"look p99 ms": percentile(looks, 0.99),
		};
		measured.push({ part: "limit", name: String(limit), values });
		progress.say(
			`limit ${limit}: ${values["rows a pin"].toFixed(1)} rows a pin, look p50 ${values["look p50 ms"].toFixed(1)} ms`,
		);
	}
	return measured;
}

/** Before a process reads which producers are pulled. */
async function clearPulled({ env }: FeedFleet): Promise<void> {
	await using corkboard = await openCorkboard(pinsApp, readConfig(env));
	const pools = corkboard.feed?.parts.pools;
	for (const { producer } of (await pools?.pulled()) ?? []) {
		await pools?.putPulled(producer, { since: null, pushedSince: 0 });
	}
}
