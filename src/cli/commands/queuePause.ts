import type { ParsedArguments, Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import {
	SETTINGS_EXIT_CODES,
	SETTINGS_OPTIONS,
	setAndPrint,
} from "../queueSettings.ts";

export const usage: Usage = {
	summary: "Pauses a queue: within a second no job of it starts any more.",
	operands: ["QUEUE"],
	options: SETTINGS_OPTIONS,
	details:
		"Jobs that run go on to their end, and new jobs are accepted. queue resume undoes it; a rate limit stays as it is.",
	exitCodes: SETTINGS_EXIT_CODES,
};

export async function run(
	given: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const [queue = ""] = given.operands;
	return setAndPrint(given, context, queue, ["paused=true"]);
}
