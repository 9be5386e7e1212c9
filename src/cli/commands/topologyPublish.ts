import { readCurrent } from "../../topology/history.ts";
import { readTopology } from "../../topology/parseTopology.ts";
import { argument, command, flag, option } from "../command.ts";
import {
	CHANGE_EXIT_CODES,
	CHANGE_OPTIONS,
	openStoreForCommand,
	publishForCommand,
	UNCHECKED,
} from "../topologyCommand.ts";
import { version } from "../values.ts";

export const { usage, run } = command({
	summary: "Publishes the topology in FILE as the next version.",
	arguments: { file: argument("FILE") },
	options: {
		from: option(
			version("N"),
			"the version that FILE was made from (default: the one that it says)",
		),
		first: flag("only where nothing is stored yet"),
		why: option("TEXT", "what the history says of it"),
		unchecked: UNCHECKED,
		...CHANGE_OPTIONS,
	},
	details: [
		"FILE is checked, and published only if the stored version is the one that it was made from; the new version is the number after it. Where nothing is stored yet, it becomes version 1.",
		"Hosts that it names anew, for shards that are elsewhere now or for more new users, have to serve, with their tables; of the first version nothing is asked.",
		"Then it waits until every process serves it.",
	].join("\n"),
	exitCodes: CHANGE_EXIT_CODES,
	async run({ file, from, first, why, ...given }, context) {
		const read = readTopology(file);
		if (first) {
			await using store = openStoreForCommand(context);
			const current = await readCurrent(store);
			if (current !== null) {
				const { version } = current.topology;
				return {
					value: { version, dryRun: false, changes: [], members: null },
					lines: [`version ${version} is there already`],
				};
			}
		}
		return publishForCommand(context, given, {
			// The first has nothing to be made from.
			edit: () => read,
			why: why ?? `publish ${file}`,
			from: from ?? read.version,
		});
	},
});
