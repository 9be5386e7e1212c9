import { reservePort } from "../../test/services/port.ts";
import type { Progress } from "../progress.ts";
import { moveToOtherCores } from "../servers/cores.ts";
import { type CorkboardFiles, startCorkboard } from "../servers/corkboard.ts";
import type { ServerProcess } from "../servers/serverProcess.ts";
import type { World } from "../world.ts";
import type { Clients, OpenResult } from "./messages.ts";
import { type Mix, requestsOf, type Viewer } from "./mix.ts";
import { type Probed, Probes } from "./probes.ts";
import { line, type Summary } from "./report.ts";
import { sendOpenLoad } from "./sendOpenLoad.ts";

export const CONNECTIONS = 1_000;
export const PATIENCE_MS = 5_000;
/** Above it a sender's own delay is said beside its results. */
const LATE_MS = 10;
/** Connections of a closed loop. */
export const CLOSED = 48;
/** A process that was just started carries less: V8 compiles, and caches fill. `restart` measures that. */
const WARM_SECONDS = 15;
/** Requests that are spelled; then the same come again. */
export const MOST_REQUESTS = 30_000;

export type Running = ServerProcess & { readonly admin: string };

export interface Overload {
	readonly world: World;
	readonly viewers: readonly Viewer[];
	readonly mix: Mix;
	readonly seconds: number;
	readonly seed: number;
	readonly env: Readonly<Record<string, string>>;
	readonly progress: Progress;
	readonly results: Record<string, unknown>;
	/** That `carried` is of. */
	readonly server: Running;
	/** What it carries, as it was measured first. Requests a second. */
	readonly carried: number;
}

/** A server in production mode, with the settings that it has by default. */
export async function startServer(
	{
		world,
		env,
		seed,
		mix,
		viewers,
		seconds,
	}: Omit<Overload, "server" | "carried">,
	{
		isWarm = true,
		files = world.files,
	}: { readonly isWarm?: boolean; readonly files?: CorkboardFiles } = {},
): Promise<Running> {
	await using reserved = await reservePort();
	const admin = `127.0.0.1:${reserved.port}`;
	const server = await startCorkboard("layered", files, {
		env: {
			CORKBOARD_MAX_REQUESTS_IN_PROGRESS: "500",
			CORKBOARD_ADMIN: admin,
			...env,
		},
	});
	if (isWarm) {
		const requests = requestsOf(world, {
			viewers,
			mix,
			count: MOST_REQUESTS,
			seed: seed + 100,
		});
		await load(server, [
			clients("warm", {
				connections: CLOSED,
				requests,
				phases: [{ seconds: Math.max(seconds, WARM_SECONDS), rate: null }],
			}),
		]);
	}
	return { ...server, admin };
}

export function clients(
	name: string,
	given: Pick<Clients, "phases" | "requests"> & Partial<Clients>,
): Clients {
	return {
		name,
		address: "127.0.0.1",
		connections: CONNECTIONS,
		seed: 7,
		...given,
	};
}

export function load(
	{ port }: { readonly port: number },
	all: readonly Clients[],
): Promise<readonly OpenResult[]> {
	return sendOpenLoad(
		{ port, patienceMs: PATIENCE_MS, clients: all },
		moveToOtherCores,
	);
}

/** Signed-in viewers at these rates, and probes beside them. */
export async function offer(
	overload: Overload,
	server: Running,
	phases: Clients["phases"],
	seed: number,
): Promise<{
	readonly results: readonly OpenResult[];
	readonly probed: readonly Probed[];
}> {
	const { world, viewers, mix } = overload;
	const requests = requestsOf(world, {
		viewers,
		mix,
		count: MOST_REQUESTS,
		seed,
	});
	const url = `http://127.0.0.1:${server.port}`;
	const admin = `http://${server.admin}`;
	const probes = new Probes({
		"/health/live": `${url}/health/live`,
		"admin /health/live": `${admin}/health/live`,
		"admin /health/ready": `${admin}/health/ready`,
		"admin /metrics": `${admin}/metrics`,
	});
	const results = await load(server, [
		clients("viewers", { requests, phases }),
	]);
	const late = Math.max(...results.map(({ lateMs }) => lateMs));
	if (late > LATE_MS) {
		console.log(`  the sender itself was ${late.toFixed(0)} ms late (p99)`);
	}
	return { results, probed: await probes.stop() };
}

export function show(
	overload: Pick<Overload, "results">,
	name: string,
	summary: Summary,
): void {
	overload.results[name] = summary;
	console.log(line(name, summary));
	if (summary.firstError !== null && summary.counts.failed > 0) {
		console.log(`  ${summary.firstError.slice(0, 200)}`);
	}
}

export function showProbes(
	overload: Overload,
	name: string,
	probed: readonly Probed[],
): void {
	overload.results[`${name} probes`] = probed;
	console.log(
		`  ${probed.map(({ name, asked, bad, ms }) => `${name} ${ms.toFixed(0)} ms at most${bad > 0 ? `, ${bad} of ${asked} bad` : ""}`).join("; ")}`,
	);
}
