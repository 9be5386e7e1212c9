import { readConfig } from "../../config.ts";
import type { ParsedArguments, Usage } from "../arguments.ts";
import { type CommandContext, openForCommand } from "../commandContext.ts";
import { createProgressLine } from "../progress.ts";

export const usage: Usage = {
	summary: "Makes the tables of every shard; those that are there stay.",
	operands: [],
	options: {},
};

export async function run(
	_: ParsedArguments,
	io: CommandContext,
): Promise<number> {
	await using corkboard = await openForCommand(
		io,
		readConfig(io.env),
		"readWrite",
	);
	const { shards, modShards } = corkboard.storage;
	const progress = createProgressLine(io);
	await corkboard.storage.createTables((done, total) =>
		progress.update(`${done} of ${total} shards and mod shards`),
	);
	progress.end();
	io.stdout(
		`${shards.length} shards and ${modShards} mod shards have all their tables`,
	);
	return 0;
}
