import type { ParsedArguments, Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import {
	SETTINGS_EXIT_CODES,
	SETTINGS_OPTIONS,
	setAndPrint,
} from "../queueSettings.ts";

export const usage: Usage = {
	summary: "Lets the jobs of a paused queue start again, within a second.",
	operands: ["QUEUE"],
	options: SETTINGS_OPTIONS,
	details:
		"A queue with maxJobsPerSecond=0 stays still: raise that with queue set.",
	exitCodes: SETTINGS_EXIT_CODES,
};

export async function run(
	given: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const [queue = ""] = given.operands;
	return setAndPrint(given, context, queue, ["paused=default"]);
}
