import { findUser } from "../../app/findUser.ts";
import { ACTIVE_MS } from "../../feed/generator.ts";
import { enqueueUserWork } from "../../feed/jobs/feedUser.ts";
import type { Pools } from "../../feed/pools.ts";
import type { Id } from "../../id/ids.ts";
import { LocalHints } from "../../queue/hints.ts";
import { Jobs } from "../../queue/jobs.ts";
import { formatNumber, plural } from "../../util/format.ts";
import {
	JSON_OPTION,
	type ParsedArguments,
	type Usage,
	UsageError,
} from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import { openFeedForCommand } from "../feedCommand.ts";
import { createProgressLine } from "../progress.ts";
import { DRY_RUN_OPTION, openQueuesForCommand } from "../queueCommand.ts";

export const usage: Usage = {
	summary:
		"Lets jobs fill the pool of a user, or of all active ones, from what they follow.",
	operands: [],
	optionalOperands: ["USER"],
	options: {
		all: {
			description:
				"all users who looked at their feed in the last two weeks, as the pools know them",
		},
		"dry-run": DRY_RUN_OPTION,
		json: JSON_OPTION,
	},
	details:
		"USER is a username or an id. Pools can be lost: this fills them again. The jobs have the lowest priority, and one that waits already is not made twice, so an interrupted run is simply run again. Users whose visits were lost too need no job: their next look reads what they follow.",
	exitCodes: { 130: "interrupted" },
};

/** Jobs of one statement. */
const TOGETHER = 500;

export async function run(
	{ operands: [name], options }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const isAll = options.all !== undefined;
	if (isAll === (name !== undefined)) {
		throw new UsageError("Give either USER or --all.");
	}
	const isDryRun = options["dry-run"] !== undefined;
	await using resources = new AsyncDisposableStack();
	const { corkboard, parts } = await openFeedForCommand(context, resources);
	const queues = resources.use(
		await openQueuesForCommand(context, isDryRun ? "readOnly" : "readWrite"),
	);
	const jobs = new Jobs(queues.store, new LocalHints(), null);
	const signal = context.interruptSignal();
	const progress = createProgressLine(context);
	const pages =
		name === undefined
			? activeUsers(parts.pools, parts.now())
			: [[await findUser(corkboard, name)]];
	let users = 0;
	let enqueued = 0;
	for await (const page of pages) {
		if (signal.aborted) break;
		users += page.length;
		if (!isDryRun) {
			const done = await enqueueUserWork(jobs, "rebuild", page);
			enqueued += done.filter(({ isMerged }) => !isMerged).length;
		}
		progress.update(`${formatNumber(users)} users`);
	}
	progress.end();
	if (options.json !== undefined) {
		const shown = { dryRun: isDryRun, users, enqueued };
		context.stdout(JSON.stringify(shown, null, "\t"));
	} else {
		context.stdout(
			isDryRun
				? `${plural(users, "pool")} would be filled`
				: `${plural(enqueued, "job")} enqueued for ${plural(users, "user")}; queue stats feedUser shows how many are left`,
		);
	}
	if (!signal.aborted) return 0;
	context.stderr("interrupted: run it again to go on");
	return 130;
}

async function* activeUsers(
	pools: Pools,
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
