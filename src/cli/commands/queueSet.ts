import type { ParsedArguments, Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import {
	SETTINGS_EXIT_CODES,
	SETTINGS_OPTIONS,
	setAndPrint,
} from "../queueSettings.ts";

export const usage: Usage = {
	summary: "Changes settings of a queue; workers apply them within a second.",
	operands: ["QUEUE", "NAME=VALUE…"],
	options: SETTINGS_OPTIONS,
	details:
		"NAME=default takes the default again. queue list QUEUE prints the settings and what each takes; docs/queue.md explains them.",
	exitCodes: SETTINGS_EXIT_CODES,
};

export async function run(
	given: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const [queue = "", ...values] = given.operands;
	return setAndPrint(given, context, queue, values);
}
