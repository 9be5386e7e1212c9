import { reservePort } from "../../test/services/port.ts";
import { fleetOf } from "../databases.ts";
import type { Progress } from "../progress.ts";
import { moveToOtherCores } from "../servers/cores.ts";
import { startCorkboard } from "../servers/corkboard.ts";
import type { ServerProcess } from "../servers/serverProcess.ts";
import { cpuMs, residentMb } from "../usage.ts";
import type { World } from "../world.ts";
import type { Clients, OpenResult } from "./messages.ts";
import { type Mix, requestsOf, type Viewer } from "./mix.ts";
import { type Probed, Probes } from "./probes.ts";
import { line, recovery, type Summary, summarize } from "./report.ts";
import { sendOpenLoad } from "./sendOpenLoad.ts";

export const PARTS = [
	"load",
	"spike",
	"dead",
	"flood",
	"restart",
	"redis",
	"limp",
] as const;
export type Part = (typeof PARTS)[number];
export const HOSTS = 4;
export const CONNECTIONS = 1_000;
export const PATIENCE_MS = 5_000;
export const LIGHT = 50;
/** Requests that are spelled; then the same come again. */
const MOST_REQUESTS = 30_000;

export interface Overload {
	readonly world: World;
	readonly viewers: readonly Viewer[];
	readonly mix: Mix;
	readonly seconds: number;
	readonly seed: number;
	readonly env: Readonly<Record<string, string>>;
	readonly progress: Progress;
	readonly results: Record<string, unknown>;
	/** What the server carries, as it was measured first. Requests a second. */
	carried: number;
}

/** A server in production mode, with the settings that it has by default. */
async function startServer(
	{ world, env, seed, mix, viewers, seconds }: Overload,
	{ isWarm = true }: { readonly isWarm?: boolean } = {},
): Promise<ServerProcess & { readonly admin: string }> {
	await using reserved = await reservePort();
	const admin = `127.0.0.1:${reserved.port}`;
	const server = await startCorkboard("layered", world.files, {
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
				connections: 32,
				requests,
				phases: [{ seconds, rate: null }],
			}),
		]);
	}
	return { ...server, admin };
}

