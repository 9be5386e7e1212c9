import {
	addReplica,
	checkAddReplica,
} from "../../fleet/operations/addReplica.ts";
import type { CloneProgress } from "../../fleet/operations/cloneServer.ts";
import {
	argument,
	command,
	flag,
	JSON_FLAG,
	option,
	required,
	YES,
} from "../command.ts";
import { confirm, FLEET_CODES, operate, withFleet } from "../fleetCommand.ts";
import { createProgressLine } from "../progress.ts";
import { duration, integer, present, text } from "../values.ts";

export const { usage, run } = command({
	summary: "Makes an empty MySQL server a replica of a primary.",
	arguments: { host: argument(text("HOST")) },
	options: {
		of: required(text("PRIMARY"), "the primary, as the topology names it"),
		rate: option(
			integer(0, 999_999, "MIB"),
			"copy at most so many MiB a second (default: no limit)",
		),
		restartWait: option(
			duration(0, 999_999_000),
			"how long HOST may take to start again (default 10m)",
		),
		dryRun: flag("only check whether it can be done"),
		yes: YES,
		json: JSON_FLAG,
	},
	details:
		"HOST is host:port of an empty server of the same version. MySQL's clone plugin copies the primary while both work; HOST then shuts down, and its supervisor has to start it again. Then it follows the primary, and once it has caught up the topology names it. An interrupt leaves the copy running: operations resume goes on.",
	exitCodes: FLEET_CODES,
	async run({ host, of, rate, restartWait, dryRun, yes, json }, context) {
		return withFleet(context, async (fleet) => {
			const { hosts, faults, bytes } = await checkAddReplica(fleet, {
				host,
				of,
			});
			const { primary, replica } = hosts;
			if (faults.length > 0 || dryRun) {
				return {
					value: { primary, replica, bytes, faults },
					lines: [
						`${primary} → ${replica}: about ${formatBytes(bytes)}`,
						...(faults.length > 0
							? faults
							: [
									`it can be copied, if ${replica} has as much free disk: MySQL does not say`,
								]),
					],
					code: faults.length > 0 ? 1 : 0,
				};
			}
			const question = `Copy ${primary} to ${replica}, about ${formatBytes(bytes)}? ${replica} loses what it holds.`;
			if (!yes && !(await confirm(context, question))) return 1;
			const signal = context.interruptSignal();
			const progress = createProgressLine(context);
			return operate(context, fleet, json, (onStep) =>
				addReplica(
					{
						...{ ...fleet, signal },
						...present({ rate, restartMs: restartWait }),
						onStep(step, id) {
							if (!json) progress.end();
							onStep(step, id);
						},
						onProgress(each) {
							if (!json) progress.update(describeProgress(each));
						},
					},
					{ host, of },
				),
			);
		});
	},
});

/** `FILE COPY: 1.2 of 3.4 GB` */
function describeProgress({ stage, copied, of }: CloneProgress): string {
	return of === 0
		? stage
		: `${stage}: ${formatBytes(copied)} of ${formatBytes(of)}`;
}

function formatBytes(bytes: number): string {
	return bytes < 1e9
		? `${Math.ceil(bytes / 1e6)} MB`
		: `${(bytes / 1e9).toFixed(1)} GB`;
}
