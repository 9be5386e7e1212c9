import type { PromotionHosts } from "../../fleet/map/promotionHosts.ts";
import { checkPromotion, promote } from "../../fleet/operations/promote.ts";
import {
	checkDeadPromotion,
	describeLostTransactions,
	promoteDead,
} from "../../fleet/operations/promoteDead.ts";
import { UsageError } from "../arguments.ts";
import {
	argument,
	command,
	flag,
	type Given,
	type Result,
	YES,
} from "../command.ts";
import type { CommandContext } from "../commandContext.ts";
import {
	describeEvidence,
	FLEET_CODES,
	lossAccepter,
	MAX_LAG,
	MAX_PAUSE,
	operateAsChecked,
	withFleet,
} from "../fleetCommand.ts";
import { present } from "../values.ts";

const OPTIONS = {
	dryRun: flag("only check whether it can be done"),
	yes: YES,
	dead: flag("the primary is dead: state what is lost, and go on"),
	acceptLoss: flag("with --dead: give up what the replica has not received"),
	force: flag(
		"with --dead: also where the primary answers, or processes reach it",
	),
	maxLag: MAX_LAG,
	maxPause: MAX_PAUSE,
};

export const { usage, run } = command({
	summary:
		"Makes the replica of a MySQL primary the primary, while both live or after the primary has died.",
	arguments: { host: argument("HOST") },
	options: OPTIONS,
	details:
		"HOST is the primary as the topology names it, host:port. Writes to its shards wait for a moment; reads do not. Where the command is ended half-way, operations resume goes on, and operations abort goes back.",
	exitCodes: FLEET_CODES,
	async run(given, context) {
		if (given.dead) return runDead(given, context);
		if (given.acceptLoss) throw new UsageError("--accept-loss needs --dead.");
		if (given.force) throw new UsageError("--force needs --dead.");
		return runLive(given, context);
	},
});

type GivenToPromote = Given<Record<never, never>, typeof OPTIONS> & {
	readonly host: string;
	readonly json: boolean;
};

async function runLive(
	given: GivenToPromote,
	context: CommandContext,
): Promise<Result | number> {
	const { host, maxLag, maxPause } = given;
	return withFleet(context, async (fleet) => {
		const options = {
			...fleet,
			...present({ maxLagMs: maxLag, maxPauseMs: maxPause }),
		};
		const { hosts, faults, notes, lagMs } = await checkPromotion(options, host);
		const { from, to, fromUrl: _, toUrl: __, ...numbers } = hosts;
		return operateAsChecked(
			context,
			fleet,
			given,
			{
				value: { from, to, ...numbers, faults, notes },
				faults,
				lines: [`${from} → ${to}: ${describeHosts(hosts)}`, ...notes],
				sound: [
					`it can be promoted: the replica had everything within ${Math.round(lagMs)} ms`,
				],
				question: `Promote ${to} in the place of ${from}? Writes to ${describeHosts(hosts)} wait meanwhile.`,
			},
			(onStep) => promote({ ...options, onStep }, host),
		);
	});
}

/** How long what was found counts. Milliseconds. */
const CHECKED_MS = 30_000;

async function runDead(
	given: GivenToPromote,
	context: CommandContext,
): Promise<Result | number> {
	const { host } = given;
	return withFleet(context, async (fleet) => {
		const options = { ...fleet, force: given.force };
		const checked = await checkDeadPromotion(options, host);
		const checkedAt = performance.now();
		const { hosts, evidence, faults, notes, loss } = checked;
		const { from, to, fromUrl: _, toUrl: __, ...numbers } = hosts;
		const reasons = describeEvidence(hosts, evidence);
		if (faults.length === 0 && !given.dryRun) {
			for (const line of reasons) context.stderr(line);
		}
		const acceptLoss = lossAccepter(given.acceptLoss, context, hosts);
		return operateAsChecked(
			context,
			fleet,
			given,
			{
				value: { from, to, ...numbers, faults, notes, evidence, loss },
				lines: [
					`${from} → ${to}: ${describeHosts(hosts)}`,
					...reasons,
					...(loss === null ? [] : [describeLostTransactions(loss, hosts)]),
					...notes,
				],
				...{ faults, sound: ["it can be promoted"] },
				question: `Promote ${to}, and give ${from} up? It is not attached again as it is.`,
			},
			(onStep) => {
				// Whoever took long to confirm it may have a host that is back.
				const isNew = performance.now() - checkedAt < CHECKED_MS;
				return promoteDead(
					{ ...options, onStep, acceptLoss },
					host,
					isNew ? checked : undefined,
				);
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
