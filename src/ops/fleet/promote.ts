import { CorkboardError } from "../../errors.ts";
import { type Agreement, agreed } from "../../topology/barrier.ts";
import { requireCurrent } from "../../topology/publish.ts";
import type { Environment } from "../../topology/secret.ts";
import type { TopologyStore } from "../../topology/store.ts";
import type { Topology } from "../../topology/types.ts";
import {
	databasesOf,
	exchangeHosts,
	findPromotion,
	type PromotionHosts,
} from "./exchangeHosts.ts";
import { FleetServer } from "./fleetServer.ts";
import { raiseLocalIds, readCounters } from "./localIds.ts";
import { Operation, type Step } from "./operations.ts";
import { preflight } from "./preflight.ts";
import { publishMap } from "./publishMap.ts";
import { rollBack, type UndoOptions, undone } from "./rollBack.ts";

/**
 * Makes a replica the primary, while both servers live (docs/replicas.md).
 *
 * What is safe does not rest on when processes learn of it: the old primary is
 * fenced by `super_read_only`, which it keeps over a restart, before the replica
 * takes writes; and the topology, its history and the record of the operation
 * change in one write of the store. Until that write the operation can be rolled
 * back, after it only completed. The fence is lifted only after the record says
 * so, by a compare-and-set that makes a publication which is still under way fail.
 */
export interface PromoteOptions {
	readonly store: TopologyStore;
	readonly environment: Environment;
	/** How far the replica may be behind at the start. Milliseconds. */
	readonly maxLagMs?: number;
	/** How long writes may wait for the replica to catch up, before all is undone. Milliseconds. */
	readonly maxPauseMs?: number;
	/** How long to wait for the processes of the fleet. Milliseconds. */
	readonly agreeMs?: number;
	/** Called with each step that is done, of the operation of this id. */
	readonly onStep?: (what: string, id: string) => void | Promise<void>;
}

export interface PromotionResult {
	readonly operation: string;
	readonly from: string;
	readonly to: string;
	/** The version that was published; null: nothing changed. */
	readonly version: number | null;
	/** From the fence to the publication. Milliseconds; null where somebody else began it. */
	readonly pauseMs: number | null;
	readonly agreement: Agreement | null;
	/** Whether the old primary follows the new one. */
	readonly isFollowing: boolean;
}

const MAX_LAG_MS = 2_000;
const MAX_PAUSE_MS = 2_000;
const AGREE_MS = 5_000;

/** What `promote` would do, and everything against it. Changes nothing. */
export async function checkPromotion(
	{ store, environment, maxLagMs = MAX_LAG_MS }: PromoteOptions,
	host: string,
): Promise<{
	readonly hosts: PromotionHosts;
	readonly faults: readonly string[];
	readonly lagMs: number;
}> {
	const { topology } = await requireCurrent(store);
	const hosts = findPromotion(topology, host);
	await using old = new FleetServer(hosts.fromUrl, environment);
	await using next = new FleetServer(hosts.toUrl, environment);
	const databases = databasesOf(hosts);
	return { hosts, ...(await preflight(old, next, { maxLagMs, databases })) };
}

/** Throws CONFLICT with every fault of the preflight; nothing has changed then. */
export async function promote(
	options: PromoteOptions,
	host: string,
): Promise<PromotionResult> {
	const { hosts, faults } = await checkPromotion(options, host);
	if (faults.length > 0) {
		throw new CorkboardError("CONFLICT", faults.join("\n"));
	}
	await using operation = await Operation.begin(options.store, {
		kind: "promote",
		from: hosts.from,
		to: hosts.to,
	});
	await options.onStep?.("locked", operation.record.id);
	return await proceed(options, operation, hosts);
}

/** Goes on with one that this process has taken over. */
export async function proceedPromotion(
	options: PromoteOptions,
	operation: Operation,
): Promise<PromotionResult> {
	const hosts = await hostsOf(options.store, operation);
	return proceed(options, operation, hosts);
}

/** Undoes one that this process has taken over, of a primary that lives or of one that is dead. Returns what could not be undone. */
export async function undoPromotion(
	{ store, environment }: Pick<PromoteOptions, "store" | "environment">,
	operation: Operation,
	undo: UndoOptions,
): Promise<readonly string[]> {
	const hosts = await hostsOf(store, operation);
	await using old = new FleetServer(hosts.fromUrl, environment);
	await using next = new FleetServer(hosts.toUrl, environment);
	return await rollBack(store, operation, old, next, "aborted", undo);
}

