import { CorkboardError } from "../../errors.ts";
import type { Environment } from "../../topology/secret.ts";
import type { TopologyStore } from "../../topology/store.ts";
import type { Topology } from "../../topology/types.ts";
import { type Agreement, agreed } from "../map/barrier.ts";
import {
	findPromoted,
	findPromotion,
	type PromotionHosts,
} from "../map/promotionHosts.ts";
import { existing, publish, requireCurrent } from "../map/publish.ts";
import { FleetServer } from "../server/fleetServer.ts";
import type { Loss } from "./loss.ts";
import type { OperationKind, OperationRecord } from "./operationRecord.ts";
import { type Operation, runOperation } from "./operations.ts";
import { publishMap } from "./publishMap.ts";
import { rollBack, type UndoOptions, undone } from "./rollBack.ts";

/**
 * Makes a replica the primary (docs/how-to/replicas.md): from its record to its end, what
 * a promotion is whether the old primary lives (`promote.ts`) or is dead (`promoteDead.ts`).
 *
 * What is safe does not rest on when processes learn of it: the old primary is
 * fenced or given up before the replica takes writes; and the topology, its history
 * and the record of the operation change in one write of the store. Until that write
 * the operation can be rolled back, after it only completed. A fence is lifted only after the record says
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
	/** From the fence to the publication. Milliseconds; null where somebody else began it, or the primary was dead. */
	readonly pauseMs: number | null;
	readonly agreement: Agreement | null;
	/** Whether the old primary follows the new one. */
	readonly isFollowing: boolean;
	/** What a dead primary's promotion lost; null if it was rolled back before that was known. */
	readonly loss?: Loss | null;
}

/** A promotion that this process holds. */
export interface Promotion {
	readonly operation: Operation;
	readonly hosts: PromotionHosts;
	readonly old: FleetServer;
	readonly next: FleetServer;
	readonly onStep: (what: string) => Promise<void>;
	readonly rollBack: (why: string) => Promise<unknown>;
}

/** How long each step took while the old primary took no writes. Milliseconds. */
export type Pause = readonly (readonly [step: string, ms: number])[];

/** What differs between an old primary that lives and one that is dead. */
export interface Way {
	readonly kind: OperationKind & ("promote" | "promote --dead");
	/** Until the replica takes writes, and gives no id twice. It saves that it is `fencing` before it changes anything. Null: it was rolled back. */
	takePlace(promotion: Promotion): Promise<Pause | null>;
	/** What the history says of it. */
	why(promotion: Promotion): string;
	/** The map in which the one has the place of the other. */
	edit(current: Topology, hosts: PromotionHosts): Omit<Topology, "version">;
	/** What becomes of the old primary, once all processes serve the new map; in a sentence. */
	settle(promotion: Promotion): Promise<string>;
}

const AGREE_MS = 5_000;

/** The hosts of a promotion, after its map was tried against the rules. Throws BAD_TOPOLOGY. */
export async function findHosts(
	store: TopologyStore,
	way: Way,
	host: string,
): Promise<PromotionHosts> {
	const { topology } = await requireCurrent(store);
	const hosts = findPromotion(topology, host);
	await publish(store, {
		edit: existing((now) => way.edit(now, stillNamed(now, hosts))),
		why: "",
		isDryRun: true,
	});
	return hosts;
}

/** Throws CONFLICT where there are faults; nothing has changed then. */
export async function beginPromotion(
	options: PromoteOptions,
	way: Way,
	{
		hosts,
		faults,
	}: {
		readonly hosts: PromotionHosts;
		readonly faults: readonly string[];
	},
): Promise<PromotionResult> {
	const { from, to } = hosts;
	return runOperation(
		options,
		{ kind: way.kind, from, to },
		faults,
		(operation) => proceedOn(options, operation, way),
	);
}

