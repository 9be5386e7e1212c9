import { readCurrent } from "../../topology/history.ts";
import { readTopology } from "../../topology/parseTopology.ts";
import type { ParsedArguments, Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import {
	CHANGE_EXIT_CODES,
	CHANGE_OPTIONS,
	openStoreForCommand,
	publishForCommand,
	UNCHECKED_OPTION,
	versionIn,
} from "../topologyCommand.ts";

export const usage: Usage = {
	summary: "Publishes the topology in FILE as the next version.",
	operands: ["FILE"],
	options: {
		from: {
			value: "N",
			description:
				"the version that FILE was made from (default: the one that it says)",
		},
		first: { description: "only where nothing is stored yet" },
		why: { value: "TEXT", description: "what the history says of it" },
		unchecked: UNCHECKED_OPTION,
		...CHANGE_OPTIONS,
	},
	details: [
		"FILE is checked, and published only if the stored version is the one that it was made from; the new version is the number after it. Where nothing is stored yet, it becomes version 1.",
		"Hosts that it names anew, for shards that are elsewhere now or for more new users, have to serve, with their tables; of the first version nothing is asked.",
		"Then it waits until every process serves it.",
	].join("\n"),
	exitCodes: CHANGE_EXIT_CODES,
};

export async function run(
	{ operands: [file = ""], options }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const given = readTopology(file);
	if (options.first !== undefined) {
		await using store = openStoreForCommand(context);
		const current = await readCurrent(store);
		if (current !== null) {
			const { version } = current.topology;
			context.stdout(
				options.json === undefined
					? `version ${version} is there already`
					: JSON.stringify(
							{ version, dryRun: false, changes: [], members: null },
							null,
							"\t",
						),
			);
			return 0;
		}
	}
	const from =
		options.from === undefined ? given.version : versionIn(options.from);
	return publishForCommand(
		context,
		options,
		// The first has nothing to be made from.
		{ edit: () => given, why: options.why ?? `publish ${file}`, from },
	);
}
