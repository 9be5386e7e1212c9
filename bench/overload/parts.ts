import { writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { TcpProxy } from "../../test/helpers/tcpProxy.ts";
import { fleetOf, topologyOf } from "../databases.ts";
import { cpuMs, residentMb } from "../usage.ts";
import { requestsOf } from "./mix.ts";
import {
	CLOSED,
	clients,
	load,
	MOST_REQUESTS,
	type Overload,
	offer,
	type Running,
	show,
	showProbes,
	startServer,
} from "./offer.ts";
import { recovery, summarize } from "./report.ts";

export const PARTS = [
	"load",
	"spike",
	"dead",
	"flood",
	"restart",
	"redis",
	"limp",
	"late",
] as const;
export type Part = (typeof PARTS)[number];
export const HOSTS = 4;
export const LIGHT = 50;
/** Closed loops, of which the middle one is what a server carries. */
const LOOPS = 5;

/** The middle one of closed loops. */
export async function measureCarried(
	overload: Omit<Overload, "carried">,
): Promise<number> {
	const { world, viewers, mix, seed, seconds, server } = overload;
	const all: number[] = [];
	for (let round = 0; round < LOOPS; round++) {
		const requests = requestsOf(world, {
			viewers,
			mix,
			count: MOST_REQUESTS,
			seed: seed + round,
		});
		const part = Math.max(3, seconds / 3);
		const results = await load(server, [
			clients("closed", {
				connections: CLOSED,
				requests,
				phases: [{ seconds: part, rate: null }],
			}),
		]);
		const summary = summarize(results, 0, part);
		show(overload, `closed loop ${round + 1}`, summary);
		all.push(summary.good);
	}
	const carried = all.sort((a, b) => a - b)[(LOOPS - 1) / 2] as number;
	overload.results.carried = carried;
	console.log(`K = ${carried.toFixed(0)}/s`);
	return carried;
}

async function loadPart(overload: Overload): Promise<void> {
	const { carried, seconds, seed, server } = overload;
	for (const [n, times] of [0.5, 1, 2, 4].entries()) {
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
		/** The CPU time of one second, in milliseconds, from a second from now on. */
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
		const { hosts } = fleetOf(overload.world.databases);
		const last = hosts.at(-1) as (typeof hosts)[number];
		await using server = await startServer(overload);
		await offerLimping(overload, server, "stopped", {
			begin: () => last.pause(),
			end: () => last.resume(),
		});
	},

	async late(overload) {
		const { files, options } = overload.world;
		const fleet = fleetOf(overload.world.databases);
		const last = fleet.hosts.at(-1) as (typeof fleet.hosts)[number];
		await using proxy = await TcpProxy.to(last.port);
		const primaries = fleet.hosts.map((host) =>
			host === last
				? host.url.replace(`:${host.port}`, `:${proxy.port}`)
				: host.url,
		);
		const topologyFile = `${fleet.topologyFile}.late.json`;
		await writeFile(
			topologyFile,
			JSON.stringify(topologyOf(primaries, options.shards)),
			{ mode: 0o600 },
		);
		await using server = await startServer(overload, {
			files: { ...files, databases: { fleet: { ...fleet, topologyFile } } },
		});
		await offerLimping(overload, server, "late", {
			begin: () => {
				proxy.delayMs = 2_000;
			},
			end: () => {
				proxy.delayMs = 0;
			},
		});
	},
};

/** 0.3 K, before, while and after one host limps. */
async function offerLimping(
	overload: Overload,
	server: Running,
	how: string,
	{ begin, end }: { readonly begin: () => void; readonly end: () => void },
): Promise<void> {
	const { carried, seconds, seed } = overload;
	const phases = [{ seconds: seconds * 3, rate: carried * 0.3 }];
	const offering = offer(overload, server, phases, seed + 70);
	await sleep(seconds * 1_000);
	begin();
	await sleep(seconds * 1_000);
	end();
	const { results, probed } = await offering;
	const of = (from: number, to: number) => summarize(results, from, to);
	// The clients begin a little later than this process counts.
	show(overload, `${how}: before`, of(1, seconds - 1));
	show(overload, `${how}: while`, of(seconds + 1, seconds * 2 - 1));
	show(overload, `${how}: after`, of(seconds * 2 + 2, seconds * 3));
	showProbes(overload, how, probed);
}
