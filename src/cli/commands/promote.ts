import type { PromotionHosts } from "../../ops/fleet/exchangeHosts.ts";
import { checkPromotion, promote } from "../../ops/fleet/promote.ts";
import {
	checkDeadPromotion,
	describeLoss,
	promoteDead,
} from "../../ops/fleet/promoteDead.ts";
import {
	JSON_OPTION,
	type ParsedArguments,
	type Usage,
	UsageError,
} from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import { describePromotion } from "../describeOperation.ts";
import {
	codeOf,
	confirm,
	describeEvidence,
	FLEET_CODES,
	lossAccepter,
	MAX_PAUSE,
	milliseconds,
	orHalfWay,
	withFleet,
} from "../fleetCommand.ts";

export const usage: Usage = {
	summary:
		"Makes the replica of a MySQL primary the primary, while both live or after the primary has died.",
	operands: ["HOST"],
	options: {
		"dry-run": { description: "only check whether it can be done" },
		yes: { description: "do not ask" },
		dead: { description: "the primary is dead: state what is lost, and go on" },
		"accept-loss": {
			description: "with --dead: give up what the replica has not received",
		},
		force: {
			description:
				"with --dead: also where the primary answers, or processes reach it",
		},
		"max-lag": {
			value: "MS",
			description: "how far the replica may be behind at first (2000)",
		},
		"max-pause": MAX_PAUSE,
		json: JSON_OPTION,
	},
	details:
		"HOST is the primary as the topology names it, host:port. Writes to its shards wait for a moment; reads do not. Where the command is ended half-way, operations resume goes on, and operations abort goes back.",
	exitCodes: FLEET_CODES,
};

export async function run(
	{ operands, options: given }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const [host = ""] = operands;
	if (given.dead !== undefined) return runDead(host, given, context);
	for (const option of ["accept-loss", "force"]) {
		if (given[option] === undefined) continue;
		throw new UsageError(`--${option} needs --dead.`);
	}
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
			const { from, to, fromUrl: _, toUrl: __, ...numbers } = hosts;
			context.stdout(
				given.json === undefined
					? [
							`${from} → ${to}: ${describeHosts(hosts)}`,
							...(faults.length > 0
								? faults
								: [
										`it can be promoted: the replica had everything within ${Math.round(lagMs)} ms`,
									]),
						].join("\n")
					: JSON.stringify({ from, to, ...numbers, faults }, null, "\t"),
			);
			return faults.length > 0 ? 1 : 0;
		}
		if (given.yes === undefined) {
			const { from, to } = hosts;
			const question = `Promote ${to} in the place of ${from}? Writes to ${describeHosts(hosts)} wait meanwhile.`;
			if (!(await confirm(context, question))) return 1;
		}
		let operation: string | null = null;
		const isJson = given.json !== undefined;
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
				const result = await promote({ ...options, onStep }, host);
				context.stdout(
					isJson
						? JSON.stringify(result, null, "\t")
						: describePromotion(result).join("\n"),
				);
				return codeOf(result);
			},
		);
	});
}

async function runDead(
	host: string,
	given: ParsedArguments["options"],
	context: CommandContext,
): Promise<number> {
	const isJson = given.json !== undefined;
	return withFleet(context, async (fleet) => {
		const options = { ...fleet, force: given.force !== undefined };
		const { hosts, evidence, faults, loss } = await checkDeadPromotion(
			options,
			host,
		);
		const { from, to, fromUrl: _, toUrl: __, ...numbers } = hosts;
		if (faults.length > 0 || given["dry-run"] !== undefined) {
			context.stdout(
				isJson
					? JSON.stringify(
							{ from, to, ...numbers, faults, evidence, loss },
							null,
							"\t",
						)
					: [
							`${from} → ${to}: ${describeHosts(hosts)}`,
							...describeEvidence(hosts, evidence),
							...(loss === null ? [] : [describeLoss(loss, hosts)]),
							...(faults.length > 0 ? faults : ["it can be promoted"]),
						].join("\n"),
			);
			return faults.length > 0 ? 1 : 0;
		}
		for (const line of describeEvidence(hosts, evidence)) context.stderr(line);
		if (given.yes === undefined) {
			const question = `Promote ${to}, and give ${from} up? It is not attached again as it is.`;
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
				const result = await promoteDead(
					{
						...options,
						onStep,
						acceptLoss: lossAccepter(given, context, hosts),
					},
					host,
				);
				context.stdout(
					isJson
						? JSON.stringify(result, null, "\t")
						: describePromotion(result).join("\n"),
				);
				return codeOf(result);
			},
		);
	});
}

/** `2 shards, 2 mod shards` */
function describeHosts(hosts: PromotionHosts): string {
	const counts = {
		shards: hosts.shards.length,
		"mod shards": hosts.modShards.length,
		"queue shards": hosts.queues.length,
		"feed shards": hosts.feeds.length,
		"pool shards": hosts.pools.length,
	};
	return Object.entries(counts)
		.filter(([, count]) => count > 0)
		.map(
			([name, count]) => `${count} ${count === 1 ? name.slice(0, -1) : name}`,
		)
		.join(", ");
}
