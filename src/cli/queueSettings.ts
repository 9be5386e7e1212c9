import { changeSettings } from "../queue/queueAdmin.ts";
import {
	printSetting,
	type QueueSettings,
	SETTING_NAMES,
} from "../queue/settings.ts";
import { JSON_OPTION, type ParsedArguments } from "./arguments.ts";
import type { CommandContext } from "./commandContext.ts";
import { accessOf } from "./queueChange.ts";
import {
	DRY_RUN_OPTION,
	failuresAsJson,
	openQueuesForCommand,
	reportFailures,
} from "./queueCommand.ts";

/** What `queue set`, `queue pause` and `queue resume` have in common. */

export const SETTINGS_OPTIONS = {
	"dry-run": DRY_RUN_OPTION,
	json: JSON_OPTION,
};

export const SETTINGS_EXIT_CODES = {
	1: "a shard does not answer, and gets the settings when it is run again; they are in force nevertheless. Or an error",
};

export async function setAndPrint(
	given: ParsedArguments,
	context: CommandContext,
	queue: string,
	values: readonly string[],
): Promise<number> {
	const { options } = given;
	const isDryRun = options["dry-run"] !== undefined;
	await using opened = await openQueuesForCommand(context, accessOf(given));
	const { before, after, failures } = await changeSettings(
		opened.store,
		queue,
		values,
		{ dryRun: isDryRun },
	);
	const names = SETTING_NAMES.filter((name) => before[name] !== after[name]);
	if (options.json === undefined) {
		const lines = names.map((name) => line(name, before, after));
		context.stdout(
			lines.length === 0
				? "nothing changes"
				: [...lines, ...(isDryRun ? ["(dry run)"] : [])].join("\n"),
		);
	} else {
		const pick = (settings: QueueSettings) =>
			Object.fromEntries(names.map((name) => [name, settings[name]]));
		const shown = {
			queue,
			dryRun: isDryRun,
			before: pick(before),
			after: pick(after),
			settings: after,
			failures: failuresAsJson(failures),
		};
		context.stdout(JSON.stringify(shown, null, "\t"));
	}
	return reportFailures(context, failures, "does not have the settings yet");
}

function line(
	name: (typeof SETTING_NAMES)[number],
	before: QueueSettings,
	after: QueueSettings,
): string {
	return `${name}: ${printSetting(name, before)} → ${printSetting(name, after)}`;
}
