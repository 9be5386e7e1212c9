import {
	checkRemoveReplica,
	removeReplica,
} from "../../fleet/operations/removeReplica.ts";
import { argument, command, flag, YES } from "../command.ts";
import { FLEET_CODES, operateAsChecked, withFleet } from "../fleetCommand.ts";

export const { usage, run } = command({
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
					...{ faults, sound: [] },
					question: `Remove ${replica}? ${primary} has no replica then.`,
				},
				(onStep) => removeReplica({ ...fleet, onStep }, host),
			);
		});
	},
});
