import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import { askMembers } from "../../topology/asks.ts";
import { reasonOf } from "../../util/reasonOf.ts";
import { replaceHost } from "../map/edits.ts";
import {
	type PromotionHosts,
	promotedDatabases,
} from "../map/promotionHosts.ts";
import { grantFaults, NEEDED_GRANTS } from "../preflight/operatorGrants.ts";
import { readVersion } from "../preflight/preflight.ts";
import { liftFences } from "../server/fences.ts";
import { FleetServer, type ReplicaState } from "../server/fleetServer.ts";
import { readCounters } from "../server/localIds.ts";
import { raiseLocalIds, tryRaising } from "../server/raiseLocalIds.ts";
import { grownBy, type Loss, measureLoss, whoKnows } from "./loss.ts";
import type { Operation } from "./operations.ts";
import {
	beginPromotion,
	findHosts,
	type PromoteOptions,
	type Promotion,
	type PromotionResult,
	type PromotionVariant,
	promotionPlan,
	undoesTakingWrites,
	type VariantSteps,
} from "./promotion.ts";
import type { Aborted, OperationPlan } from "./steps.ts";

export interface DeadOptions extends PromoteOptions {
	/** Even if the primary answers, or processes reach it: it is fenced then. */
	readonly force?: boolean;
	/** Whether to give up what is lost. Called if something is; default: no. */
	readonly acceptLoss?: (loss: Loss) => boolean | Promise<boolean>;
	/** How long processes may take to say what they know. Milliseconds. */
	readonly askMs?: number;
	/** How long the primary may take to answer, of three times. Milliseconds. */
	readonly tryMs?: number;
}

/** Why a primary counts as dead. */
export interface Evidence {
	/** Why it does not answer here; null: it does. */
	readonly silence: string | null;
	/** The state of the replica's connection to it. */
	readonly replica: ReplicaState | null;
	/** How many processes say so. */
	readonly lost: number;
	readonly reached: number;
	readonly idle: number;
	readonly silent: number;
}

const ASK_MS = 5_000;
/** How long the replica may take to apply what it has received. Milliseconds. */
const APPLY_MS = 3_600_000;
const TRIES = 3;
const ANSWER_MS = 10_000;
const TRY_MS = 1_500;
const LOOK_MS = 250;

/** What was found of a host before a replica takes its place. */
interface DeadCheck {
	readonly hosts: PromotionHosts;
	readonly evidence: Evidence;
	readonly faults: readonly string[];
	/** What does not stop it, and may take longer than expected. */
	readonly notes: readonly string[];
	/** Null if the replica does not answer. */
	readonly loss: Loss | null;
}

