import { placeShards } from "../../ops/edits.ts";
import { existing } from "../../topology/publish.ts";
import type { ParsedArguments, Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import {
	CHANGE_EXIT_CODES,
	CHANGE_OPTIONS,
	publishForCommand,
	shardsIn,
} from "../topologyCommand.ts";

export const usage: Usage = {
	summary: "Closes shards: they serve all they have, and get no new users.",
	operands: ["SHARDS"],
	options: CHANGE_OPTIONS,
	exitCodes: CHANGE_EXIT_CODES,
};

export async function run(
	{ operands: [text = ""], options }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const range = shardsIn(text);
	return publishForCommand(context, options, {
		edit: existing((now) => placeShards(now, range, { open: false })),
		why: `close ${text}`,
	});
}
