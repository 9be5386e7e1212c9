import {
	acceptLoss,
	checkAcceptance,
	describeAcceptance,
} from "../../fleet/operations/acceptLoss.ts";
import { argument, command, flag, JSON_FLAG, YES } from "../command.ts";
import { describeWrites } from "../describeOperation.ts";
import { confirm, FLEET_CODES, operate, withFleet } from "../fleetCommand.ts";
import { text } from "../values.ts";

export const { usage, run } = command({
	summary:
		"Accepts what a failover behind a host's name has lost, so that processes write there again.",
	arguments: { host: argument(text("HOST")) },
	options: {
		dryRun: flag("only show what is lost"),
		yes: YES,
		json: JSON_FLAG,
	},
	details:
		"HOST is the primary as the topology names it, host:port. No id that the server before may have given is given again: local ids go on a million further. Nothing that was cached of its shards is read again: their generation is raised. Where the command is ended half-way, operations resume goes on.",
	exitCodes: FLEET_CODES,
	async run({ host, dryRun, yes, json }, context) {
		return withFleet(context, async (fleet) => {
			const found = await checkAcceptance(fleet, host);
			const { faults, hosts, loss, server, recorded } = found;
			const { from } = hosts;
			const lines = [describeAcceptance(found), ...describeWrites(loss)];
			if (faults.length > 0 || dryRun) {
				return {
					value: { host: from, server, stopped: recorded, faults, loss },
					lines: [
						...lines,
						...(faults.length > 0 ? faults : ["it can be accepted"]),
					],
					code: faults.length > 0 ? 1 : 0,
				};
			}
			if (!yes) {
				for (const line of lines) context.stderr(line);
				const question = `Give this up, and write to ${from} again?`;
				if (!(await confirm(context, question))) return 1;
			}
			return operate(context, fleet, json, (onStep) =>
				acceptLoss({ ...fleet, onStep }, host),
			);
		});
	},
});
