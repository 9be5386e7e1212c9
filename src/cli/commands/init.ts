import { createQueues } from "../../app/openJobs.ts";
import { readConfig } from "../../config/config.ts";
import type { ParsedArguments, Usage } from "../arguments.ts";
import { type CommandContext, openForCommand } from "../commandContext.ts";
import { createProgressLine } from "../progress.ts";

export const usage: Usage = {
	summary:
		"Creates the missing tables and columns of every shard. Existing rows stay.",
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
	const { queues } = corkboard;
	if (queues !== null) {
		await queues.store.createTables();
		await createQueues(queues.store);
	}
	const kinds = [
		`${shards.length} shards`,
		`${modShards} mod shards`,
		...(queues === null ? [] : [`${queues.store.shards.length} queue shards`]),
	];
	context.stdout(
		`${kinds.slice(0, -1).join(", ")} and ${kinds.at(-1)} have all their tables`,
	);
	return 0;
}
