import {
	acceptLoss,
	checkAcceptance,
	describeAcceptance,
} from "../../ops/fleet/acceptLoss.ts";
import { JSON_OPTION, type ParsedArguments, type Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import { describeOperation, describeWrites } from "../describeOperation.ts";
import {
	codeOf,
	confirm,
	FLEET_CODES,
	orHalfWay,
	withFleet,
} from "../fleetCommand.ts";

export const usage: Usage = {
	summary:
		"Accepts what a failover behind a host's name has lost, so that processes write there again.",
	operands: ["HOST"],
	options: {
		"dry-run": { description: "only show what is lost" },
		yes: { description: "do not ask" },
		json: JSON_OPTION,
	},
	details:
		"HOST is the primary as the topology names it, host:port. No id that the server before may have given is given again: local ids go on a million further. Nothing that was cached of its shards is read again: their generation is raised. Where the command is ended half-way, operations resume goes on.",
	exitCodes: FLEET_CODES,
};

export async function run(
	{ operands: [host = ""], options: given }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const isJson = given.json !== undefined;
	return withFleet(context, async (fleet) => {
		const found = await checkAcceptance(fleet, host);
		const { faults, hosts, loss, server, recorded } = found;
		const lines = [describeAcceptance(found), ...describeWrites(loss)];
		if (faults.length > 0 || given["dry-run"] !== undefined) {
			const { from } = hosts;
			context.stdout(
				isJson
					? JSON.stringify(
							{ host: from, server, stopped: recorded, faults, loss },
							null,
							"\t",
						)
					: [
							...lines,
							...(faults.length > 0 ? faults : ["it can be accepted"]),
						].join("\n"),
			);
			return faults.length > 0 ? 1 : 0;
		}
		if (given.yes === undefined) {
			for (const line of lines) context.stderr(line);
			const question = `Give this up, and write to ${hosts.from} again?`;
			if (!(await confirm(context, question))) return 1;
		}
		let operation: string | null = null;
		const onStep = (step: string, id: string) => {
			if (operation === null && !isJson) context.stderr(id);
			operation = id;
			if (!isJson) context.stderr(step);
		};
		return orHalfWay(
			context,
			fleet,
			isJson,
			() => operation,
			async () => {
				const result = await acceptLoss({ ...fleet, onStep }, host);
				context.stdout(
					isJson
						? JSON.stringify(result, null, "\t")
						: describeOperation(result).join("\n"),
				);
				return codeOf(result);
			},
		);
	});
}
