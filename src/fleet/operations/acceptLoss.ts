import { CorkboardError } from "../../errors.ts";
import { GtidSet } from "../../storage/mysql/driver/gtidSet.ts";
import {
	acceptance,
	type RecordedLoss,
	readAccepted,
	readLosses,
} from "../../topology/guards/losses.ts";
import type { TopologyStore } from "../../topology/store.ts";
import { compact } from "../../util/compact.ts";
import type { Agreement } from "../map/barrier.ts";
import { raiseGenerations } from "../map/edits.ts";
import {
	findPrimary,
	type PromotionHosts,
	promotedDatabases,
} from "../map/promotionHosts.ts";
import { requireCurrent } from "../map/publish.ts";
import { FleetServer } from "../server/fleetServer.ts";
import { readCounters } from "../server/localIds.ts";
import { raiseLocalIds, tryRaising } from "../server/raiseLocalIds.ts";
import { grownBy, type Loss, measureLoss, whoKnows } from "./loss.ts";
import type { Operation } from "./operations.ts";
import type { DeadOptions } from "./promoteDead.ts";
import { type PromotionResult, promotionResult } from "./promotion.ts";
import { publishMap, untilServed } from "./publishMap.ts";
import { type Aborted, beginSteps, type OperationPlan } from "./steps.ts";

const ASK_MS = 5_000;
const AGREE_MS = 5_000;
const ANSWER_MS = 10_000;

interface Found {
	readonly hosts: PromotionHosts;
	/** Which server the name leads to, as it calls itself. */
	readonly server: string;
	/** Why processes stopped; null: no process has. */
	readonly recorded: RecordedLoss | null;
	readonly loss: Loss;
	/** Everything against it. */
	readonly faults: readonly string[];
	/** What does not stop it, and may take longer than expected. */
	readonly notes: readonly string[];
}

/**
 * What is lost behind a name, and everything against accepting it; also that it is
 * more than `atMost`, a set of GTIDs. Changes nothing. Throws UNAVAILABLE if the
 * server does not answer.
 */
export async function checkAcceptance(
	options: DeadOptions,
	host: string,
	atMost: string | null = null,
): Promise<Found> {
	const { topology } = await requireCurrent(options.store);
	const hosts = findPrimary(topology, host);
	await using server = new FleetServer(hosts.fromUrl, options.environment);
	const silence = await server.silence(ANSWER_MS);
	if (silence !== null) {
		throw new CorkboardError(
			"UNAVAILABLE",
			`${hosts.from} does not answer: ${silence}`,
		);
	}
	const found = await look(options, hosts, server);
	return { ...found, faults: [...found.faults, ...beyond(found, atMost)] };
}

function beyond(
	{ hosts: { from }, server, loss }: Found,
	atMost: string | null,
): readonly string[] {
	if (atMost === null) return [];
	if (loss === NOT_KNOWN) {
		return [
			`${server} has no GTIDs: nobody knows whether it lacks more than --gtids names. Leave that away to accept all.`,
		];
	}
	if (new GtidSet(atMost).contains(new GtidSet(loss.gtids))) return [];
	return [
		`${from} leads to ${server}, which lacks ${lackOf(loss)}. That is not all in what --gtids names.`,
	];
}

/**
 * Accepts that a failover behind a host's name lost what the server before had
 * acknowledged (docs/consistency/topology.md, "A name that leads to another server"):
 * the new server gives no id that the old one may have given, nothing that was
 * cached of its shards is read again, and processes write there again. What is
 * accepted is what was `shown`. Throws CONFLICT with everything against it, also that
 * the loss has grown since; then nothing is accepted.
 */
export async function acceptLoss(
	options: DeadOptions,
	host: string,
	shown?: Found,
): Promise<PromotionResult> {
	const { hosts, faults, loss, server } =
		shown ?? (await checkAcceptance(options, host));
	const { from } = hosts;
	return beginSteps(
		options,
		{ kind: "accept loss", from, to: from, loss },
		faults,
		(operation) => acceptancePlan(options, operation, server),
	);
}