/** Goes on with one that this process holds, from where it is. */
export async function proceedOn(
	options: PromoteOptions,
	operation: Operation,
	way: Way,
): Promise<PromotionResult> {
	const { store, agreeMs = AGREE_MS } = options;
	await using promotion = await open(options, operation);
	const { hosts, next, onStep } = promotion;
	const { step } = operation.record;
	let pause: Pause | null = null;
	if (step === "rolling back") {
		await promotion.rollBack("goes on");
		return promotionResult(operation.record);
	}
	if (step !== "published") {
		try {
			pause = await way.takePlace(promotion);
			if (pause === null) return promotionResult(operation.record);
			const began = performance.now();
			await publishMap(store, operation, way.why(promotion), (current) =>
				way.edit(current, stillNamed(current, hosts)),
			);
			pause = [...pause, ["published", performance.now() - began]];
		} catch (thrown) {
			// So that writes do not wait for an operator where they need not.
			throw await undone(thrown, operation, promotion.rollBack);
		}
		// Who began it had fenced the primary: writes wait since then.
		if (step === "fencing" || way.kind === "promote --dead") pause = null;
		await onStep("published");
	}
	// Whoever resumes: it may have started again since, with a setting that it kept.
	await operation.requireHeld();
	await next.liftFence();
	const { version } = operation.record;
	// Without members nobody says so; the fence holds all the same.
	const agreement = await agreed(store, version as number, agreeMs, {
		byTimeMs: 0,
	});
	await onStep("agreed");
	await operation.requireHeld();
	const settled = await way.settle(promotion);
	const times = pause === null ? "" : `; ${describePause(pause)}`;
	await operation.end("done", `${settled}${times}`);
	const pauseMs = pause === null ? null : lengthOf(pause);
	return { ...promotionResult(operation.record), pauseMs, agreement };
}

/** Undoes one that this process has taken over. Returns what could not be undone. */
export async function undoPromotion(
	options: Pick<PromoteOptions, "store" | "environment">,
	operation: Operation,
	undo: UndoOptions,
): Promise<readonly string[]> {
	await using promotion = await open(options, operation);
	const { old, next } = promotion;
	return await rollBack(options.store, operation, old, next, "aborted", undo);
}

/** Throws CONFLICT where the map does not name the hosts as the operation needs them. */
async function open(
	{
		store,
		environment,
		onStep,
	}: Pick<PromoteOptions, "store" | "environment" | "onStep">,
	operation: Operation,
): Promise<Promotion & AsyncDisposable> {
	const hosts = await hostsOf(store, operation);
	const old = new FleetServer(hosts.fromUrl, environment);
	const next = new FleetServer(hosts.toUrl, environment);
	return {
		...{ operation, hosts, old, next },
		onStep: async (what) => onStep?.(what, operation.record.id),
		rollBack: (why) => rollBack(store, operation, old, next, why),
		async [Symbol.asyncDispose]() {
			await old[Symbol.asyncDispose]();
			await next[Symbol.asyncDispose]();
		},
	};
}

async function hostsOf(
	store: TopologyStore,
	{ record }: Operation,
): Promise<PromotionHosts> {
	const { id, step, from, to } = record;
	const { topology } = await requireCurrent(store);
	const hosts =
		step === "published"
			? findPromoted(topology, record)
			: findPromotion(topology, from);
	if (hosts?.to === to) return hosts;
	throw new CorkboardError(
		"CONFLICT",
		`Version ${topology.version} names ${to} neither as a primary nor as the replica of ${from}, but ${id} is about it: publish that first.`,
	);
}

/** Throws CONFLICT where another publication has changed who the two hosts are. */
function stillNamed(topology: Topology, hosts: PromotionHosts): PromotionHosts {
	const found = findPromotion(topology, hosts.from);
	const { from, to } = found;
	if (to === hosts.to) return found;
	throw new CorkboardError(
		"CONFLICT",
		`Version ${topology.version}, which somebody else has published, names another replica of ${from} than ${hosts.to}: ${to}.`,
	);
}

function lengthOf(pause: Pause): number {
	return pause.reduce((sum, [, ms]) => sum + ms, 0);
}

/** `no writes for 31 ms: fenced 4 ms, …` */
function describePause(pause: Pause): string {
	const steps = pause.map(([step, ms]) => `${step} ${Math.round(ms)} ms`);
	return `no writes for ${Math.round(lengthOf(pause))} ms: ${steps.join(", ")}`;
}

/** What is known of one from its record alone. */
export function promotionResult(record: OperationRecord): PromotionResult {
	const { id, kind, from, to, version, step, loss } = record;
	return {
		operation: id,
		...{ from, to, version, pauseMs: null, agreement: null },
		isFollowing: kind === "promote" && step === "done",
		...(kind !== "promote" && { loss }),
	};
}
