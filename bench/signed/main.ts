/**
 * `npm run bench -- signed`: what a request takes when many viewers are signed in
 * and some of them write. Servers take turns, so what else the machine does falls
 * on all of them.
 */
import { parseArgs } from "node:util";
import { countOf, numberOf, UsageError } from "../../tools/namedProgram.ts";
import { readOptions } from "../options.ts";
import type { OpenResult } from "../overload/messages.ts";
import {
	type Mix,
	requestsOf,
	type Viewer,
	viewersOf,
	WRITES,
} from "../overload/mix.ts";
import { sendOpenLoad } from "../overload/sendOpenLoad.ts";
import { Progress } from "../progress.ts";
import { spreadOf } from "../report/statistics.ts";
import { describeMachine } from "../results.ts";
import { CAN_PIN, moveToOtherCores } from "../servers/cores.ts";
import { startCorkboard } from "../servers/corkboard.ts";
import type { ServerProcess } from "../servers/serverProcess.ts";
import { cpuMs, residentMb } from "../usage.ts";
import { createWorld, type World } from "../world.ts";

const PATIENCE_MS = 20_000;
const REQUESTS = 20_000;
const ANONYMOUS: Viewer = { token: null, pins: [] };

export const usage = `usage: npm run bench -- signed [options]

  --viewers N        who are signed in; 0: all are anonymous, and nobody writes (default 600)
  --writes SHARES    of all requests, in percent, separated by commas (default 0,5,20)
  --known            all documents are sent by their ids; else two of five as texts
  --connections N    each with one request under way (default 32)
  --rounds N         (default 3)
  --seconds N        of one measurement (default 3)
  --warm N           seconds of load on each server before (default 20)
  --root FOLDER      another checkout of Corkboard beside this one, with its packages; may be given several times
  --scale N, --seed N, --shards N   as of \`npm run bench\` (scale: default 0.1)
  --json             print the results as JSON at the end`;

interface Measured {
	/** CPU of the server a request. Milliseconds. */
	readonly cpu: number;
	readonly perSecond: number;
	readonly reads: Latency;
	readonly writes: Latency;
	readonly residentMb: number;
	readonly failed: number;
}

/** Milliseconds. */
interface Latency {
	readonly p50: number;
	readonly p99: number;
}

export async function run(args: readonly string[]): Promise<number> {
	const { values } = parseArgs({
		args: [...args],
		options: {
			viewers: { type: "string" },
			writes: { type: "string", default: "0,5,20" },
			known: { type: "boolean", default: false },
			connections: { type: "string" },
			rounds: { type: "string" },
			seconds: { type: "string" },
			warm: { type: "string" },
			root: { type: "string", multiple: true, default: [] },
			scale: { type: "string", default: "0.1" },
			seed: { type: "string", default: "1" },
			shards: { type: "string", default: "32" },
			json: { type: "boolean", default: false },
			help: { type: "boolean" },
		},
	});
	const count = countOf("viewers", values.viewers, 600);
	const shares = values.writes.split(",").map(Number);
	if (shares.some((share) => !(share >= 0 && share <= 100))) {
		throw new UsageError("--writes must be numbers from 0 to 100.");
	}
	const connections = countOf("connections", values.connections, 32, 1);
	const rounds = countOf("rounds", values.rounds, 3, 1);
	const seconds = numberOf("seconds", values.seconds, 3, 0.1);
	const warm = numberOf("warm", values.warm, 20);
	const seed = Number(values.seed);
	const options = {
		...readOptions([
			...["--scale", values.scale, "--seed", values.seed],
			...["--shards", values.shards, "--only", "known"],
		]),
		documents: Object.values(WRITES),
	};
	const progress = new Progress();
	const { signal } = new AbortController();
	await using stack = new AsyncDisposableStack();
	const world = stack.use(
		await createWorld(options, (text) => progress.say(text), signal),
	);
	const viewers = count === 0 ? [ANONYMOUS] : await viewersOf(world, count);
	const servers = new Map<string, ServerProcess>();
	for (const root of [null, ...values.root]) {
		const files = root === null ? world.files : { ...world.files, root };
		const server = stack.use(await startCorkboard("layered", files));
		servers.set(root ?? "this checkout", server);
	}
	console.log(
		`${count === 0 ? "anonymous" : `${viewers.length} viewers`}, ${connections} connections, ${values.known ? "known documents" : "any documents"}; ${options.shards} shards, seed ${seed}, scale ${values.scale}; ${JSON.stringify(describeMachine(CAN_PIN))}`,
	);
	const shapeOf = (share: number): Mix => ({
		writes: count === 0 ? 0 : share / 100,
		known: values.known ? 1 : 0.6,
		unseen: 0,
	});
	const load = (
		server: ServerProcess,
		share: number,
		turn: number,
		s: number,
	) =>
		measure(world, server, {
			viewers,
			mix: shapeOf(share),
			seed: seed + turn,
			connections,
			seconds: s,
		});
	for (const server of servers.values()) {
		progress.say("warming up");
		await load(server, 5, 1_000, warm);
	}
	const results: Record<string, readonly Measured[]> = {};
	for (let round = 0; round < rounds; round++) {
		for (const share of shares) {
			for (const [name, server] of servers) {
				const measured = await load(server, share, round, seconds);
				const key = `${share} % writes, ${name}`;
				results[key] = [...(results[key] ?? []), measured];
				progress.say(line(key, [measured]));
			}
		}
	}
	for (const [key, all] of Object.entries(results)) console.log(line(key, all));
	if (values.json) console.log(JSON.stringify(results, null, "\t"));
	return 0;
}

