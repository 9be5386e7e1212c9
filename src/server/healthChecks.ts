import { CACHE_CHANNELS } from "../cache/diagnostics.ts";
import { cacheHosts } from "../cache/serverList.ts";
import type { Config } from "../config/config.ts";
import { listen } from "../diagnostics.ts";
import type { CorkboardError } from "../errors.ts";
import { packId } from "../id/ids.ts";
import type { Model } from "../model/types.ts";
import { modShard } from "../storage/modShard.ts";
import type { Storage } from "../storage/storage.ts";
import type { Topology } from "../topology/types.ts";
import { deadlineIn, withDeadline } from "../util/deadline.ts";
import { reasonOf } from "../util/reasonOf.ts";
import type {
	CacheHealth,
	HealthChecks,
	HostHealth,
	TopologyStoreHealth,
} from "./http/health.ts";

/** What a host gets to answer. Milliseconds. */
const PROBE_MS = 5_000;

/** Shards and mod shards of one host. */
interface HostShards {
	readonly host: string;
	readonly shards: readonly number[];
	readonly modShards: readonly number[];
}

/**
 * Health of a process with this storage. A host is up when it answers one read
 * of a table. Caches need no probe: no call waits for them longer than their
 * deadline, so they never delay readiness, and their last state is known.
 */
export function createHealthChecks(corkboard: {
	readonly config: Pick<Config, "memcached" | "redis" | "store">;
	readonly model: Model;
	readonly storage: Storage;
	readonly topology: Topology;
	readonly topologyProblem: CorkboardError | null;
}): HealthChecks & Disposable {
	const { config, model, storage } = corkboard;
	/** By name, those whose state has changed. */
	const known = new Map<string, CacheHealth>();
	const listening = listen(
		CACHE_CHANNELS.cacheHost,
		({ layer, host, state, error }) => {
			known.set(nameOf({ layer, host }), {
				layer,
				host,
				...errorOf(error),
				state: state === "up" ? "up" : "down",
			});
		},
	);
	const caches = () =>
		cacheHosts(corkboard.topology.caches, config).map(
			({ layer, server: { name: host } }): CacheHealth =>
				known.get(nameOf({ layer, host })) ?? { layer, host, state: "up" },
		);

	async function probe(hosts: HostShards): Promise<HostHealth> {
		const { host, shards, modShards } = hosts;
		const known = { host, shards: shards.length, modShards: modShards.length };
		try {
			await withDeadline(readFrom(storage, model, hosts), deadlineIn(PROBE_MS));
			return { ...known, state: "up" };
		} catch (error) {
			return { ...known, state: "down", ...errorOf(error) };
		}
	}

	return {
		async isReady() {
			const probes = hostsOf(storage)
				.filter(({ shards }) => shards.length > 0)
				.map(async (host) => {
					const { state } = await probe(host);
					if (state === "down") throw new Error("down");
				});
			return Promise.any(probes).then(
				() => true,
				() => false,
			);
		},
		async report() {
			return {
				topologyVersion: corkboard.topology.version,
				topologyStore: storeHealth(config.store, corkboard.topologyProblem),
				hosts: await Promise.all(hostsOf(storage).map(probe)),
				caches: caches(),
			};
		},
		[Symbol.dispose]: () => listening[Symbol.dispose](),
	};
}

/** Needs no probe: a lost store has been noticed. */
function storeHealth(
	store: Config["store"],
	problem: CorkboardError | null,
): TopologyStoreHealth | null {
	if (store.kind === "embedded") return null;
	const { name } = store;
	if (problem === null) return { name, state: "up" };
	const isLost = problem.code === "UNAVAILABLE";
	return {
		name,
		state: isLost ? "down" : "rejected",
		error: problem.message,
	};
}

function hostsOf(storage: Storage): readonly HostShards[] {
	const hosts = new Map<string, { shards: number[]; modShards: number[] }>();
	const at = (host: string | null) => {
		const name = host ?? "none";
		const known = hosts.get(name) ?? { shards: [], modShards: [] };
		hosts.set(name, known);
		return known;
	};
	for (const shard of storage.map.shards)
		at(storage.map.hostOf(shard)).shards.push(shard);
	for (let shard = 0; shard < storage.map.modShards; shard++) {
		at(storage.map.hostOfModShard(shard)).modShards.push(shard);
	}
	return [...hosts].map(([host, known]) => ({ host, ...known }));
}

/** Reads one row that may or may not exist. Throws if the host does not answer. */
async function readFrom(
	storage: Storage,
	model: Model,
	{ shards: [shard], modShards: [first] }: HostShards,
): Promise<void> {
	const [type] = model.objects.values();
	const [lookup] = model.lookups.keys();
	const [row] =
		shard !== undefined && type !== undefined
			? await storage.read("objects", [
					packId({ shard, type: type.number, local: 1 }),
				])
			: await storage.read("lookups", [
					{ name: lookup ?? "", key: keyOn(first ?? 0, storage.map.modShards) },
				]);
	if (row instanceof Error) throw row;
}

/** A key of this mod shard. */
function keyOn(shard: number, modShards: number): string {
	let n = 0;
	while (modShard(`health ${n}`, modShards) !== shard) n++;
	return `health ${n}`;
}

function nameOf({ layer, host }: { layer: string; host: string }): string {
	return `${layer} ${host}`;
}

function errorOf(error: unknown): { readonly error?: string } {
	return error === null || error === undefined
		? {}
		: { error: reasonOf(error) };
}
