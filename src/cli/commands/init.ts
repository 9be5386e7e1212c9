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
	context.stdout(
		`${shards.length} shards and ${modShards} mod shards have all their tables`,
	);
	return 0;
}