async function measure(
	world: World,
	{ port, pid }: ServerProcess,
	{
		viewers,
		mix,
		seed,
		connections,
		seconds,
	}: {
		readonly viewers: readonly Viewer[];
		readonly mix: Mix;
		readonly seed: number;
		readonly connections: number;
		readonly seconds: number;
	},
): Promise<Measured> {
	const requests = requestsOf(world, { viewers, mix, count: REQUESTS, seed });
	const before = cpuMs(pid);
	const results = await sendOpenLoad(
		{
			port,
			patienceMs: PATIENCE_MS,
			clients: [
				{
					name: "viewers",
					address: "127.0.0.1",
					connections,
					phases: [{ seconds, rate: null }],
					requests,
					seed,
				},
			],
		},
		moveToOtherCores,
	);
	const [result] = results as readonly [OpenResult];
	const isWrite = requests.map((text) => /"input":/.test(text));
	const of = (writes: boolean): Latency => {
		const all = result.ms.filter(
			(_, n) => isWrite[result.request[n] as number] === writes,
		);
		const sorted = all.toSorted();
		const at = (share: number) =>
			sorted[Math.floor(sorted.length * share)] ?? 0;
		return { p50: at(0.5), p99: at(0.99) };
	};
	const count = result.at.length;
	return {
		cpu: (cpuMs(pid) - before) / Math.max(1, count),
		perSecond: count / seconds,
		reads: of(false),
		writes: of(true),
		residentMb: residentMb(pid),
		failed: result.outcome.filter((outcome) => outcome > 0).length,
	};
}

function line(name: string, all: readonly Measured[]): string {
	const median = (of: (one: Measured) => number) =>
		spreadOf(all.map(of))?.median ?? 0;
	const cpu = spreadOf(all.map((one) => one.cpu));
	return [
		name.padEnd(34),
		`${cpu?.median.toFixed(3)} ms CPU [${cpu?.least.toFixed(3)}–${cpu?.most.toFixed(3)}]`,
		`${median((one) => one.perSecond).toFixed(0)}/s`,
		`reads ${median((one) => one.reads.p50).toFixed(1)} · ${median((one) => one.reads.p99).toFixed(0)} ms`,
		`writes ${median((one) => one.writes.p50).toFixed(1)} · ${median((one) => one.writes.p99).toFixed(0)} ms`,
		`${median((one) => one.residentMb).toFixed(0)} MB`,
		`${median((one) => one.failed).toFixed(0)} failed`,
	].join("  ");
}
