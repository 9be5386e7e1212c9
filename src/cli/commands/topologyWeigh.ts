import { placeShards } from "../../ops/edits.ts";
import { existing } from "../../topology/publish.ts";
import type { ParsedArguments, Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import {
	CHANGE_EXIT_CODES,
	CHANGE_OPTIONS,
	publishForCommand,
	shardsIn,
	UNCHECKED_OPTION,
	weightIn,
} from "../topologyCommand.ts";

export const usage: Usage = {
	summary:
		"Sets how many new users each of these shards gets beside one of weight 1.",
	operands: ["SHARDS", "WEIGHT"],
	options: { unchecked: UNCHECKED_OPTION, ...CHANGE_OPTIONS },
	exitCodes: CHANGE_EXIT_CODES,
};

export async function run(
	{ operands: [text = "", given = ""], options }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const range = shardsIn(text);
	const weight = weightIn(given);
	return publishForCommand(context, options, {
		edit: existing((now) => placeShards(now, range, { weight })),
		why: `weigh ${text} ${given}`,
	});
}
