import {
	acceptLoss,
	checkAcceptance,
	describeAcceptance,
} from "../../fleet/operations/acceptLoss.ts";
import { argument, command, flag, YES } from "../command.ts";
import { describeWrites } from "../describeOperation.ts";
import { FLEET_CODES, operateAsChecked, withFleet } from "../fleetCommand.ts";

export const { usage, run } = command({
	summary:
		"Accepts what a failover has lost, so that processes write there again.",
	arguments: { host: argument("HOST") },
	options: {
		dryRun: flag("only show what is lost"),
		yes: YES,
	},
	details:
		"HOST is the primary as the topology names it, host:port. No id that the server before may have given is given again: local ids go on a million further. Nothing that was cached of its shards is read again: their generation is raised. Where the command is ended half-way, operations resume goes on.",
	exitCodes: FLEET_CODES,
	async run({ host, ...given }, context) {
		return withFleet(context, async (fleet) => {
			const found = await checkAcceptance(fleet, host);
			const { faults, notes, hosts, loss, server, recorded } = found;
			const { from } = hosts;
			const reasons = [describeAcceptance(found), ...describeWrites(loss)];
			return operateAsChecked(
				context,
				fleet,
				given,
				{
					value: { host: from, server, stopped: recorded, faults, notes, loss },
					...{ faults, reasons, sound: ["it can be accepted"] },
					lines: [...reasons, ...notes],
					question: `Give this up, and write to ${from} again?`,
				},
				(onStep) => acceptLoss({ ...fleet, onStep }, host),
			);
		});
	},
});
