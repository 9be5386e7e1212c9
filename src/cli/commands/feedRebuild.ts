import { findUser } from "../../app/findUser.ts";
import { ACTIVE_MS } from "../../feed/generator.ts";
import { enqueueUserWork } from "../../feed/jobs/feedUser.ts";
import type { PoolAdmin, Pools } from "../../feed/pools/pools.ts";
import type { Id } from "../../id/ids.ts";
import { Jobs } from "../../queue/enqueue/jobs.ts";
import { LocalHints } from "../../queue/hints.ts";
import { formatNumber, plural } from "../../util/format.ts";
import { UsageError } from "../arguments.ts";
import { command, DRY_RUN_FLAG, flag, optional } from "../command.ts";
import { openFeedForCommand } from "../feedCommand.ts";
import { createProgressLine } from "../progress.ts";
import { accessOf, openQueuesForCommand } from "../queue/queueCommand.ts";

/** Jobs of one statement. */
const TOGETHER = 500;

export const { usage, run } = command({
	summary:
		"Lets jobs fill the pool of a user, or of all active ones, from what they follow.",
	arguments: { user: optional("USER") },
	options: {
		all: flag(
			"all users who looked at their feed in the last two weeks, as the pools know them",
		),
		dryRun: DRY_RUN_FLAG,
	},
	details:
		"USER is a username or an id. Pools can be lost: this fills them again. The jobs have the lowest priority, and one that waits already is not made twice, so an interrupted run is simply run again. Users whose visits were lost too need no job: their next look reads what they follow.",
	exitCodes: { 130: "interrupted" },
	async run({ user, all, dryRun }, context) {
		if (all === (user !== undefined)) {
			throw new UsageError("Give either USER or --all.");
		}
		await using resources = new AsyncDisposableStack();
		const { corkboard, parts } = await openFeedForCommand(context, resources);
		const queues = resources.use(
			await openQueuesForCommand(context, accessOf(dryRun)),
		);
		const jobs = new Jobs(queues.store, new LocalHints(), null);
		const signal = context.interruptSignal();
		const progress = createProgressLine(context);
		const pages =
			user === undefined
				? activeUsers(parts.pools, parts.now())
				: [[await findUser(corkboard, user)]];
		let users = 0;
		let enqueued = 0;
		for await (const page of pages) {
			if (signal.aborted) break;
			users += page.length;
			if (!dryRun) {
				const done = await enqueueUserWork(jobs, "rebuild", page);
				enqueued += done.filter(({ isMerged }) => !isMerged).length;
			}
			progress.update(`${formatNumber(users)} users`);
		}
		progress.end();
		return {
			value: { dryRun, users, enqueued },
			lines: [
				dryRun
					? `${plural(users, "pool")} would be filled`
					: `${plural(enqueued, "job")} enqueued for ${plural(users, "user")}; queues stats feedUser shows how many are left`,
			],
			...(signal.aborted && {
				notes: ["interrupted: run it again to go on"],
				code: 130,
			}),
		};
	},
});

async function* activeUsers(
	pools: Pools & PoolAdmin,
	now: number,
): AsyncGenerator<readonly Id[], void> {
	for (const shard of pools.shards) {
		let after: Id | null = null;
		for (;;) {
			const page: readonly Id[] = await pools.activeUsers(shard, {
				after,
				activeSince: now - ACTIVE_MS,
				limit: TOGETHER,
			});
			if (page.length > 0) yield page;
			if (page.length < TOGETHER) break;
			after = page.at(-1) ?? null;
		}
	}
}
