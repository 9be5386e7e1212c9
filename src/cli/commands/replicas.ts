import {
	addReplica,
	checkAddReplica,
} from "../../fleet/operations/addReplica.ts";
import type { CloneProgress } from "../../fleet/operations/cloneServer.ts";
import {
	checkRemoveReplica,
	removeReplica,
} from "../../fleet/operations/removeReplica.ts";
import { formatBytes } from "../../util/format.ts";
import { argument, command, flag, option, required, YES } from "../command.ts";
import { FLEET_CODES, operateAsChecked, withFleet } from "../fleetCommand.ts";
import { createProgressLine } from "../progress.ts";
import { duration, integer, present } from "../values.ts";

const add = command({
	summary: "Makes an empty MySQL server a replica of a primary.",
	arguments: { host: argument("HOST") },
	options: {
		of: required("PRIMARY", "the primary, as the topology names it"),
		bandwidth: option(
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
		"HOST is host:port of an empty server of the same version. MySQL's clone plugin copies the primary while both work; HOST then shuts down, and its supervisor has to start it again. Then it follows the primary, and once it has caught up the topology names it. An interrupt leaves the copy running: operations resume continues it.",
	exitCodes: FLEET_CODES,
	async run({ host, of, bandwidth, restartWait, ...given }, context) {
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
					faults,
					lines: [`${primary} → ${replica}: ${size}`],
					sound: [
						`it can be copied, if ${replica} has as much free disk: MySQL does not say`,
					],
					question: `Copy ${primary} to ${replica}, ${size}? ${replica} loses what it holds.`,
				},
				(onStep) =>
					addReplica(
						{
							...fleet,
							signal,
							...present({ rate: bandwidth, restartMs: restartWait }),
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

const remove = command({
	summary: "Takes a replica out of the topology, and stops its replication.",
	arguments: { host: argument("HOST") },
	options: {
		dryRun: flag("only say what would be done"),
		yes: YES,
	},
	details:
		"HOST is the replica as the topology names it, host:port; it may be dead. First the topology is published without it, then it waits until no process reads from it, then replication stops. Its data stays, and it refuses writes.",
	exitCodes: FLEET_CODES,
	async run({ host, ...given }, context) {
		return withFleet(context, async (fleet) => {
			const { hosts, silence, faults } = await checkRemoveReplica(fleet, host);
			const { primary, replica } = hosts;
			const answers = silence === null;
			return operateAsChecked(
				context,
				fleet,
				given,
				{
					value: { primary, replica, answers, faults },
					lines: [
						`${primary} has no replica without ${replica}`,
						answers
							? `${replica} answers: its replication would be stopped`
							: `${replica} does not answer, and would be left as it is: ${silence}`,
					],
					faults,
					sound: [],
					question: `Remove ${replica}? ${primary} has no replica then.`,
				},
				(onStep) => removeReplica({ ...fleet, onStep }, host),
			);
		});
	},
});

export const verbs = {
	add,
	remove,
};