function clients(
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

function load(
	{ port }: { readonly port: number },
	all: readonly Clients[],
): Promise<readonly OpenResult[]> {
	return sendOpenLoad(
		{ port, patienceMs: PATIENCE_MS, clients: all },
		moveToOtherCores,
	);
}

/** Signed-in viewers at these rates, and probes beside them. */
async function offer(
	overload: Overload,
	server: ServerProcess & { readonly admin: string },
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
	const probes = new Probes([
		`${url}/health/live`,
		`${url}/health/ready`,
		`http://${server.admin}/metrics`,
	]);
	const results = await load(server, [
		clients("viewers", { requests, phases }),
	]);
	return { results, probed: await probes.stop() };
}

function show(overload: Overload, name: string, summary: Summary): void {
	overload.results[name] = summary;
	console.log(line(name, summary));
	if (summary.firstError !== null && summary.counts.failed > 0) {
		console.log(`  ${summary.firstError.slice(0, 200)}`);
	}
}

function showProbes(
	overload: Overload,
	name: string,
	probed: readonly Probed[],
): void {
	overload.results[`${name} probes`] = probed;
	console.log(
		`  ${probed.map(({ path, asked, bad, ms }) => `${path} ${ms.toFixed(0)} ms at most${bad > 0 ? `, ${bad} of ${asked} bad` : ""}`).join("; ")}`,
	);
}

/** The best of three closed loops. */
export async function measureCarried(overload: Overload): Promise<void> {
	const { world, viewers, mix, seed, seconds } = overload;
	await using server = await startServer(overload);
	for (let round = 0; round < 3; round++) {
		const requests = requestsOf(world, {
			viewers,
			mix,
			count: MOST_REQUESTS,
			seed: seed + round,
		});
		const part = Math.max(3, seconds / 3);
		const results = await load(server, [
			clients("closed", {
				connections: 48,
				requests,
				phases: [{ seconds: part, rate: null }],
			}),
		]);
		const summary = summarize(results, 0, part);
		show(overload, `closed loop ${round + 1}`, summary);
		overload.carried = Math.max(overload.carried, summary.good);
	}
	overload.results.carried = overload.carried;
	console.log(`K = ${overload.carried.toFixed(0)}/s`);
}

async function loadPart(overload: Overload): Promise<void> {
	const { carried, seconds, seed } = overload;
	for (const [n, times] of [0.5, 1, 2, 4].entries()) {
		await using server = await startServer(overload);
		const phases = [{ seconds, rate: carried * times }];
		const { results, probed } = await offer(
			overload,
			server,
			phases,
			seed + 10 + n,
		);
		const summary = summarize(results, 0, seconds);
		show(overload, `${times} K`, summary);
		console.log(
			`  ${(summary.good / Math.min(carried, summary.offered)).toFixed(3)} of K, or of what was offered; ${residentMb(server.pid).toFixed(0)} MB`,
		);
		showProbes(overload, `${times} K`, probed);
	}
}

async function spikeAt(overload: Overload, name: string): Promise<void> {
	const { carried, seconds, seed } = overload;
	await using server = await startServer(overload);
	const base = carried * 0.6;
	const phases = [
		{ seconds, rate: base },
		{ seconds: 4, rate: carried * 3.5 },
		{ seconds: seconds * 2, rate: base },
	];
	const { results, probed } = await offer(overload, server, phases, seed + 20);
	const end = seconds + 4;
	show(overload, `${name}: before`, summarize(results, 0, seconds));
	show(overload, `${name}: during`, summarize(results, seconds, end));
	show(overload, `${name}: after`, summarize(results, end, end + seconds * 2));
	const before = summarize(results, 0, seconds);
	const share = (before.good / before.offered) * 0.95;
	const full = recovery(results, end, end + seconds * 2, share);
	overload.results[`${name}: full again after`] = full;
	console.log(
		`  as good as before ${full === null ? "never" : `after ${full} s`}`,
	);
	showProbes(overload, name, probed);
}

export const RUNS: Readonly<
	Record<Part, (overload: Overload) => Promise<void>>
> = {
	load: loadPart,
	spike: (overload) => spikeAt(overload, "spike"),

	async dead(overload) {
		const [, , , last] = fleetOf(overload.world.databases).hosts;
		if (last === undefined) throw new Error("There are too few hosts.");
		await last.kill();
		try {
			await spikeAt(overload, "spike, one host dead");
		} finally {
			await last.restart();
		}
	},

	async flood(overload) {
		const { world, viewers, carried, seconds, seed, mix } = overload;
		await using server = await startServer(overload);
		const light = viewers.slice(1, LIGHT + 1).map((viewer, n) =>
			clients(`light ${n}`, {
				address: `127.0.1.${n + 1}`,
				connections: 4,
				seed: seed + n,
				requests: requestsOf(world, {
					viewers: [viewer],
					mix,
					count: 200,
					seed: seed + 40 + n,
				}),
				phases: [{ seconds: seconds * 2, rate: 3 }],
			}),
		);
		const flooder = clients("flooder", {
			address: "127.0.2.1",
			connections: 400,
			requests: requestsOf(world, {
				viewers: viewers.slice(0, 1),
				mix,
				count: MOST_REQUESTS,
				seed: seed + 39,
			}),
			phases: [
				{ seconds, rate: 0 },
				{ seconds, rate: carried * 3.5 },
			],
		});
		const results = await load(server, [...light, flooder]);
		const ofLight = results.slice(0, -1);
		show(overload, "light clients, calm", summarize(ofLight, 1, seconds));
		show(
			overload,
			"light clients, flood",
			summarize(ofLight, seconds, seconds * 2),
		);
		show(
			overload,
			"flooder",
			summarize(results.slice(-1), seconds, seconds * 2),
		);
	},

	async restart(overload) {
		const { carried, seconds, seed } = overload;
		await using server = await startServer(overload, { isWarm: false });
		const phases = [{ seconds: seconds * 2, rate: carried * 0.9 }];
		const { results, probed } = await offer(
			overload,
			server,
			phases,
			seed + 50,
		);
		show(overload, "restart, first 5 s", summarize(results, 0, 5));
		show(overload, "restart, later", summarize(results, 5, seconds * 2));
		const full = recovery(results, 0, seconds * 2, 0.95);
		overload.results["restart: full after"] = full;
		console.log(`  full ${full === null ? "never" : `after ${full} s`}`);
		showProbes(overload, "restart", probed);
	},

	async redis(overload) {
		const { world, carried, seconds, seed } = overload;
		await using server = await startServer(overload);
		const { redis } = fleetOf(world.databases);
		const phases = [{ seconds: seconds * 2, rate: carried * 0.6 }];
		const offering = offer(overload, server, phases, seed + 60);
		/** Of one second, in milliseconds, from a second from now on. */
		const used = async () => {
			await new Promise((resolve) => setTimeout(resolve, 1_000));
			const before = cpuMs(server.pid);
			const ms = (seconds - 1) * 1_000;
			await new Promise((resolve) => setTimeout(resolve, ms));
			return (cpuMs(server.pid) - before) / (seconds - 1);
		};
		const usedBefore = await used();
		await redis.kill();
		const usedKilled = await used();
		const { results, probed } = await offering;
		await redis.restart();
		const before = summarize(results, 1, seconds);
		const killed = summarize(results, seconds + 1, seconds * 2);
		show(overload, "Redis, before", before);
		show(overload, "Redis, killed", killed);
		const perAnswer = {
			before: usedBefore / before.good,
			killed: usedKilled / killed.good,
		};
		overload.results["Redis, CPU ms per answer"] = perAnswer;
		console.log(
			`  ${perAnswer.before.toFixed(2)} ms of CPU per answer before, ${perAnswer.killed.toFixed(2)} ms without Redis`,
		);
		showProbes(overload, "Redis, killed", probed);
	},

	async limp(overload) {
		const { world, carried, seconds, seed } = overload;
		const [, , , last] = fleetOf(world.databases).hosts;
		if (last === undefined) throw new Error("There are too few hosts.");
		await using server = await startServer(overload);
		const phases = [{ seconds: seconds * 3, rate: carried * 0.3 }];
		const offering = offer(overload, server, phases, seed + 70);
		await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
		last.pause();
		await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
		last.resume();
		const { results, probed } = await offering;
		show(overload, "limp, before", summarize(results, 1, seconds));
		show(
			overload,
			"limp, stopped",
			summarize(results, seconds + 1, seconds * 2),
		);
		show(
			overload,
			"limp, after",
			summarize(results, seconds * 2 + 2, seconds * 3),
		);
		showProbes(overload, "limp", probed);
	},
};