async function proceed(
	options: PromoteOptions,
	operation: Operation,
	hosts: PromotionHosts,
): Promise<PromotionResult> {
	const { environment } = options;
	const onStep = stepsOf(options, operation);
	await using old = new FleetServer(hosts.fromUrl, environment);
	await using next = new FleetServer(hosts.toUrl, environment);
	let pause: Pause | null = null;
	const is = (...steps: readonly Step[]) =>
		steps.includes(operation.record.step);
	if (is("rolling back")) {
		await rollBack(options.store, operation, old, next, "goes on");
		return resultOf(operation, hosts);
	}
	if (is("locked", "fencing")) {
		// Who began it had fenced the primary: writes wait since then.
		const isLonger = is("fencing");
		try {
			pause = await exchange(options, operation, hosts, old, next);
		} catch (thrown) {
			// So that writes do not wait for an operator where they need not.
			throw await undone(thrown, operation, (why) =>
				rollBack(options.store, operation, old, next, why),
			);
		}
		if (pause === null) return resultOf(operation, hosts);
		if (isLonger) pause = null;
		await onStep("published");
	}
	// Whoever resumes: it may have started again since, with a setting that it kept.
	await operation.requireHeld();
	await next.liftFence();
	const { version } = operation.record;
	const agreement = await agreed(
		options.store,
		version as number,
		options.agreeMs ?? AGREE_MS,
		// Without members nobody says so; the fence holds all the same.
		{ byTimeMs: 0 },
	);
	await onStep("agreed");
	await operation.requireHeld();
	try {
		// Not before: that takes longer than all that writes wait for, and the fenced server sends nothing.
		await next.stopFollowing();
		await old.follow(next);
	} catch (thrown) {
		await operation.save(
			{},
			`${hosts.from} does not follow ${hosts.to}: ${(thrown as Error).message}`,
		);
		throw thrown;
	}
	await onStep("reattached");
	const times = pause === null ? "" : `; ${describePause(pause)}`;
	await operation.end("done", `${hosts.from} follows ${hosts.to}${times}`);
	const pauseMs = pause === null ? null : lengthOf(pause);
	return { ...resultOf(operation, hosts), pauseMs, agreement };
}

/** How long each step took while the old primary took no writes. Milliseconds. */
type Pause = readonly (readonly [step: string, ms: number])[];

function lengthOf(pause: Pause): number {
	return pause.reduce((sum, [, ms]) => sum + ms, 0);
}

/** `no writes for 31 ms: fenced 4 ms, …` */
function describePause(pause: Pause): string {
	const steps = pause.map(([step, ms]) => `${step} ${Math.round(ms)} ms`);
	return `no writes for ${Math.round(lengthOf(pause))} ms: ${steps.join(", ")}`;
}

/** From the fence to the publication; null if it was rolled back. */
async function exchange(
	options: PromoteOptions,
	operation: Operation,
	hosts: PromotionHosts,
	old: FleetServer,
	next: FleetServer,
): Promise<Pause | null> {
	const { store, maxPauseMs = MAX_PAUSE_MS } = options;
	const onStep = stepsOf(options, operation);
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
		await rollBack(
			store,
			operation,
			old,
			next,
			`${hosts.to} did not catch up within ${maxPauseMs} ms`,
		);
		return null;
	}
	await done("caught up");
	await operation.requireHeld();
	await next.takeWrites();
	await raiseLocalIds(next, behind);
	await done("writable");
	await publishMap(
		store,
		operation,
		`promote ${hosts.to} for ${hosts.from}, 0 lost`,
		(current) => exchangeHosts(current, stillNamed(current, hosts)),
	);
	pause.push(["published", performance.now() - last]);
	return pause;
}

/** Throws CONFLICT where another publication has changed who the two hosts are. */
export function stillNamed(
	topology: Topology,
	hosts: PromotionHosts,
): PromotionHosts {
	const found = findPromotion(topology, hosts.from);
	const { from, to } = found;
	if (to === hosts.to) return found;
	throw new CorkboardError(
		"CONFLICT",
		`Version ${topology.version}, which somebody else has published, names another replica of ${from} than ${hosts.to}: ${to}.`,
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

async function hostsOf(
	store: TopologyStore,
	{ record }: Operation,
): Promise<PromotionHosts> {
	const { topology } = await requireCurrent(store);
	if (record.step !== "published") {
		const hosts = findPromotion(topology, record.from);
		if (hosts.to === record.to) return hosts;
		throw new CorkboardError(
			"CONFLICT",
			`Version ${topology.version} names ${hosts.to} as the replica of ${record.from}, but ${record.id} is about ${record.to}: publish that one as its replica first.`,
		);
	}
	// They have changed places.
	const hosts = findPromotion(topology, record.to);
	const { from, to, fromUrl, toUrl } = hosts;
	return { ...hosts, from: to, to: from, fromUrl: toUrl, toUrl: fromUrl };
}

function stepsOf({ onStep }: PromoteOptions, { record: { id } }: Operation) {
	return async (what: string) => onStep?.(what, id);
}

function resultOf(
	{ record }: Operation,
	{ from, to }: PromotionHosts,
): PromotionResult {
	return {
		operation: record.id,
		from,
		to,
		version: record.version,
		pauseMs: null,
		agreement: null,
		isFollowing: record.step === "done",
	};
}