/** What `hosts promote --dead` would do, what it would cost now, and everything against it. Changes nothing. */
export async function checkDeadPromotion(
	options: DeadOptions,
	host: string,
): Promise<DeadCheck> {
	const { store, environment, askMs = ASK_MS, force = false } = options;
	const { tryMs = TRY_MS } = options;
	const hosts = await findHosts(store, deadVariant(options), host);
	await using old = new FleetServer(hosts.fromUrl, environment);
	await using next = new FleetServer(hosts.toUrl, environment);
	// First: a process that reached it a moment ago does not any more after that.
	const silence = await silenceOf(old, tryMs);
	const question = { host: hosts.from, missing: null };
	const { answered, silent } = await askMembers(store, question, askMs);
	const count = (state: string) =>
		answered.filter(({ answer }) => answer.state === state).length;
	const seen = {
		silence,
		lost: count("lost"),
		reached: count("reached"),
		idle: count("idle"),
		silent: silent.length,
	};
	const faults: string[] = [];
	const unsound = {
		hosts,
		faults,
		notes: [],
		loss: null,
		evidence: { ...seen, replica: null },
	};
	const unreachable = await next.silence(ANSWER_MS);
	if (unreachable !== null) {
		faults.push(`${hosts.to} does not answer: ${unreachable}`);
		return unsound;
	}
	faults.push(...(await readVersion(next)).faults);
	if (faults.length > 0) return unsound;
	faults.push(
		...(await grantFaults(
			next,
			NEEDED_GRANTS["promote --dead"],
			promotedDatabases(hosts),
		)),
		...(silence === null && force
			? await grantFaults(old, NEEDED_GRANTS.fence)
			: []),
	);
	if (faults.length > 0) {
		return unsound;
	}
	try {
		await next.received();
	} catch (thrown) {
		faults.push(
			`${reasonOf(thrown)}: corkboard grants show --account operator.`,
		);
	}
	const replica = await next.replica();
	const evidence = { ...seen, replica };
	faults.push(...replicaFaults(hosts, replica));
	if (!force) faults.push(...signsOfLife(hosts, evidence));
	const trial = await tryRaising(next, promotedDatabases(hosts));
	faults.push(...trial.faults);
	const executed = silence === null ? await old.executed() : "";
	const loss = await measureLoss({ store, askMs }, hosts.from, next, executed);
	const isAnythingKnown =
		executed !== "" ||
		answered.some(({ answer }) => answer.acknowledged !== "");
	const unknown = unknownLack(
		hosts,
		await missedWrites(hosts, next, replica),
		isAnythingKnown,
	);
	if (!isAnythingKnown && !force) faults.push(...unknown);
	return { hosts, evidence, faults, notes: [...trial.notes, ...unknown], loss };
}

/** Why a replica may lack more than its own state shows; null: nothing says so. */
async function missedWrites(
	{ from, to }: PromotionHosts,
	next: FleetServer,
	replica: ReplicaState | null,
): Promise<string | null> {
	if (replica === null) return null;
	if (replica.isReceiverStopped) {
		const error = replica.error === "" ? "" : ` (${replica.error})`;
		return `${to} had stopped receiving from ${from}${error}, nobody knows when`;
	}
	const has = [await next.executed(), await next.received()].join(",");
	// A primary has written; one that only passes on what others wrote has not.
	if (has.toLowerCase().includes(replica.sourceUuid.toLowerCase())) return null;
	return `${to} follows another server than ${from}, which has written nothing itself (${replica.sourceUuid}), and may not have passed on all`;
}

/** The processes that know what such a replica lacks may be gone by now. */
function unknownLack(
	{ from, to }: PromotionHosts,
	missed: string | null,
	isAnythingKnown: boolean,
): readonly string[] {
	if (missed === null) return [];
	return [
		`${missed}: ${
			isAnythingKnown
				? "what only processes that have ended were acknowledged since is lost, and not stated"
				: `no process says what ${from} acknowledged, so what ${to} lacks is not known. With --force it is promoted all the same`
		}.`,
	];
}

function replicaFaults(
	{ from, to }: PromotionHosts,
	replica: ReplicaState | null,
): readonly string[] {
	if (replica === null) {
		return [`${to} follows no other server, so it may lack anything.`];
	}
	if (replica.isApplying) return [];
	return [
		`${to} does not apply what it has received${replica.error === "" ? "" : `: ${replica.error}`}. Start it again (START REPLICA SQL_THREAD): what it has of ${from} would be lost.`,
	];
}

/** Why it may not be dead at all. */
function signsOfLife(
	{ from, to }: PromotionHosts,
	{ silence, lost, reached }: Evidence,
): readonly string[] {
	if (silence === null) {
		return [
			`${from} answers. If it lives, nothing has to be lost: corkboard hosts promote ${from}. With --force it is fenced, and the replica is promoted all the same.`,
		];
	}
	if (reached > lost) {
		return [
			`${from} does not answer here, but ${reached} processes reach it, and ${lost} do not: there may be a partition between it and this machine. With --force ${to} is promoted all the same, and what those processes write until they learn of it is lost.`,
		];
	}
	return [];
}

