import { exchangeHosts } from "../map/edits.ts";
import { databasesOf, type PromotionHosts } from "../map/promotionHosts.ts";
import { preflight } from "../preflight/preflight.ts";
import { FleetServer } from "../server/fleetServer.ts";
import { readCounters } from "../server/localIds.ts";
import { raiseLocalIds } from "../server/raiseLocalIds.ts";
import type { Operation } from "./operations.ts";
import {
	beginPromotion,
	findHosts,
	type Pause,
	type PromoteOptions,
	type Promotion,
	type PromotionResult,
	proceedOn,
	type Way,
} from "./promotion.ts";

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
	const hosts = await findHosts(store, exchange(options), host);
	await using old = new FleetServer(hosts.fromUrl, environment);
	await using next = new FleetServer(hosts.toUrl, environment);
	const databases = databasesOf(hosts);
	return { hosts, ...(await preflight(old, next, { maxLagMs, databases })) };
}

/** Makes a replica the primary, while both servers live. Throws CONFLICT with every fault of the preflight; nothing has changed then. */
export async function promote(
	options: PromoteOptions,
	host: string,
): Promise<PromotionResult> {
	const checked = await checkPromotion(options, host);
	return beginPromotion(options, exchange(options), checked);
}

/** Goes on with one that this process has taken over. */
export function proceedPromotion(
	options: PromoteOptions,
	operation: Operation,
): Promise<PromotionResult> {
	return proceedOn(options, operation, exchange(options));
}

/** Both live: they change places, and nothing is lost. */
function exchange({ maxPauseMs = MAX_PAUSE_MS }: PromoteOptions): Way {
	return {
		kind: "promote",
		takePlace: (promotion) => takePlace(promotion, maxPauseMs),
		why: ({ hosts: { from, to } }) => `promote ${to} for ${from}, 0 lost`,
		edit: exchangeHosts,
		async settle({ operation, hosts, old, next, onStep }) {
			const { from, to } = hosts;
			try {
				// Not before: that takes longer than all that writes wait for, and the fenced server sends nothing.
				await next.stopFollowing();
				await old.follow(next);
			} catch (thrown) {
				const { message } = thrown as Error;
				await operation.save({}, `${from} does not follow ${to}: ${message}`);
				throw thrown;
			}
			await onStep("reattached");
			return `${from} follows ${to}`;
		},
	};
}

/** From the fence until the replica takes writes; null where it did not catch up in time, so that it was rolled back. */
async function takePlace(
	{ operation, hosts, old, next, onStep, rollBack }: Promotion,
	maxPauseMs: number,
): Promise<Pause | null> {
	const databases = databasesOf(hosts);
	// Before the pause: a healthy replica's counters are where the primary's were.
	const before = await readCounters(old, databases);
	const behind = await countersBehind(old, next, before, maxPauseMs);
	if (operation.record.step === "locked") {
		await operation.save({ step: "fencing" }, `fencing ${hosts.from}`);
	}
	await onStep("fencing");
	await operation.requireHeld();
	const pause: [string, number][] = [];
	let last = performance.now();
	const done = async (step: string) => {
		const now = performance.now();
		pause.push([step, now - last]);
		last = now;
		await onStep(step);
	};
	await old.stopWrites();
	// The disk writes down meanwhile that it stays so. That has to be done before anybody else takes writes.
	const fenced = old.fence();
	let isThere = false;
	try {
		await done("fenced");
		// After the fence: what ended before it is in it, and nothing comes after.
		isThere = await next.has(await old.executed(), maxPauseMs);
	} finally {
		await fenced;
	}
	if (!isThere) {
		await rollBack(`${hosts.to} did not catch up within ${maxPauseMs} ms`);
		return null;
	}
	await done("caught up");
	await operation.requireHeld();
	await next.takeWrites();
	await raiseLocalIds(next, behind);
	await done("writable");
	return pause;
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
