import { changeSettings } from "../../queue/admin/queueAdmin.ts";
import {
	printSetting,
	type QueueSettings,
	SETTING_NAMES,
} from "../../queue/settings.ts";
import { argument, command, DRY_RUN_FLAG, type Result } from "../command.ts";
import type { CommandContext } from "../commandContext.ts";
import {
	accessOf,
	failuresAsJson,
	openQueuesForCommand,
	reportFailures,
} from "./queueCommand.ts";

/** What `queues set`, `queues pause` and `queues resume` have in common. */
export const SETTINGS_OPTIONS = {
	options: { dryRun: DRY_RUN_FLAG },
	exitCodes: {
		1: "a shard does not answer: the settings are in force, and the shard gets them when this is run again. Or an error",
	},
};

/** A command that sets always the same. */
export function changeQueueSettings({
	values,
	...about
}: {
	readonly summary: string;
	readonly details: string;
	readonly values: readonly string[];
}) {
	return command({
		...about,
		arguments: { queue: argument("QUEUE") },
		...SETTINGS_OPTIONS,
		run: (given, context) => setAndPrint({ ...given, values }, context),
	});
}

export async function setAndPrint(
	{
		queue,
		values,
		dryRun,
	}: {
		readonly queue: string;
		readonly values: readonly string[];
		readonly dryRun: boolean;
	},
	context: CommandContext,
): Promise<Result> {
	await using opened = await openQueuesForCommand(context, accessOf(dryRun));
	const { before, after, failures } = await changeSettings(
		opened.store,
		queue,
		values,
		{ dryRun },
	);
	const names = SETTING_NAMES.filter((name) => before[name] !== after[name]);
	const lines = names.map((name) => line(name, before, after));
	const pick = (settings: QueueSettings) =>
		Object.fromEntries(names.map((name) => [name, settings[name]]));
	return {
		value: {
			queue,
			dryRun,
			before: pick(before),
			after: pick(after),
			settings: after,
			failures: failuresAsJson(failures),
		},
		lines:
			lines.length === 0
				? ["nothing changes"]
				: [...lines, ...(dryRun ? ["(dry run)"] : [])],
		...reportFailures(failures, "does not have the settings yet"),
	};
}

function line(
	name: (typeof SETTING_NAMES)[number],
	before: QueueSettings,
	after: QueueSettings,
): string {
	return `${name}: ${printSetting(name, before)} → ${printSetting(name, after)}`;
}
