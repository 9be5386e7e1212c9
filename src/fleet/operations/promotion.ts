import { CorkboardError } from "../../errors.ts";
import type { Environment } from "../../topology/secret.ts";
import type { TopologyStore } from "../../topology/store.ts";
import type { Topology } from "../../topology/types.ts";
import type { Agreement } from "../map/barrier.ts";
import {
	findPromoted,
	findPromotion,
	namesPrimary,
	type PromotionHosts,
} from "../map/promotionHosts.ts";
import { existing, publish, requireCurrent } from "../map/publish.ts";
import { FleetServer } from "../server/fleetServer.ts";
import type { Loss } from "./loss.ts";
import type { OperationKind, OperationRecord } from "./operationRecord.ts";
import type { Operation } from "./operations.ts";
import { publishMap, untilServed } from "./publishMap.ts";
import {
	beginSteps,
	type DoneStep,
	type OperationPlan,
	type Step,
} from "./steps.ts";

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
	/** The time from the fence to the publication, in milliseconds; null if another process began it, or the primary was dead. */
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
	/** `hosts.from`, as an operator connects to it. */
	readonly old: FleetServer;
	/** `hosts.to`, in the same way. */
	readonly next: FleetServer;
}

/** What differs between an old primary that lives and one that is dead. */
export interface PromotionVariant {
	readonly kind: OperationKind & ("promote" | "promote --dead");
	steps(promotion: Promotion): VariantSteps;
	/** What the history says of it. */
	why(promotion: Promotion): string;
	/** The map in which the one has the place of the other. */
	edit(current: Topology, hosts: PromotionHosts): Omit<Topology, "version">;
}

export interface VariantSteps {
	/** Until the replica takes writes, and gives no id twice. The first one saves that it is `fencing`. */
	readonly takePlace: readonly Step[];
	/** What becomes of the old primary, once all processes serve the new map. */
	readonly finish: Step;
	/** What became of it, in a sentence. */
	describeOld(): string;
}

const AGREE_MS = 5_000;

/** The hosts of a promotion, after its map was tried against the rules. Throws BAD_TOPOLOGY. */
export async function findHosts(
	store: TopologyStore,
	variant: PromotionVariant,
	host: string,
): Promise<PromotionHosts> {
	const { topology } = await requireCurrent(store);
	const hosts = findPromotion(topology, host);
	await publish(store, {
		edit: existing((now) => variant.edit(now, stillNamed(now, hosts))),
		why: "",
		isDryRun: true,
	});
	return hosts;
}

/** Throws CONFLICT if there are faults; nothing has changed then. */
export async function beginPromotion(
	options: PromoteOptions,
	variant: PromotionVariant,
	{
		hosts,
		faults,
	}: {
		readonly hosts: PromotionHosts;
		readonly faults: readonly string[];
	},
): Promise<PromotionResult> {
	const { from, to } = hosts;
	return beginSteps(
		options,
		{ kind: variant.kind, from, to },
		faults,
		(operation) => promotionPlan(options, operation, variant),
	);
}

/** Throws CONFLICT if the map does not name the hosts as the operation needs them. */
export async function promotionPlan(
	{ store, environment, onStep, agreeMs = AGREE_MS }: PromoteOptions,
	operation: Operation,
	variant: PromotionVariant,
): Promise<OperationPlan<PromotionResult>> {
	const hosts = await hostsOf(store, operation);
	const { from } = hosts;
	const old = new FleetServer(hosts.fromUrl, environment);
	const next = new FleetServer(hosts.toUrl, environment);
	const promotion = { operation, hosts, old, next };
	const { takePlace, finish, describeOld } = variant.steps(promotion);
	// Writes of one that is resumed wait since a moment that this process does not know.
	const isPauseKnown =
		operation.record.step === "locked" && variant.kind === "promote";
	let agreement: Agreement | null = null;
	return {
		operation,
		undoesFailures: true,
		steps: [
			...takePlace,
			{
				name: "published",
				during: ["fencing"],
				changesServers: false,
				async does() {
					await publishMap(
						store,
						operation,
						variant.why(promotion),
						(current) => variant.edit(current, stillNamed(current, hosts)),
					);
					return undefined;
				},
			},
			{
				name: "agreed",
				during: ["published"],
				changesServers: true,
				async does() {
					// A promotion that is resumed: the server may have started again since, with a setting that it kept.
					await next.liftFence();
					agreement = await untilServed(store, operation, agreeMs);
					return undefined;
				},
			},
			finish,
		],
		say: async (what) => onStep?.(what, operation.record.id),
		async undoIsRefused() {
			const { topology } = await requireCurrent(store);
			if (namesPrimary(topology, from)) return null;
			// Edited by hand meanwhile: two primaries are worse than none.
			return new CorkboardError(
				"CONFLICT",
				`Version ${topology.version} does not name ${from} as a primary any more, so nothing is undone.`,
			);
		},
		describeDone: (done) =>
			isPauseKnown ? `${describeOld()}; ${describePause(done)}` : describeOld(),
		describeUndone: (left) => ["nothing changed", ...left].join("; "),
		result: (done) => ({
			...promotionResult(operation.record),
			pauseMs:
				isPauseKnown && operation.record.version !== null
					? lengthOf(pauseIn(done))
					: null,
			agreement,
		}),
		async [Symbol.asyncDispose]() {
			await old[Symbol.asyncDispose]();
			await next[Symbol.asyncDispose]();
		},
	};
}

/** Undoes: they make the replica follow the old primary again. Nobody has written to the replica, because no topology named it as a primary. */
export function undoesTakingWrites({
	old,
	next,
}: Promotion): NonNullable<Step["undoes"]> {
	return [
		async () => {
			await next.refence();
			return null;
		},
		async () => {
			if ((await next.replica()) === null) await next.follow(old);
			else await next.startFollowing();
			return null;
		},
	];
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

/** Throws CONFLICT if another publication has changed who the two hosts are. */
function stillNamed(topology: Topology, hosts: PromotionHosts): PromotionHosts {
	const found = findPromotion(topology, hosts.from);
	const { from, to } = found;
	if (to === hosts.to) return found;
	throw new CorkboardError(
		"CONFLICT",
		`Version ${topology.version}, which somebody else has published, names another replica of ${from} than ${hosts.to}: ${to}.`,
	);
}

/** The steps while the old primary took no writes. */
function pauseIn(done: readonly DoneStep[]): readonly DoneStep[] {
	const first = done.findIndex(({ name }) => name === "fenced");
	const last = done.findIndex(({ name }) => name === "published");
	return first === -1 ? [] : done.slice(first, last + 1);
}

function lengthOf(pause: readonly DoneStep[]): number {
	const [first] = pause;
	const last = pause.at(-1);
	return first === undefined || last === undefined
		? 0
		: last.ended - first.began;
}

/** `no writes for 31 ms: fenced 4 ms, …` */
function describePause(done: readonly DoneStep[]): string {
	const pause = pauseIn(done);
	const steps = pause.map(({ name, began, ended }, nth) => {
		const since = pause[nth - 1]?.ended ?? began;
		return `${name} ${Math.round(ended - since)} ms`;
	});
	return `no writes for ${Math.round(lengthOf(pause))} ms: ${steps.join(", ")}`;
}

/** What is known of one from its record alone. */
export function promotionResult(record: OperationRecord): PromotionResult {
	const { id, kind, from, to, version, step, loss } = record;
	return {
		operation: id,
		from,
		to,
		version,
		pauseMs: null,
		agreement: null,
		isFollowing: kind === "promote" && step === "done",
		...(kind !== "promote" && { loss }),
	};
}
