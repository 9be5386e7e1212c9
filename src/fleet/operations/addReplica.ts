import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import { type Agreement, agreed } from "../map/barrier.ts";
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
import { type Operation, runOperation } from "./operations.ts";
import type { PromoteOptions } from "./promotion.ts";
import { publishMap } from "./publishMap.ts";

/**
 * Gives a primary a replica (docs/how-to/replicas.md): MySQL's clone plugin copies the
 * primary into an empty server while both work, then that server follows by GTID,
 * and once it has caught up the topology names it. Nothing takes writes away from
 * anybody at any time. What the server holds and does is looked at, not remembered,
 * so whoever goes on does so from where it is.
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
		...{ why: "", isDryRun: true },
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
	return runOperation(
		options,
		{ kind: "replica add", from: hosts.primary, to: hosts.replica },
		faults,
		(operation) => proceedAdd(options, operation),
	);
}

/** Goes on from where the record and the server are. */
export async function proceedAdd(
	options: ReplicaOptions,
	operation: Operation,
): Promise<ReplicaResult> {
	const { store, environment, signal, onProgress } = options;
	const { id, from, to } = operation.record;
	const onStep = async (what: string) => options.onStep?.(what, id);
	const { topology } = await requireCurrent(store);
	const hosts = findNewReplica(topology, { host: to, of: from });
	const is = (step: string) => operation.record.step === step;
	if (is("locked") || is("cloning")) {
		if (is("locked")) {
			await operation.save({ step: "cloning" }, `${to} copies ${from}`);
		}
		await onStep("cloning");
		await operation.requireHeld();
		let isCopying = false;
		await cloneServer(hosts, {
			environment,
			...(options.rate !== undefined && { rate: options.rate }),
			...(options.restartMs !== undefined && { restartMs: options.restartMs }),
			...(signal && { signal }),
			onProgress(progress) {
				if (!isCopying && progress.of > 0) {
					isCopying = true;
					void onStep("copying");
				}
				onProgress?.(progress);
			},
			onEnded: () =>
				void onStep(`${to} has shut down and has to be started again`),
		});
		await onStep("cloned");
		await operation.save(
			{ step: "following" },
			`${to} holds a copy of ${from}`,
		);
	}
	await using source = new FleetServer(hosts.primaryUrl, environment);
	await using target = new FleetServer(hosts.replicaUrl, environment);
	if (is("following")) {
		await operation.requireHeld();
		if (!(await follows(target, source))) await target.follow(source);
		await onStep("following");
		await untilCaughtUp(source, target, signal);
		await onStep("caught up");
		await operation.requireHeld();
		await publishMap(
			store,
			operation,
			`${to} is a replica of ${from}`,
			(current) => {
				const found = findNewReplica(current, { host: to, of: from });
				return withReplica(current, from, found.replicaUrl);
			},
		);
		await onStep("published");
	}
	const { version } = operation.record;
	const agreement = await agreed(
		store,
		version as number,
		options.agreeMs ?? AGREE_MS,
		// Nobody is harmed who does not read from it yet.
		{ byTimeMs: 0 },
	);
	await onStep("agreed");
	await operation.end("done", `${to} is a replica of ${from}`);
	return replicaResult(operation.record, agreement);
}

/** Undoes one that has not published: the server is left to itself, and refuses writes. */
export async function abortAdd(
	options: ReplicaOptions,
	operation: Operation,
): Promise<ReplicaResult> {
	const { store, environment } = options;
	const { from, to } = operation.record;
	const { topology } = await requireCurrent(store);
	const hosts = findNewReplica(topology, { host: to, of: from });
	await using target = new FleetServer(hosts.replicaUrl, environment);
	let left = "it holds what was copied";
	try {
		await stopClone(target);
		await target.stopFollowing();
	} catch (thrown) {
		if (!(thrown instanceof CorkboardError)) throw thrown;
		left = `it was not stopped: ${thrown.message}`;
	}
	await operation.end(
		"rolled back",
		`${to} is no replica of ${from}; ${left}. Give it an empty data folder before the next try.`,
	);
	return replicaResult(operation.record);
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

/** Until it has everything that the source has at one moment. Throws CONFLICT where it does not get there by itself. */
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
				`Interrupted. ${target.name} goes on following ${source.name}.`,
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
