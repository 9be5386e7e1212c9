import type { Corkboard } from "../../app/openCorkboard.ts";
import { createQueues } from "../../app/openJobs.ts";
import { openPoolsOf } from "../../app/openPools.ts";
import { readConfig } from "../../config/config.ts";
import { plural } from "../../util/format.ts";
import type { ParsedArguments, Usage } from "../arguments.ts";
import { type CommandContext, openForCommand } from "../commandContext.ts";
import { createProgressLine } from "../progress.ts";

export const usage: Usage = {
	summary:
		"Creates the missing tables, columns and queues of every shard. Existing rows stay.",
	operands: [],
	options: {},
};

export async function run(
	_: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	await using corkboard = await openForCommand(
		context,
		readConfig(context.env),
		"readWrite",
	);
	const { shards, modShards } = corkboard.storage;
	const progress = createProgressLine(context);
	await corkboard.storage.createTables((done, total) =>
		progress.update(`${done} of ${total} shards and mod shards`),
	);
	progress.end();
	const queueShards = await createQueueTables(corkboard);
	const pools = await createPoolTables(corkboard);
	context.stdout(
		`${shards.length} shards and ${modShards} mod shards have all their tables`,
	);
	if (queueShards > 0) {
		context.stdout(
			`${plural(queueShards, "queue shard")} ${queueShards === 1 ? "has" : "have"} all queues`,
		);
	}
	if (pools > 0) {
		context.stdout(
			`${plural(pools, "pool shard")} ${pools === 1 ? "has" : "have"} all tables`,
		);
	}
	return 0;
}

/** Of the topology, whether the home feed is on or not. Returns of how many shards. */
async function createPoolTables({
	topology,
}: Pick<Corkboard, "topology">): Promise<number> {
	if (topology.pools === undefined) return 0;
	await using pools = openPoolsOf(topology.pools);
	await pools.createTables();
	return pools.shards.length;
}

/** Returns of how many shards. */
async function createQueueTables({
	queues,
}: Pick<Corkboard, "queues">): Promise<number> {
	if (queues === null) return 0;
	const { store } = queues;
	await store.createTables();
	await createQueues(store);
	return store.shards.length;
}
