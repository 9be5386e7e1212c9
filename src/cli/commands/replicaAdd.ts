import { addReplica, checkAddReplica } from "../../ops/fleet/addReplica.ts";
import type { CloneProgress } from "../../ops/fleet/cloneServer.ts";
import {
	JSON_OPTION,
	type ParsedArguments,
	type Usage,
	UsageError,
} from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import { describeReplica } from "../describeOperation.ts";
import {
	codeOf,
	confirm,
	FLEET_CODES,
	orHalfWay,
	withFleet,
} from "../fleetCommand.ts";
import { createProgressLine } from "../progress.ts";

export const usage: Usage = {
	summary: "Makes an empty MySQL server a replica of a primary.",
	operands: ["HOST"],
	options: {
		of: {
			value: "PRIMARY",
			description: "the primary, as the topology names it",
		},
		rate: {
			value: "MIB",
			description: "copy at most so many MiB a second (default: no limit)",
		},
		"restart-wait": {
			value: "SECONDS",
			description: "how long HOST may take to start again (600)",
		},
		"dry-run": { description: "only check whether it can be done" },
		yes: { description: "do not ask" },
		json: JSON_OPTION,
	},
	details:
		"HOST is host:port of an empty server of the same version. MySQL's clone plugin copies the primary while both work; HOST then shuts down, and its supervisor has to start it again. Then it follows the primary, and once it has caught up the topology names it. An interrupt leaves the copy running: operations resume goes on.",
	exitCodes: FLEET_CODES,
};

export async function run(
	{ operands: [host = ""], options: given }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const { of } = given;
	if (of === undefined) {
		throw new UsageError("Missing --of PRIMARY, whose replica it is to be.");
	}
	const rate = wholeNumber("rate", given.rate);
	const seconds = wholeNumber("restart-wait", given["restart-wait"]);
	const isJson = given.json !== undefined;
	return withFleet(context, async (fleet) => {
		const { hosts, faults, bytes } = await checkAddReplica(fleet, { host, of });
		const { primary, replica } = hosts;
		const isDryRun = given["dry-run"] !== undefined;
		if (faults.length > 0 || isDryRun) {
			context.stdout(
				isJson
					? JSON.stringify({ primary, replica, bytes, faults }, null, "\t")
					: [
							`${primary} → ${replica}: about ${formatBytes(bytes)}`,
							...(faults.length > 0
								? faults
								: [
										`it can be copied, if ${replica} has as much free disk: MySQL does not say`,
									]),
						].join("\n"),
			);
			return faults.length > 0 ? 1 : 0;
		}
		if (given.yes === undefined) {
			const question = `Copy ${primary} to ${replica}, about ${formatBytes(bytes)}? ${replica} loses what it holds.`;
			if (!(await confirm(context, question))) return 1;
		}
		const signal = context.interruptSignal();
		const progress = createProgressLine(context);
		let operation: string | null = null;
		return orHalfWay(
			context,
			fleet,
			isJson,
			() => operation,
			async () => {
				const result = await addReplica(
					{
						...fleet,
						signal,
						...(rate !== null && { rate }),
						...(seconds !== null && { restartMs: seconds * 1_000 }),
						onStep(step, id) {
							if (!isJson) progress.end();
							if (operation === null && !isJson) context.stderr(id);
							operation = id;
							if (!isJson) context.stderr(step);
						},
						onProgress(each) {
							if (!isJson) progress.update(describeProgress(each));
						},
					},
					{ host, of },
				);
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

function wholeNumber(name: string, text: string | undefined): number | null {
	if (text === undefined) return null;
	if (/^[0-9]{1,6}$/.test(text)) return Number(text);
	throw new UsageError(
		`--${name} must be a number from 0 to 999999, got ${text}.`,
	);
}
