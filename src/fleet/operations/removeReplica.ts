import { CorkboardError } from "../../errors.ts";
import type { Environment } from "../../topology/secret.ts";
import { agreed } from "../map/barrier.ts";
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
import { type Operation, runOperation } from "./operations.ts";
import { publishMap } from "./publishMap.ts";

/** How long a server that may be dead is asked. Milliseconds. */
const ANSWER_MS = 10_000;
const AGREE_MS = 30_000;

/** The hosts, whether the replica answers, and what speaks against it. Throws BAD_TOPOLOGY where the map names no such replica. */
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
		...{ why: "", isDryRun: true },
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
 * then stops its replication, where it answers. Its data stays, and it refuses
 * writes. The order matters: who still reads from it must not read what has stopped.
 */
export async function removeReplica(
	options: ReplicaOptions,
	host: string,
): Promise<ReplicaResult> {
	const { hosts, faults } = await checkRemoveReplica(options, host);
	return runOperation(
		options,
		{ kind: "replica remove", from: hosts.primary, to: hosts.replica },
		faults,
		(operation) => proceedRemove(options, operation),
	);
}

/** Goes on from where the record is. */
export async function proceedRemove(
	options: ReplicaOptions,
	operation: Operation,
): Promise<ReplicaResult> {
	const { store, environment } = options;
	const { id, from, to, step } = operation.record;
	const onStep = async (what: string) => options.onStep?.(what, id);
	if (step === "locked") {
		await publishMap(
			store,
			operation,
			`${to} is no replica of ${from} any more`,
			(current) => {
				const found = findReplica(current, to);
				if (found.primary === from) return withReplica(current, from, null);
				throw new CorkboardError(
					"CONFLICT",
					`Version ${current.version}, which somebody else has published, names ${to} as the replica of ${found.primary}.`,
				);
			},
		);
		await onStep("published");
	}
	const { version } = operation.record;
	const agreement = await agreed(
		store,
		version as number,
		options.agreeMs ?? AGREE_MS,
	);
	if (agreement.missing.length > 0) {
		throw new CorkboardError(
			"UNAVAILABLE",
			`${agreement.missing.map((member) => member.id).join(", ")} may still read from ${to}, which goes on replicating.`,
		);
	}
	await onStep("agreed");
	await operation.requireHeld();
	const { topology } = await requireCurrent(store);
	const primaryUrl = primaryUrlOf(topology, from);
	if (primaryUrl === null) {
		throw new CorkboardError(
			"CONFLICT",
			`Version ${topology.version} does not name ${from} any more.`,
		);
	}
	const replicaUrl = withHost(primaryUrl, to);
	const silence = await silenceOf(replicaUrl, environment);
	if (silence === null) {
		await using target = new FleetServer(replicaUrl, environment);
		await target.fence();
		await target.stopFollowing();
		await onStep("stopped");
	}
	await operation.end(
		"done",
		silence === null
			? `${to} follows no server; its data is left`
			: `${to} was not stopped, as it does not answer: ${silence}`,
	);
	return replicaResult(operation.record, agreement);
}

async function silenceOf(
	url: string,
	environment: Environment,
): Promise<string | null> {
	await using server = new FleetServer(url, environment);
	return await server.silence(ANSWER_MS);
}
