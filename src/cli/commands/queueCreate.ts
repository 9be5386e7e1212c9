import { createQueue } from "../../queue/queueAdmin.ts";
import { plural } from "../../util/format.ts";
import { JSON_OPTION, type ParsedArguments, type Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import { openQueuesForCommand } from "../queueCommand.ts";

export const usage: Usage = {
	summary: "Creates a queue on every shard that does not have it.",
	operands: ["QUEUE"],
	options: {
		set: {
			value: "NAME=VALUE,…",
			description: "settings, as queue set takes them, separated by commas",
		},
		json: JSON_OPTION,
	},
	details:
		"A name is a small letter and up to 39 letters and digits. It can be run again: after a shard did not answer, and after the topology got further shards.",
};

export async function run(
	{ operands: [name = ""], options }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const settings = (options.set ?? "").split(",").filter((one) => one !== "");
	await using opened = await openQueuesForCommand(context, "readWrite");
	const { store } = opened;
	await store.createTables();
	const created = await createQueue(store, name, settings);
	const shards = store.shards.length;
	context.stdout(
		options.json === undefined
			? `${name} ${created ? "created" : "is there already"}, on ${plural(shards, "shard")}`
			: JSON.stringify({ queue: name, created, shards }, null, "\t"),
	);
	return 0;
}
