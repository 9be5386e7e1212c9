import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import type { Agreement } from "../map/barrier.ts";
import { withReplica } from "../map/edits.ts";
import { existing, publish, requireCurrent } from "../map/publish.ts";
import {
	findNewReplica,
	namesReplica,
	type ReplicaHosts,
} from "../map/replicaHosts.ts";
import { type ClonePlan, clonePreflight } from "../preflight/clonePreflight.ts";
import { FleetServer } from "../server/fleetServer.ts";
import { type CloneOptions, cloneServer, stopClone } from "./cloneServer.ts";
import type { OperationRecord } from "./operationRecord.ts";
import type { Operation } from "./operations.ts";
import type { PromoteOptions } from "./promotion.ts";
import { publishMap, untilServed } from "./publishMap.ts";
import { beginSteps, type OperationPlan, type Step } from "./steps.ts";

/**
 * Gives a primary a replica (docs/how-to/replicas.md): MySQL's clone plugin copies the
 * primary into an empty server while both work, then that server follows by GTID,
 * and once it has caught up the topology names it. Nothing takes writes away from
 * anybody at any time. What the server holds and does is looked at, not remembered,
 * so a process that resumes continues from there.
 */
export interface ReplicaOptions
	extends Omit<CloneOptions, "onEnded">,
		Pick<PromoteOptions, "store" | "agreeMs" | "onStep"> {}

export interface ReplicaResult {
	readonly operation: string;
	readonly kind: "replica add" | "replica remove";
	/** Names, `host:port`. */
	readonly primary: string;
	readonly replica: string;
	/** The version that was published; null: nothing was. */
	readonly version: number | null;
	readonly agreement: Agreement | null;
}

const FOLLOWING = "following";
const AGREE_MS = 30_000;
const LOOK_MS = 250;
/** A receiver that cannot connect may be at it for the first time. */
const CONNECT_MS = 30_000;

/** What `replicas add` would do, and everything against it. Changes nothing. */
export async function checkAddReplica(
	{ store, environment }: Pick<ReplicaOptions, "store" | "environment">,
	given: { readonly host: string; readonly of: string },
): Promise<ClonePlan & { readonly hosts: ReplicaHosts }> {
	const { topology } = await requireCurrent(store);
	const hosts = findNewReplica(topology, given);
	if (namesReplica(topology, hosts.replica)) {
		throw new CorkboardError(
			"BAD_TOPOLOGY",
			`${hosts.replica} is the replica of ${hosts.primary} already. To build it anew: corkboard replicas remove ${hosts.replica}, and give it an empty data folder.`,
		);
	}
	await publish(store, {
		edit: existing((now) => withReplica(now, hosts.primary, hosts.replicaUrl)),
		why: "",
		isDryRun: true,
	});
	await using source = new FleetServer(hosts.primaryUrl, environment);
	await using target = new FleetServer(hosts.replicaUrl, environment);
	return { hosts, ...(await clonePreflight(source, target)) };
}

/** Throws CONFLICT with every fault of the preflight; nothing has changed then. */
export async function addReplica(
	options: ReplicaOptions,
	given: { readonly host: string; readonly of: string },
): Promise<ReplicaResult> {
	const { hosts, faults } = await checkAddReplica(options, given);
	return beginSteps(
		options,
		{ kind: "replica add", from: hosts.primary, to: hosts.replica },
		faults,
		(operation) => addReplicaPlan(options, operation),
	);
}

