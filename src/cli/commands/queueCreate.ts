import { createQueue } from "../../queue/admin/queueAdmin.ts";
import { plural } from "../../util/format.ts";
import { parseList } from "../../util/parseList.ts";
import { argument, command, option } from "../command.ts";
import { openQueuesForCommand } from "../queue/queueCommand.ts";

export const { usage, run } = command({
	summary: "Creates a queue on every shard that does not have it.",
	arguments: { queue: argument("QUEUE") },
	options: {
		set: option(
			"NAME=VALUE,…",
			"settings, as queues set takes them, separated by commas",
			"",
		),
	},
	details:
		"A name is a small letter and up to 39 letters and digits. It can be run again: after a shard did not answer, and after the topology got further shards.",
	async run({ queue, set }, context) {
		await using opened = await openQueuesForCommand(context, "readWrite");
		const { store } = opened;
		await store.createTables();
		const created = await createQueue(store, queue, parseList(set));
		const shards = store.shards.length;
		return {
			value: { queue, created, shards },
			lines: [
				`${queue} ${created ? "created" : "is there already"}, on ${plural(shards, "shard")}`,
			],
		};
	},
});
