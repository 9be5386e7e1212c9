import { CorkboardError } from "../../errors.ts";
import {
	listQueues,
	type QueueOnShards,
} from "../../queue/admin/queueAdmin.ts";
import { isStopped } from "../../queue/rateLimit.ts";
import {
	DEFAULT_SETTINGS,
	expectedOf,
	printSetting,
	SETTING_NAMES,
} from "../../queue/settings.ts";
import { compact } from "../../util/compact.ts";
import { command, optional } from "../command.ts";
import {
	failuresAsJson,
	openQueuesForCommand,
	reportFailures,
} from "../queue/queueCommand.ts";
import { table } from "../table.ts";

export const { usage, run } = command({
	summary: "Prints the queues and their settings, or all settings of one.",
	arguments: { queue: optional("QUEUE") },
	details:
		"Without QUEUE it prints the settings that differ from the defaults. queues stats prints how many jobs there are.",
	exitCodes: { 1: "a shard does not answer, or an error" },
	async run({ queue }, context) {
		await using opened = await openQueuesForCommand(context, "readOnly");
		const { queues, failures } = await listQueues(opened.store);
		const named = queues.find(({ name }) => name === queue);
		if (queue !== undefined && named === undefined) {
			throw new CorkboardError(
				"NOT_FOUND",
				`There is no queue ${JSON.stringify(queue)}. Queues: ${queues.map((one) => one.name).join(", ") || "none"}.`,
			);
		}
		const chosen = named === undefined ? queues : [named];
		return {
			value: {
				shards: opened.store.shards.length,
				queues: chosen.map(asJson),
				failures: failuresAsJson(failures),
			},
			lines: named === undefined ? queueLines(queues) : settingLines(named),
			...reportFailures(failures),
		};
	},
});

function queueLines(queues: readonly QueueOnShards[]): readonly string[] {
	return queues.length === 0
		? ["no queues"]
		: table([["queue", "state", "settings", "shards"], ...queues.map(row)]);
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
		compact([
			missingOn.length > 0 &&
				`missing on ${missingOn.join(", ")}: run queues create ${name}`,
			olderOn.length > 0 && `older settings on ${olderOn.join(", ")}`,
		]).join("; "),
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
