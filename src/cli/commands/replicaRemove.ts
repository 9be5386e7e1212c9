import {
	checkRemoveReplica,
	removeReplica,
} from "../../ops/fleet/removeReplica.ts";
import { JSON_OPTION, type ParsedArguments, type Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import { describeReplica } from "../describeOperation.ts";
import {
	codeOf,
	confirm,
	FLEET_CODES,
	orHalfWay,
	withFleet,
} from "../fleetCommand.ts";

export const usage: Usage = {
	summary: "Takes a replica out of the topology, and stops its replication.",
	operands: ["HOST"],
	options: {
		"dry-run": { description: "only say what would be done" },
		yes: { description: "do not ask" },
		json: JSON_OPTION,
	},
	details:
		"HOST is the replica as the topology names it, host:port; it may be dead. First the topology is published without it, then it waits until no process reads from it, then replication stops. Its data stays, and it refuses writes.",
	exitCodes: FLEET_CODES,
};

export async function run(
	{ operands: [host = ""], options: given }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const isJson = given.json !== undefined;
	return withFleet(context, async (fleet) => {
		const { hosts, silence, faults } = await checkRemoveReplica(fleet, host);
		const { primary, replica } = hosts;
		if (given["dry-run"] !== undefined || faults.length > 0) {
			const answers = silence === null;
			context.stdout(
				isJson
					? JSON.stringify({ primary, replica, answers, faults }, null, "\t")
					: [
							`${primary} has no replica without ${replica}`,
							answers
								? `${replica} answers: its replication would be stopped`
								: `${replica} does not answer, and would be left as it is: ${silence}`,
							...faults,
						].join("\n"),
			);
			return faults.length > 0 ? 1 : 0;
		}
		if (given.yes === undefined) {
			const question = `Remove ${replica}? ${primary} has no replica then.`;
			if (!(await confirm(context, question))) return 1;
		}
		let operation: string | null = null;
		return orHalfWay(
			context,
			fleet,
			isJson,
			() => operation,
			async () => {
				const onStep = (step: string, id: string) => {
					if (operation === null && !isJson) context.stderr(id);
					operation = id;
					if (!isJson) context.stderr(step);
				};
				const result = await removeReplica({ ...fleet, onStep }, host);
				context.stdout(
					isJson
						? JSON.stringify(result, null, "\t")
						: describeReplica(result).join("\n"),
				);
				return codeOf(result);
			},
		);
	});
}
