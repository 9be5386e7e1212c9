import { CorkboardError } from "../../errors.ts";
import { type Agreement, agreed } from "../map/barrier.ts";
import { withReplica } from "../map/edits.ts";
import { existing, publish, requireCurrent } from "../map/publish.ts";
import {
	findReplica,
	primaryUrlOf,
	type ReplicaHosts,
	withHost,
} from "../map/replicaHosts.ts";
import { grantFaults, NEEDED_GRANTS } from "../preflight/operatorGrants.ts";
import { FleetServer } from "../server/fleetServer.ts";
import {
	type ReplicaOptions,
	type ReplicaResult,
	replicaResult,
} from "./addReplica.ts";
import type { Operation } from "./operations.ts";
import { publishMap } from "./publishMap.ts";
import { beginSteps, type OperationPlan } from "./steps.ts";

/** How long a server that may be dead is asked. Milliseconds. */
const ANSWER_MS = 10_000;
const AGREE_MS = 30_000;

/** The hosts, whether the replica answers, and what speaks against it. Throws BAD_TOPOLOGY if the map names no such replica. */
export async function checkRemoveReplica(
	{ store, environment }: Pick<ReplicaOptions, "store" | "environment">,
	host: string,
): Promise<{
	readonly hosts: ReplicaHosts;
	readonly silence: string | null;
	/** A sentence for each thing that speaks against it. */
	readonly faults: readonly string[];
}> {
	const { topology } = await requireCurrent(store);
	const hosts = findReplica(topology, host);
	await publish(store, {
		edit: existing((now) => withReplica(now, hosts.primary, null)),
		why: "",
		isDryRun: true,
	});
	await using server = new FleetServer(hosts.replicaUrl, environment);
	const silence = await server.silence(ANSWER_MS);
	const faults =
		silence === null
			? await grantFaults(server, NEEDED_GRANTS["replica remove"])
			: [];
	return { hosts, silence, faults };
}

/**
 * Takes a replica out of the topology, waits until no process reads from it, and
 * then stops its replication, if it answers. Its data stays, and it refuses
 * writes. The order matters: no process may read from a replica that has stopped.
 */
export async function removeReplica(
	options: ReplicaOptions,
	host: string,
): Promise<ReplicaResult> {
	const { hosts, faults } = await checkRemoveReplica(options, host);
	return beginSteps(
		options,
		{ kind: "replica remove", from: hosts.primary, to: hosts.replica },
		faults,
		(operation) => removeReplicaPlan(options, operation),
	);
}

export function removeReplicaPlan(
	options: ReplicaOptions,
	operation: Operation,
): OperationPlan<ReplicaResult> {
	const { store, environment, agreeMs = AGREE_MS } = options;
	const { id, from, to } = operation.record;
	let agreement: Agreement | null = null;
	/** Why it was not stopped; null: it was. */
	let silence: string | null = null;
	return {
		operation,
		undoesFailures: false,
		steps: [
			{
				name: "published",
				during: ["locked"],
				changesServers: false,
				async does() {
					await publishMap(
						store,
						operation,
						`${to} is no replica of ${from} any more`,
						(current) => {
							const found = findReplica(current, to);
							if (found.primary === from) {
								return withReplica(current, from, null);
							}
							throw new CorkboardError(
								"CONFLICT",
								`Version ${current.version}, which somebody else has published, names ${to} as the replica of ${found.primary}.`,
							);
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
					const { version } = operation.record;
					agreement = await agreed(store, version as number, agreeMs);
					if (agreement.missing.length === 0) return undefined;
					throw new CorkboardError(
						"UNAVAILABLE",
						`${agreement.missing.map((member) => member.id).join(", ")} may still read from ${to}, which keeps replicating.`,
					);
				},
			},
			{
				name: "stopped",
				during: ["published"],
				changesServers: true,
				async does() {
					const { topology } = await requireCurrent(store);
					const primaryUrl = primaryUrlOf(topology, from);
					if (primaryUrl === null) {
						throw new CorkboardError(
							"CONFLICT",
							`Version ${topology.version} does not name ${from} any more.`,
						);
					}
					await using server = new FleetServer(
						withHost(primaryUrl, to),
						environment,
					);
					silence = await server.silence(ANSWER_MS);
					if (silence !== null) return "skipped";
					await server.fence();
					await server.stopFollowing();
					return undefined;
				},
			},
		],
		say: async (what) => options.onStep?.(what, id),
		describeDone: () =>
			silence === null
				? `${to} follows no server; its data is left`
				: `${to} was not stopped, as it does not answer: ${silence}`,
		describeUndone: () => `${to} stays a replica`,
		result: () => replicaResult(operation.record, agreement),
		[Symbol.asyncDispose]: async () => {},
	};
}
