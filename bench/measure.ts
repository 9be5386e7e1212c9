import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Cell } from "./cell.ts";
import type { LoadResult } from "./load/messages.ts";
import { PEERS } from "./servers/peers.ts";
import {
	cpuMs,
	cpuMsOfAll,
	cpuMsWithChildren,
	residentMb,
	stolenSeconds,
} from "./usage.ts";
import { VARIANTS, type VariantName } from "./variants.ts";
import type { World } from "./world.ts";

/** After the last response a server may still collect garbage or write its log. */
const QUIET_LIMIT_MS = 600;
const LOOK_MS = 25;

export interface Measurement {
	readonly section: string;
	readonly round: number;
	readonly variant: VariantName;
	readonly question: string;
	/** Names the requests: the load process keeps them. */
	readonly set: string;
	readonly requests: readonly string[];
	readonly order: Uint32Array;
	readonly from: number;
	readonly connections: number;
	readonly seconds: number;
	readonly most?: number;
}

export interface MeasuredLoad extends LoadResult {
	readonly figures?: Cell["figures"];
}

/** Loads one server, and reads from the system what that took. */
export function measure(world: World, measurement: Measurement): Promise<Cell> {
	return measureLoad(world, measurement, (port) =>
		sendLoad(world, port, measurement),
	);
}

/** Whatever the load is. */
export async function measureLoad(
	world: World,
	{
		section,
		round,
		variant,
		question,
		connections,
	}: Pick<
		Measurement,
		"section" | "round" | "variant" | "question" | "connections"
	>,
	send: (port: number) => Promise<MeasuredLoad>,
): Promise<Cell> {
	const server = await world.serverOf(variant);
	const before = snapshot(world, variant, server.pid);
	const load = await send(server.port);
	await untilQuiet(server.pid);
	const after = snapshot(world, variant, server.pid);
	const per = (name: keyof Snapshot) =>
		(after[name] - before[name]) / Math.max(1, load.requests);
	return {
		section,
		round,
		variant,
		question,
		connections,
		requests: load.requests,
		errors: load.errors,
		...(load.firstError !== null && { firstError: load.firstError }),
		seconds: load.seconds,
		cpuMs: per("server"),
		databaseMs: per("databases"),
		cacheMs: per("caches"),
		busy: (after.server - before.server) / (load.seconds * 1_000),
		p50: load.p50,
		p99: load.p99,
		most: load.most,
		bytes: load.bytes / Math.max(1, load.requests),
		residentMb: residentMb(server.pid),
		stolen:
			(after.stolen - before.stolen) /
			((after.at - before.at) / 1_000) /
			availableParallelism(),
		...(load.figures && { figures: load.figures }),
	};
}

export function sendLoad(
	world: World,
	port: number,
	measurement: Omit<Measurement, "section" | "round" | "question" | "variant">,
): Promise<LoadResult> {
	const { set, requests, order, from, connections, seconds, most } =
		measurement;
	return world.loader.send({
		port,
		set,
		requests,
		order,
		from,
		connections,
		ms: seconds * 1_000,
		most: most ?? Number.POSITIVE_INFINITY,
	});
}

export interface Snapshot {
	readonly server: number;
	readonly databases: number;
	readonly caches: number;
	readonly stolen: number;
	readonly at: number;
}

/** The CPU time of the server, and of the databases and caches that it uses. */
export function snapshot(
	{ databases }: World,
	variant: VariantName,
	pid: number,
): Snapshot {
	const { fleet, mysql, postgres } = databases;
	const { server } = VARIANTS[variant];
	const [own, caches] =
		server.kind === "corkboard"
			? [fleet?.mysql ?? null, fleet]
			: [PEERS[server.peer].database === "mysql" ? mysql : null, null];
	const isPostgres =
		server.kind === "peer" && PEERS[server.peer].database === "postgres";
	return {
		server: cpuMs(pid),
		databases:
			(own === null ? 0 : cpuMsOfAll(own.pid)) +
			(isPostgres && postgres !== null ? cpuMsWithChildren(postgres.pid) : 0),
		caches:
			caches === null
				? 0
				: cpuMsOfAll(caches.memcached.pid) + cpuMsOfAll(caches.redis.pid),
		stolen: stolenSeconds(),
		at: performance.now(),
	};
}

async function untilQuiet(pid: number): Promise<void> {
	const deadline = performance.now() + QUIET_LIMIT_MS;
	let last = cpuMs(pid);
	while (performance.now() < deadline) {
		await sleep(LOOK_MS);
		const now = cpuMs(pid);
		if (now - last < 1) return;
		last = now;
	}
}