export async function addReplicaPlan(
	options: ReplicaOptions,
	operation: Operation,
): Promise<OperationPlan<ReplicaResult>> {
	const { store, environment, signal, agreeMs = AGREE_MS } = options;
	const { id, from, to } = operation.record;
	const { topology } = await requireCurrent(store);
	const hosts = findNewReplica(topology, { host: to, of: from });
	const source = new FleetServer(hosts.primaryUrl, environment);
	const target = new FleetServer(hosts.replicaUrl, environment);
	const say = async (what: string) => options.onStep?.(what, id);
	let agreement: Agreement | null = null;
	return {
		operation,
		undoesFailures: false,
		steps: [
			{
				name: "cloning",
				during: ["locked", "cloning"],
				changesServers: false,
				async does() {
					if (operation.record.step === "locked") {
						await operation.save({ step: "cloning" }, `${to} copies ${from}`);
					}
					return undefined;
				},
			},
			{
				name: "cloned",
				during: ["cloning"],
				changesServers: true,
				async does() {
					await clone(options, hosts, say);
					return undefined;
				},
				undoes: [unlessStopped(() => stopClone(target))],
			},
			{
				name: FOLLOWING,
				during: ["cloning", FOLLOWING],
				changesServers: true,
				async does() {
					if (operation.record.step === "cloning") {
						const line = `${to} holds a copy of ${from}`;
						await operation.save({ step: FOLLOWING }, line);
					}
					if (!(await follows(target, source))) await target.follow(source);
					return undefined;
				},
				undoes: [unlessStopped(() => target.stopFollowing())],
			},
			{
				name: "caught up",
				during: [FOLLOWING],
				changesServers: false,
				async does() {
					await untilCaughtUp(source, target, signal);
					return undefined;
				},
			},
			{
				name: "published",
				during: [FOLLOWING],
				changesServers: false,
				async does() {
					await publishMap(
						store,
						operation,
						`${to} is a replica of ${from}`,
						(current) => {
							const found = findNewReplica(current, { host: to, of: from });
							return withReplica(current, from, found.replicaUrl);
						},
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
		say,
		describeDone: () => `${to} is a replica of ${from}`,
		// The server is left to itself, and refuses writes.
		describeUndone: (left) =>
			`${to} is no replica of ${from}; ${left.join("; ") || "it holds what was copied"}. Give it an empty data folder before the next try.`,
		result: () => replicaResult(operation.record, agreement),
		async [Symbol.asyncDispose]() {
			await source[Symbol.asyncDispose]();
			await target[Symbol.asyncDispose]();
		},
	};
}

async function clone(
	{ environment, rate, restartMs, signal, onProgress }: ReplicaOptions,
	hosts: ReplicaHosts,
	say: (what: string) => Promise<void>,
): Promise<void> {
	let isCopying = false;
	await cloneServer(hosts, {
		environment,
		...(rate !== undefined && { rate }),
		...(restartMs !== undefined && { restartMs }),
		...(signal && { signal }),
		onProgress(progress) {
			if (!isCopying && progress.of > 0) {
				isCopying = true;
				void say("copying");
			}
			onProgress?.(progress);
		},
		onEnded: () =>
			void say(`${hosts.replica} has shut down and has to be started again`),
	});
}

/** An undo that may fail: a server that does not answer is left to itself. */
function unlessStopped(
	stop: () => Promise<void>,
): NonNullable<Step["undoes"]>[number] {
	return async () => {
		try {
			await stop();
			return null;
		} catch (thrown) {
			if (!(thrown instanceof CorkboardError)) throw thrown;
			return `it was not stopped: ${thrown.message}`;
		}
	};
}

/** Whether it follows that server, in whatever state. */
async function follows(
	target: FleetServer,
	source: FleetServer,
): Promise<boolean> {
	const state = await target.replica();
	if (state === null) return false;
	const [uuid] = await source.row("uuid", "SELECT @@server_uuid");
	return state.sourceUuid === String(uuid) && state.isApplying;
}

/** Until it has everything that the source has at one moment. Throws CONFLICT if it does not get there by itself. */
async function untilCaughtUp(
	source: FleetServer,
	target: FleetServer,
	signal: AbortSignal | undefined,
): Promise<void> {
	let connected = performance.now();
	for (;;) {
		if (signal?.aborted) {
			throw new CorkboardError(
				"UNAVAILABLE",
				`Interrupted. ${target.name} keeps following ${source.name}.`,
			);
		}
		const state = await target.replica();
		if (state?.isReceiving) connected = performance.now();
		const isStopped = state === null || !state.isApplying;
		if (isStopped || performance.now() - connected > CONNECT_MS) {
			throw new CorkboardError(
				"CONFLICT",
				`${target.name} does not follow ${source.name}${state?.error ? `: ${state.error}` : "."}`,
			);
		}
		if (state.isReceiving && (await target.has(await source.executed(), 1_000)))
			return;
		await sleep(LOOK_MS);
	}
}

/** What is known of one from its record alone. */
export function replicaResult(
	{ id, kind, from, to, version }: OperationRecord,
	agreement: Agreement | null = null,
): ReplicaResult {
	return {
		operation: id,
		kind: kind as ReplicaResult["kind"],
		primary: from,
		replica: to,
		version,
		agreement,
	};
}
