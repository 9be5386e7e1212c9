import {
	addReplica,
	checkAddReplica,
} from "../../fleet/operations/addReplica.ts";
import type { CloneProgress } from "../../fleet/operations/cloneServer.ts";
import { formatBytes } from "../../util/format.ts";
import { argument, command, flag, option, required, YES } from "../command.ts";
import { FLEET_CODES, operateAsChecked, withFleet } from "../fleetCommand.ts";
import { createProgressLine } from "../progress.ts";
import { duration, integer, present } from "../values.ts";

export const { usage, run } = command({
	summary: "Makes an empty MySQL server a replica of a primary.",
	arguments: { host: argument("HOST") },
	options: {
		of: required("PRIMARY", "the primary, as the topology names it"),
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
	},
	details:
		"HOST is host:port of an empty server of the same version. MySQL's clone plugin copies the primary while both work; HOST then shuts down, and its supervisor has to start it again. Then it follows the primary, and once it has caught up the topology names it. An interrupt leaves the copy running: operations resume goes on.",
	exitCodes: FLEET_CODES,
	async run({ host, of, rate, restartWait, ...given }, context) {
		return withFleet(context, async (fleet) => {
			const { hosts, faults, bytes } = await checkAddReplica(fleet, {
				host,
				of,
			});
			const { primary, replica } = hosts;
			const size = `about ${formatBytes(bytes)}`;
			const signal = context.interruptSignal();
			const progress = createProgressLine(context);
			return operateAsChecked(
				context,
				fleet,
				given,
				{
					value: { primary, replica, bytes, faults },
					...{ faults, lines: [`${primary} → ${replica}: ${size}`] },
					sound: [
						`it can be copied, if ${replica} has as much free disk: MySQL does not say`,
					],
					question: `Copy ${primary} to ${replica}, ${size}? ${replica} loses what it holds.`,
				},
				(onStep) =>
					addReplica(
						{
							...{ ...fleet, signal },
							...present({ rate, restartMs: restartWait }),
							onStep(step, id) {
								if (!given.json) progress.end();
								onStep(step, id);
							},
							onProgress(each) {
								if (!given.json) progress.update(describeProgress(each));
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