/** Local ids may be raised twice. `shown`: the server of which the loss was shown; null: that one which processes stopped writing to. */
export async function acceptancePlan(
	{ onStep, ...options }: DeadOptions,
	operation: Operation,
	shown: string | null = null,
): Promise<OperationPlan<PromotionResult>> {
	const { store, environment, agreeMs = AGREE_MS } = options;
	const { topology } = await requireCurrent(store);
	const hosts = findPrimary(topology, operation.record.from);
	const { from } = hosts;
	const server = new FleetServer(hosts.fromUrl, environment);
	const accepted = operation.record.loss ?? NOT_KNOWN;
	let id = "";
	let agreement: Agreement | null = null;
	return {
		operation,
		undoesFailures: false,
		steps: [
			{
				name: "accepted",
				during: ["locked"],
				changesServers: false,
				async does() {
					const found = await look(options, hosts, server);
					id = found.server;
					const isOther = shown !== null && shown !== id;
					const faults = compact([
						isOther && `${from} leads to ${id} by now, and not to ${shown}.`,
						...found.faults,
					]);
					if (faults.length > 0) return refused(from, faults.join("\n"));
					const more = await grownBy(server, found.loss.gtids, accepted);
					if (more !== "") return refused(from, describeMore(id, more));
					await operation.save({}, `${id} lacks ${lackOf(accepted)}`);
					return undefined;
				},
			},
			{
				name: "ids raised",
				during: ["locked"],
				changesServers: true,
				async does() {
					const counters = await readCounters(server, promotedDatabases(hosts));
					await raiseLocalIds(server, counters.values());
					return undefined;
				},
			},
			{
				name: "published",
				during: ["locked"],
				changesServers: false,
				async does() {
					await requireSame(server, hosts, id);
					const { gtids, transactions } = accepted;
					const changes = await acceptance(store, from, { server: id, gtids });
					// Read after the changes: one that is recorded later than this lets the publication fail.
					const recorded = await recordedLoss(store, from);
					const more = await grownBy(
						server,
						await notYetAccepted(store, from, server, recorded?.missing ?? ""),
						accepted,
					);
					if (more !== "") return refused(from, describeMore(id, more));
					await publishMap(
						store,
						operation,
						`accept the failover of ${from}; ${transactions} transactions lost`,
						(current) => raiseGenerations(current, from),
						async () => changes,
					);
					return undefined;
				},
			},
			{
				name: "agreed",
				during: ["published"],
				changesServers: false,
				async does() {
					agreement = await untilServed(store, operation, agreeMs);
					return undefined;
				},
			},
		],
		say: async (what) => onStep?.(what, operation.record.id),
		describeDone: () => `${from} is written to again`,
		describeUndone: () => "local ids may have been raised",
		result: () => ({ ...promotionResult(operation.record), agreement }),
		[Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
	};
}

async function look(
	{ store, askMs = ASK_MS }: DeadOptions,
	hosts: PromotionHosts,
	server: FleetServer,
): Promise<Found> {
	const { from } = hosts;
	const { id, takesWrites, hasGtids } = await server.identity();
	const recorded = await recordedLoss(store, from);
	const loss = hasGtids
		? await wholeLoss({ store, askMs }, from, server, recorded)
		: NOT_KNOWN;
	const trial = takesWrites
		? await tryRaising(server, promotedDatabases(hosts))
		: { faults: [], notes: [] };
	const faults = compact([
		!takesWrites &&
			`${from} leads to ${id}, which takes no writes. Accept the failover when it does.`,
		recorded !== null &&
			recorded.server !== id &&
			`${from} leads to ${id} by now, and not to ${recorded.server}, on which writes were stopped. Processes continue by themselves if it has everything; look again in some seconds.`,
		recorded === null &&
			loss.transactions === 0 &&
			`${from} lacks nothing that anybody knows of, and no process has stopped writing to it: there is nothing to accept.`,
		...trial.faults,
	]);
	return { hosts, server: id, recorded, loss, faults, notes: trial.notes };
}

const NOT_KNOWN: Loss = {
	gtids: "",
	transactions: 0,
	writes: [],
	answered: 0,
	silent: [],
};

/** What processes that are gone by now had found counts too; what was accepted before does not. */
async function wholeLoss(
	{ store, askMs }: { readonly store: TopologyStore; readonly askMs: number },
	host: string,
	server: FleetServer,
	recorded: RecordedLoss | null,
): Promise<Loss> {
	const loss = await measureLoss(
		{ store, askMs },
		host,
		server,
		recorded?.missing ?? "",
	);
	const gtids = await notYetAccepted(store, host, server, loss.gtids);
	const lost = new GtidSet(gtids);
	const writes = loss.writes.filter(({ gtid }) => lost.has(gtid));
	return { ...loss, gtids, transactions: lost.size, writes };
}

async function notYetAccepted(
	store: TopologyStore,
	host: string,
	server: FleetServer,
	gtids: string,
): Promise<string> {
	const before = (await readAccepted(store, host))?.gtids ?? "";
	return gtids === "" || before === "" ? gtids : server.subtract(gtids, before);
}

async function recordedLoss(
	store: TopologyStore,
	host: string,
): Promise<RecordedLoss | null> {
	return (await readLosses(store)).find((loss) => loss.host === host) ?? null;
}

function refused(host: string, why: string): Aborted {
	return {
		why: "the loss was not accepted",
		error: new CorkboardError(
			"CONFLICT",
			`${why}\nNothing was accepted. Look again: corkboard hosts accept-loss ${host} --dry-run.`,
		),
	};
}

function describeMore(server: string, more: string): string {
	return `${server} lacks by now also what was not shown, ${new GtidSet(more).size} transactions: ${more}.`;
}

async function requireSame(
	server: FleetServer,
	{ from }: PromotionHosts,
	id: string,
): Promise<void> {
	const now = await server.identity();
	if (now.id === id && now.takesWrites) return;
	throw new CorkboardError(
		"CONFLICT",
		`${from} does not lead to ${id}, which takes writes, any more. Abort this, and look again: corkboard hosts accept-loss ${from} --dry-run.`,
	);
}

function lackOf({ gtids, transactions }: Loss): string {
	return transactions === 0
		? "nothing that is known by GTID"
		: `${transactions} acknowledged transactions: ${gtids}`;
}

/** What an operator reads before it is accepted. */
export function describeAcceptance({
	hosts: { from },
	server,
	loss,
}: Found): string {
	return loss === NOT_KNOWN
		? `${from} leads to ${server}, which has no GTIDs: nobody knows what it lacks.`
		: `${from} leads to ${server}, which lacks ${lackOf(loss)}, ${whoKnows(loss)}.`;
}
