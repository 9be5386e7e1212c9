import { readTopology } from "../../topology/parseTopology.ts";
import type { ParsedArguments, Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import {
	CHANGE_EXIT_CODES,
	CHANGE_OPTIONS,
	publishForCommand,
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
		why: { value: "TEXT", description: "what the history says of it" },
		...CHANGE_OPTIONS,
	},
	details: [
		"FILE is checked, and published only if the stored version is the one that it was made from; the new version is the number after it. Where nothing is stored yet, it becomes version 1.",
		"Then it waits until every process serves it.",
	].join("\n"),
	exitCodes: CHANGE_EXIT_CODES,
};

export async function run(
	{ operands: [file = ""], options }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const given = readTopology(file);
	const from =
		options.from === undefined ? given.version : versionIn(options.from);
	return publishForCommand(
		context,
		options,
		// The first has nothing to be made from.
		() => given,
		{ why: options.why ?? `publish ${file}`, from },
	);
}