async function silenceOf(
	server: FleetServer,
	ms: number,
): Promise<string | null> {
	let silence: string | null = null;
	for (let tries = 0; tries < TRIES; tries++) {
		silence = await server.silence(ms);
		if (silence === null) return null;
	}
	return silence;
}

/**
 * Makes a replica the primary in the place of one that is dead
 * (docs/how-to/recovery.md, "When a primary dies").
 *
 * The replica applies all that it has received. The loss is what processes of the
 * fleet were acknowledged and the replica lacks. It is stated, and accepted or not,
 * before anything is given up. Then the local ids of the replica are raised beyond
 * those that the dead primary may have given, and one write of the store puts it in
 * the dead primary's place. From then on no topology names the dead primary. It is
 * not attached again as it is, because it has transactions that nobody else has.
 *
 * Throws CONFLICT with everything against it; nothing has changed then. `checked` is
 * what `checkDeadPromotion` found a moment ago. Looking again at a host that swallows
 * packets would take seconds of the outage, and the loss is measured again anyway.
 *
 * The steps are in `stepsOf`, and `runSteps` does them.
 */
export async function promoteDead(
	options: DeadOptions,
	host: string,
	checked?: DeadCheck,
): Promise<PromotionResult> {
	checked ??= await checkDeadPromotion(options, host);
	return beginPromotion(options, deadVariant(options), checked);
}

/** If what is lost was not accepted yet, `acceptLoss` is asked. */
export function deadPlan(
	options: DeadOptions,
	operation: Operation,
): Promise<OperationPlan<PromotionResult>> {
	return promotionPlan(options, operation, deadVariant(options));
}

/** A promotion of the replica of a dead primary: the primary is given up, and no map names it. */
function deadVariant(options: DeadOptions): PromotionVariant {
	return {
		kind: "promote --dead",
		steps: (promotion) => stepsOf(options, promotion),
		why: ({ operation: { record }, hosts: { from, to } }) =>
			`promote ${to} for ${from}, which is dead; ${record.loss?.transactions ?? 0} transactions lost`,
		edit: replaceHost,
	};
}

function stepsOf(options: DeadOptions, promotion: Promotion): VariantSteps {
	const { store, askMs = ASK_MS, tryMs } = options;
	const { operation, hosts, old, next } = promotion;
	const { from } = hosts;
	const databases = promotedDatabases(hosts);
	const lossNow = (executed: string) =>
		measureLoss({ store, askMs }, from, next, executed);
	/** Why it was not fenced; null: it was. */
	let whyUnfenced: string | null = null;
	return {
		takePlace: [
			{
				name: "fencing",
				during: ["locked", "fencing"],
				changesServers: false,
				async does() {
					if (operation.record.step === "locked") {
						await operation.save({ step: "fencing" }, `giving ${from} up`);
					}
					return undefined;
				},
			},
			{
				name: "fenced",
				during: ["fencing"],
				changesServers: true,
				async does() {
					whyUnfenced = await fenceIfReached(old, tryMs);
					if (whyUnfenced !== null) {
						await operation.save({}, `${from} was not fenced: ${whyUnfenced}`);
					}
					return undefined;
				},
				undoes: [
					async () => {
						if ((await old.silence(TRY_MS)) !== null) {
							return `${from} does not answer, and may be super_read_only when it is back`;
						}
						await old.unfence();
						return null;
					},
				],
			},
			{
				name: "receiver stopped",
				during: ["fencing"],
				changesServers: true,
				async does() {
					if ((await next.replica()) !== null) {
						await next.run("stop receiver", "STOP REPLICA IO_THREAD");
					}
					return undefined;
				},
			},
			{
				name: "applied",
				during: ["fencing"],
				changesServers: false,
				async does() {
					await untilApplied(next);
					return undefined;
				},
			},
			{
				name: "accepted",
				during: ["fencing"],
				changesServers: false,
				async does() {
					const executed = whyUnfenced === null ? await old.executed() : "";
					const loss = await lossNow(executed);
					if (!(await isAccepted(options, promotion, loss))) {
						return notAccepted(loss, hosts);
					}
					await operation.save({ loss }, describeLostTransactions(loss, hosts));
					return undefined;
				},
			},
			{
				name: "writable",
				during: ["fencing"],
				changesServers: true,
				async does() {
					await next.stopFollowing();
					// No topology names it yet, so that nobody writes before the ids are raised.
					await next.liftFence();
					// A move that was cutting over has fenced shards on the primary, and so here; nothing of it is published any more.
					await liftFences(next, databases);
					const counters = await readCounters(next, databases);
					await raiseLocalIds(next, counters.values());
					return undefined;
				},
				undoes: undoesTakingWrites(promotion),
			},
		],
		finish: {
			name: "looked again",
			during: ["published"],
			changesServers: true,
			async does() {
				// It may be back by now, and nobody may write to it.
				whyUnfenced = await fenceIfReached(old, tryMs);
				// Until all processes served the new version, some may have reached it still.
				const executed =
					whyUnfenced === null ? await old.executed().catch(() => "") : "";
				const loss = await lossNow(executed);
				// Processes that ended meanwhile have forgotten.
				if ((operation.record.loss?.transactions ?? 0) <= loss.transactions) {
					await operation.save({ loss }, describeLostTransactions(loss, hosts));
				}
				return undefined;
			},
		},
		describeOld: () =>
			`${from} ${whyUnfenced === null ? "takes no writes" : `was not fenced (${whyUnfenced})`}, and is named by no topology`,
	};
}

