import { placeShards } from "../../ops/placeShards.ts";
import type { ParsedArguments, Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import {
	CHANGE_EXIT_CODES,
	CHANGE_OPTIONS,
	publishForCommand,
	required,
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
	return publishForCommand(
		context,
		options,
		(current) => placeShards(required(current), range, { open: false }),
		{ why: `close ${text}` },
	);
}
