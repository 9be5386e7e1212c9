import { CorkboardError } from "../../errors.ts";
import { listQueues, type QueueOnShards } from "../../queue/queueAdmin.ts";
import { isStopped } from "../../queue/rateLimit.ts";
import {
	DEFAULT_SETTINGS,
	expectedOf,
	printSetting,
	SETTING_NAMES,
} from "../../queue/settings.ts";
import { JSON_OPTION, type ParsedArguments, type Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import {
	failuresAsJson,
	openQueuesForCommand,
	reportFailures,
} from "../queueCommand.ts";
import { table } from "../table.ts";

export const usage: Usage = {
	summary: "Prints the queues and their settings, or all settings of one.",
	operands: [],
	optionalOperands: ["QUEUE"],
	options: { json: JSON_OPTION },
	details:
		"Without QUEUE it prints the settings that differ from the defaults. queue stats prints how many jobs there are.",
	exitCodes: { 1: "a shard does not answer, or an error" },
};

export async function run(
	{ operands: [name], options }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	await using opened = await openQueuesForCommand(context, "readOnly");
	const { queues, failures } = await listQueues(opened.store);
	const chosen =
		name === undefined ? queues : queues.filter((one) => one.name === name);
	if (name !== undefined && chosen.length === 0) {
		throw new CorkboardError(
			"NOT_FOUND",
			`There is no queue ${JSON.stringify(name)}. Queues: ${queues.map((one) => one.name).join(", ") || "none"}.`,
		);
	}
	if (options.json !== undefined) {
		const shown = {
			shards: opened.store.shards.length,
			queues: chosen.map(asJson),
			failures: failuresAsJson(failures),
		};
		context.stdout(JSON.stringify(shown, null, "\t"));
	} else if (chosen.length === 0) {
		context.stdout("no queues");
	} else {
		context.stdout(
			(name === undefined
				? table([["queue", "state", "settings", "shards"], ...chosen.map(row)])
				: settingLines(chosen[0] as QueueOnShards)
			).join("\n"),
		);
	}
	return reportFailures(context, failures);
}

function stateOf({ state, settings }: QueueOnShards): string {
	if (state === "deleting") return "being deleted";
	return isStopped(settings) ? "paused" : "active";
}

function row(queue: QueueOnShards): readonly string[] {
	const { name, settings, set, missingOn, olderOn } = queue;
	return [
		name,
		stateOf(queue),
		SETTING_NAMES.filter((one) => Object.hasOwn(set, one))
			.map((one) => `${one}=${printSetting(one, settings)}`)
			.join(" "),
		[
			...(missingOn.length > 0
				? [`missing on ${missingOn.join(", ")}: run queue create ${name}`]
				: []),
			...(olderOn.length > 0
				? [`older settings on ${olderOn.join(", ")}`]
				: []),
		].join("; "),
	];
}

function settingLines({ settings, set }: QueueOnShards): readonly string[] {
	return table([
		["setting", "value", "default", "takes"],
		...SETTING_NAMES.map((name) => [
			name,
			printSetting(name, settings),
			Object.hasOwn(set, name) ? printSetting(name, DEFAULT_SETTINGS) : "",
			expectedOf(name),
		]),
	]);
}

function asJson(queue: QueueOnShards) {
	const { name, settings, set, version, missingOn, olderOn } = queue;
	return {
		name,
		state: queue.state === "deleting" ? "deleting" : stateOf(queue),
		settings,
		set: Object.keys(set),
		version,
		missingOn,
		olderOn,
	};
}