/** An operator who accepted a loss did not accept a greater one. */
async function isAccepted(
	{ acceptLoss }: DeadOptions,
	{ operation, next }: Promotion,
	loss: Loss,
): Promise<boolean> {
	if (loss.transactions === 0) return true;
	const before = operation.record.loss;
	const isKnown =
		before !== null && (await grownBy(next, loss.gtids, before)) === "";
	return isKnown || ((await acceptLoss?.(loss)) ?? false);
}

function notAccepted(loss: Loss, hosts: PromotionHosts): Aborted {
	return {
		why: "the loss was not accepted",
		error: new CorkboardError(
			"CONFLICT",
			`${describeLostTransactions(loss, hosts)} It was not accepted, so nothing has changed: ${hosts.from} is the primary still. To give this up: --accept-loss.`,
		),
	};
}

/**
 * Null once it took the fence: if it answers, it is not dead enough to be trusted.
 * Else why not: that it does not answer, or what it said.
 */
async function fenceIfReached(
	server: FleetServer,
	ms = TRY_MS,
): Promise<string | null> {
	try {
		await server.fence(ms);
		return null;
	} catch (thrown) {
		return (thrown as Error).message;
	}
}

/** Throws UNAVAILABLE if it stops applying, or takes longer. */
async function untilApplied(server: FleetServer): Promise<void> {
	const until = performance.now() + APPLY_MS;
	for (;;) {
		const state = await server.replica();
		// It follows nobody any more: an earlier runner has done this.
		if (state === null) return;
		if (await server.has(await server.received(), 1_000)) return;
		if (!state.isApplying || performance.now() > until) {
			throw new CorkboardError(
				"UNAVAILABLE",
				`${server.name} has not applied all that it has received${state.error === "" ? "" : `: ${state.error}`}.`,
			);
		}
		await sleep(LOOK_MS);
	}
}

/** What is lost, in a sentence. */
export function describeLostTransactions(
	loss: Loss,
	{ from, to }: Pick<PromotionHosts, "from" | "to">,
): string {
	const { gtids, transactions } = loss;
	const known = whoKnows(
		loss,
		", and what only they were acknowledged is not in this",
	);
	return transactions === 0
		? `${to} has all that ${from} acknowledged, ${known}.`
		: `${from} acknowledged ${transactions} transactions that ${to} lacks, ${known}: ${gtids}.`;
}
