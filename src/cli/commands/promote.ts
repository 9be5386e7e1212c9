import { checkPromotion, promote } from "../../ops/fleet/promote.ts";
import {
	JSON_OPTION,
	type ParsedArguments,
	type Usage,
	UsageError,
} from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import { confirm, describePromotion, withFleet } from "../fleetCommand.ts";

export const usage: Usage = {
	summary: "Makes the replica of a MySQL primary the primary, while both live.",
	operands: ["HOST"],
	options: {
		"dry-run": { description: "only check whether it can be done" },
		yes: { description: "do not ask" },
		"max-lag": {
			value: "MS",
			description: "how far the replica may be behind at first (2000)",
		},
		"max-pause": {
			value: "MS",
			description:
				"how long writes may wait for the replica before all is undone (2000)",
		},
		json: JSON_OPTION,
	},
	details:
		"HOST is the primary as the topology names it, host:port. Writes to its shards wait for a moment; reads do not. Where the command is ended half-way, operations resume goes on, and operations abort goes back.",
	exitCodes: {
		1: "refused, failed, or rolled back; operations list shows where it is",
	},
};

export async function run(
	{ operands, options: given }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const [host = ""] = operands;
	const maxLagMs = milliseconds("max-lag", given["max-lag"]);
	const maxPauseMs = milliseconds("max-pause", given["max-pause"]);
	return withFleet(context, async (fleet) => {
		const options = {
			...fleet,
			...(maxLagMs !== null && { maxLagMs }),
			...(maxPauseMs !== null && { maxPauseMs }),
		};
		const { hosts, faults, lagMs } = await checkPromotion(options, host);
		const isDryRun = given["dry-run"] !== undefined;
		if (faults.length > 0 || isDryRun) {
			const { from, to, shards, modShards } = hosts;
			context.stdout(
				given.json === undefined
					? [
							`${from} → ${to}: ${shards.length} shards, ${modShards.length} mod shards`,
							...(faults.length > 0
								? faults
								: [
										`it can be promoted: the replica had everything within ${Math.round(lagMs)} ms`,
									]),
						].join("\n")
					: JSON.stringify({ from, to, shards, modShards, faults }, null, "\t"),
			);
			return faults.length > 0 ? 1 : 0;
		}
		if (given.yes === undefined) {
			const { from, to } = hosts;
			const question = `Promote ${to} in the place of ${from}? Writes to ${hosts.shards.length} shards wait meanwhile.`;
			if (!(await confirm(context, question))) return 1;
		}
		const result = await promote(
			{
				...options,
				onStep: (step) => {
					if (given.json === undefined) context.stderr(step);
				},
			},
			host,
		);
		context.stdout(
			given.json === undefined
				? describePromotion(result).join("\n")
				: JSON.stringify(result, null, "\t"),
		);
		return result.version === null ? 1 : 0;
	});
}

function milliseconds(name: string, text: string | undefined): number | null {
	if (text === undefined) return null;
	if (/^[0-9]{1,6}$/.test(text)) return Number(text);
	throw new UsageError(
		`--${name} must be milliseconds from 0 to 999999, got ${text}.`,
	);
}
