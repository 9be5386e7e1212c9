import { CorkboardError } from "../../errors.ts";
import { exchangeHosts } from "../map/edits.ts";
import {
	type PromotionHosts,
	promotedDatabases,
} from "../map/promotionHosts.ts";
import { preflight } from "../preflight/preflight.ts";
import { FleetServer } from "../server/fleetServer.ts";
import { readCounters } from "../server/localIds.ts";
import { raiseLocalIds } from "../server/raiseLocalIds.ts";
import { lockHolders } from "../server/tableLocks.ts";
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
import type { OperationPlan } from "./steps.ts";

const MAX_LAG_MS = 2_000;
const MAX_PAUSE_MS = 2_000;

/** What `hosts promote` would do, and everything against it. Changes nothing. */
export async function checkPromotion(
	options: PromoteOptions,
	host: string,
): Promise<{
	readonly hosts: PromotionHosts;
	readonly faults: readonly string[];
	readonly notes: readonly string[];
	readonly lagMs: number;
}> {
	const { store, environment, maxLagMs = MAX_LAG_MS } = options;
	const hosts = await findHosts(store, liveVariant(options), host);
	await using old = new FleetServer(hosts.fromUrl, environment);
	await using next = new FleetServer(hosts.toUrl, environment);
	const databases = promotedDatabases(hosts);
	return { hosts, ...(await preflight(old, next, { maxLagMs, databases })) };
}

/** Makes a replica the primary, while both servers live. Throws CONFLICT with every fault of the preflight; nothing has changed then. */
export async function promote(
	options: PromoteOptions,
	host: string,
): Promise<PromotionResult> {
	const checked = await checkPromotion(options, host);
	return beginPromotion(options, liveVariant(options), checked);
}

export function promotePlan(
	options: PromoteOptions,
	operation: Operation,
): Promise<OperationPlan<PromotionResult>> {
	return promotionPlan(options, operation, liveVariant(options));
}

/** A promotion while both live: they change places, and nothing is lost. */
function liveVariant({
	maxPauseMs = MAX_PAUSE_MS,
}: PromoteOptions): PromotionVariant {
	return {
		kind: "promote",
		steps: (promotion) => stepsOf(promotion, maxPauseMs),
		why: ({ hosts: { from, to } }) => `promote ${to} for ${from}, 0 lost`,
		edit: exchangeHosts,
	};
}

function stepsOf(promotion: Promotion, maxPauseMs: number): VariantSteps {
	const { operation, hosts, old, next } = promotion;
	const { from, to } = hosts;
	const databases = promotedDatabases(hosts);
	let behind: Awaited<ReturnType<typeof countersBehind>> = [];
	let fenced: Promise<void> = Promise.resolve();
	return {
		takePlace: [
			{
				name: "fencing",
				during: ["locked", "fencing"],
				changesServers: false,
				async does() {
					await requireUnlocked(old);
					// Before the pause: a healthy replica's counters are where the primary's were.
					const before = await readCounters(old, databases);
					behind = await countersBehind(old, next, before, maxPauseMs);
					if (operation.record.step === "locked") {
						await operation.save({ step: "fencing" }, `fencing ${from}`);
					}
					return undefined;
				},
			},
			{
				name: "fenced",
				during: ["fencing"],
				changesServers: true,
				async does() {
					await stopWrites(old, maxPauseMs);
					// The disk writes down meanwhile that it stays so. That has to be done before anybody else takes writes.
					fenced = old.fence();
					fenced.catch(() => {});
					return undefined;
				},
				undoes: [
					// First: writes wait for it, and the other server may be what failed.
					async () => {
						await fenced.catch(() => {});
						await old.unfence();
						return null;
					},
				],
			},
			{
				name: "caught up",
				during: ["fencing"],
				changesServers: false,
				async does() {
					let isThere = false;
					try {
						// After the fence: what ended before it is in it, and nothing comes after.
						isThere = await next.has(await old.executed(), maxPauseMs);
					} finally {
						await fenced;
					}
					const why = `${to} did not catch up within ${maxPauseMs} ms`;
					return isThere ? undefined : { why, error: null };
				},
			},
			{
				name: "writable",
				during: ["fencing"],
				changesServers: true,
				async does() {
					await next.takeWrites();
					await raiseLocalIds(next, behind);
					return undefined;
				},
				undoes: undoesTakingWrites(promotion),
			},
		],
		finish: {
			name: "reattached",
			during: ["published"],
			changesServers: true,
			async does() {
				try {
					// Not before: it takes longer than everything else that writes wait for, and the fenced server sends nothing.
					await next.stopFollowing();
					await old.follow(next);
				} catch (thrown) {
					const { message } = thrown as Error;
					await operation.save({}, `${from} does not follow ${to}: ${message}`);
					throw thrown;
				}
				return undefined;
			},
		},
		describeOld: () => `${from} follows ${to}`,
	};
}

/** Throws UNAVAILABLE, with what may be in the way, if it takes longer than that. */
async function stopWrites(old: FleetServer, ms: number): Promise<void> {
	try {
		await old.stopWrites(ms);
	} catch (thrown) {
		if (!(thrown instanceof CorkboardError)) throw thrown;
		throw new CorkboardError(
			thrown.code,
			`${old.name} did not stop writes within ${ms} ms: ${thrown.message}. A client may hold locks (LOCK TABLES, or a commit that does not end), which the fence waits for, and all writes with it. SHOW PROCESSLIST on ${old.name} lists the clients.`,
			{ cause: thrown, details: thrown.details },
		);
	}
}

/** Throws CONFLICT if all writes would wait for a client's lock together with the fence. */
async function requireUnlocked(old: FleetServer): Promise<void> {
	const holders = await lockHolders(old);
	if (holders.length === 0) return;
	throw new CorkboardError(
		"CONFLICT",
		`Clients hold locks on ${old.name} that the fence would wait for, and all writes with it: ${holders.join("; ")}. End that (LOCK TABLES, or a statement or commit that takes long), or KILL the connection, and try again.`,
	);
}

/** Tables whose next id on the replica is before that of the primary, although it has all rows. */
async function countersBehind(
	old: FleetServer,
	next: FleetServer,
	before: Awaited<ReturnType<typeof readCounters>>,
	ms: number,
) {
	if (before.size === 0) return [];
	await next.has(await old.executed(), ms);
	const databases = [
		...new Set([...before.values()].map(({ schema }) => schema)),
	];
	const counters = await readCounters(next, databases);
	return [...before].flatMap(([table, { next: least }]) => {
		const own = counters.get(table);
		return own !== undefined && (own.next ?? 1n) < (least ?? 1n)
			? [{ ...own, next: least }]
			: [];
	});
}
