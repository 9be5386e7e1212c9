/**
 * `npm run bench -- pairs`: what one setting, or one change of the code, adds to the
 * CPU of a request. Servers that differ in nothing else run side by side and take
 * turns in short windows of the same load. A window compares only with the one
 * beside it, so what else the machine does meanwhile falls on both alike.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parseArgs } from "node:util";
import { reservePort } from "../test/services/port.ts";
import { UsageError } from "../tools/namedProgram.ts";
import { sendLoad } from "./measure.ts";
import { readOptions } from "./options.ts";
import { QUERY_NAMES, type QueryName } from "./queries.ts";
import { medianInterval } from "./report/statistics.ts";
import { describeMachine } from "./results.ts";
import { Reads } from "./sections/reads.ts";
import { CAN_PIN } from "./servers/cores.ts";
import { STORES, type StoreName, startCorkboard } from "./servers/corkboard.ts";
import type { ServerProcess } from "./servers/serverProcess.ts";
import { cpuMs, residentMb } from "./usage.ts";
import { createWorld } from "./world.ts";

/** As Prometheus does, but three times as often as by default. */
const SCRAPE_MS = 5_000;
const SAMPLED = "0.01";
const NAMES = [
	"plain",
	"same",
	"bare",
	"metrics",
	"traces",
	"root",
	"other",
] as const;
type Name = (typeof NAMES)[number];
const KEY_KINDS = ["hot", "zipf", "uniform"] as const;

export const usage = `usage: npm run bench -- pairs [options]

  --servers NAMES    the first is what the others are compared with (default plain,same,bare,metrics,traces)
                     plain    no setting: every operation is recorded, in case it is slow
                     same     the same once more: what chance makes of no difference
                     bare     CORKBOARD_SLOW=off: nothing is recorded
                     metrics  CORKBOARD_ADMIN, scraped every ${SCRAPE_MS / 1_000} s
                     traces   one request of a hundred is traced, to a collector
                     root     another checkout: --root
                     other    with the settings of --env
  --root FOLDER      the checkout of \`root\`, with its packages
  --env KEY=VALUE    a setting of \`other\`; may be given several times
  --store NAME       ${Object.keys(STORES).join(" ")} (default executed)
  --questions NAMES  of ${QUERY_NAMES.join(" ")} (default q1,q3)
  --keys KIND        hot: 30 keys, all in memory; zipf; uniform (default hot)
  --pairs N          windows of each server and question (default 40)
  --starts N         so many times all servers are started anew: processes of one program differ (default 4)
  --seconds N        of one window, about: all have the same number of requests (default 0.7)
  --warm N           seconds of load, about, on each server and question before (default 5)
  --connections N    (default 8)
  --scale N, --seed N, --shards N   as of \`npm run bench\` (scale: default 0.02)`;

const { values } = parseArgs({
	options: {
		servers: { type: "string", default: "plain,same,bare,metrics,traces" },
		root: { type: "string" },
		env: { type: "string", multiple: true, default: [] },
		store: { type: "string", default: "executed" },
		questions: { type: "string", default: "q1,q3" },
		keys: { type: "string", default: "hot" },
		pairs: { type: "string", default: "40" },
		starts: { type: "string", default: "4" },
		seconds: { type: "string", default: "0.7" },
		warm: { type: "string", default: "5" },
		connections: { type: "string", default: "8" },
		scale: { type: "string", default: "0.02" },
		seed: { type: "string", default: "1" },
		shards: { type: "string", default: "32" },
		help: { type: "boolean" },
	},
});

export async function run(): Promise<number> {
	const names = listOf("servers", values.servers, NAMES);
	const questions = listOf("questions", values.questions, QUERY_NAMES);
	const [store] = listOf(
		"store",
		values.store,
		Object.keys(STORES) as StoreName[],
	);
	const [keys] = listOf("keys", values.keys, KEY_KINDS);
	if (!store || !keys || names.length < 2) {
		throw new UsageError("--servers needs two names or more.");
	}
	if (names.includes("root") && values.root === undefined) {
		throw new UsageError("--root FOLDER is missing: the checkout of `root`.");
	}
	const pairs = Number(values.pairs);
	const starts = Number(values.starts);
	const seconds = Number(values.seconds);
	const connections = Number(values.connections);
	const variant =
		store === "layered" ? "known" : store === "executed" ? "executed" : store;
	const options = readOptions([
		...["--scale", values.scale, "--seed", values.seed],
		...["--shards", values.shards, "--only", variant],
	]);
	await using stack = new AsyncDisposableStack();
	const { signal } = new AbortController();
	const say = (text: string) => console.error(text);
	const world = stack.use(await createWorld(options, say, signal));
	const collector = stack.use(await startCollector());
	const reads = new Reads(world, { q1: 0, q2: 0, q3: 0, q4: 0 });
	const run = async (
		{ port, pid }: ServerProcess,
		question: QueryName,
		limit: { readonly seconds: number; readonly most?: number },
	): Promise<Window> => {
		const load = await reads.loadOf(variant, question, keys);
		const before = cpuMs(pid);
		const { requests, errors, firstError } = await sendLoad(world, port, {
			...load,
			connections,
			...limit,
		});
		if (errors > 0) throw new Error(`${question}: ${firstError}`);
		return { requests, us: ((cpuMs(pid) - before) * 1_000) / requests };
	};
	const machine = describeMachine(CAN_PIN);
	console.log(
		`${STORES[store]}, ${keys} keys, ${connections} connections, ${pairs} windows of about ${seconds} s for each server, which were started ${starts} times; ${JSON.stringify(machine)}`,
	);
	const windows = new Map<string, number[]>();
	const residents = new Map<string, number[]>();
	/** The median of the windows of each start. Microseconds. */
	const ofStarts = new Map<string, number[]>();
	/** Requests of a window, by question. */
	const counts = new Map<QueryName, number>();
	let turn = 0;
	for (let start = 0; start < starts; start++) {
		await using processes = new AsyncDisposableStack();
		const servers = new Map<Name, ServerProcess>();
		for (const name of rotated(names, start)) {
			const admin =
				name === "metrics" ? processes.use(await startScraping()) : undefined;
			const files =
				name === "root" && values.root !== undefined
					? { ...world.files, root: values.root }
					: world.files;
			const env = environmentOf(name, admin?.address ?? "", collector.url);
			const server = await startCorkboard(store, files, { env });
			servers.set(name, processes.use(server));
		}
		for (const question of questions) {
			for (const name of rotated(names, start)) {
				const server = servers.get(name) as ServerProcess;
				const most = counts.get(question);
				const warmed = await run(
					server,
					question,
					most === undefined
						? { seconds: Number(values.warm) }
						: {
								seconds: WINDOW_LIMIT_S,
								most: Math.ceil((most * Number(values.warm)) / seconds),
							},
				);
				// As many requests for all: V8 compiles by what it has seen.
				if (most === undefined) {
					const ofWindow = (warmed.requests * seconds) / Number(values.warm);
					counts.set(question, Math.max(connections, Math.ceil(ofWindow)));
				}
			}
			for (let pair = 0; pair < Math.ceil(pairs / starts); pair++) {
				turn++;
				// In another order each time: none always runs after the same other.
				for (const name of rotated(names, turn)) {
					const key = `${question} ${name}`;
					const limit = {
						seconds: WINDOW_LIMIT_S,
						most: counts.get(question) as number,
					};
					const server = servers.get(name) as ServerProcess;
					const { us } = await run(server, question, limit);
					windows.set(key, [...(windows.get(key) ?? []), us]);
					residents.set(key, [
						...(residents.get(key) ?? []),
						residentMb(server.pid),
					]);
				}
			}
		}
		for (const question of questions) {
			for (const name of names) {
				const key = `${question} ${name}`;
				const own = (windows.get(key) ?? []).slice(-Math.ceil(pairs / starts));
				const us = medianInterval(own).median;
				ofStarts.set(key, [...(ofStarts.get(key) ?? []), us]);
			}
		}
		console.log(`\nCPU of the server per request, after start ${start + 1}:`);
		for (const question of questions)
			report(question, names, windows, residents, ofStarts);
	}
	return 0;
}

interface Window {
	readonly requests: number;
	/** CPU of the server per request. Microseconds. */
	readonly us: number;
}

/** Also on a machine that others use. */
const WINDOW_LIMIT_S = 30;

function rotated<T>(items: readonly T[], by: number): readonly T[] {
	const at = by % items.length;
	return [...items.slice(at), ...items.slice(0, at)];
}

function report(
	question: QueryName,
	names: readonly Name[],
	windows: ReadonlyMap<string, readonly number[]>,
	/** Megabytes. */
	residents: ReadonlyMap<string, readonly number[]>,
	/** Microseconds. */
	ofStarts: ReadonlyMap<string, readonly number[]>,
): void {
	const [base] = names;
	const bases = windows.get(`${question} ${base}`) ?? [];
	for (const name of names) {
		const own = windows.get(`${question} ${name}`) ?? [];
		const ratio = medianInterval(
			own.map((one, at) => one / (bases[at] as number)),
		);
		const us = medianInterval(own).median;
		const resident = Math.max(...(residents.get(`${question} ${name}`) ?? [0]));
		console.log(
			`${question} ${name.padEnd(8)} ${us.toFixed(1)} µs, least ${Math.min(...own).toFixed(1)}, ${resident.toFixed(0)} MB${
				name === base
					? ""
					: `; ÷ ${base}: ${ratio.median.toFixed(3)} [${ratio.low.toFixed(3)}–${ratio.high.toFixed(3)}]${byStart(ofStarts, question, name, base)}`
			}`,
		);
	}
}

/** Two starts of one program differ for as long as they run: the ratio of each start is one observation, however many windows it has. */
function byStart(
	ofStarts: ReadonlyMap<string, readonly number[]>,
	question: QueryName,
	name: Name,
	base: Name | undefined,
): string {
	const bases = ofStarts.get(`${question} ${base}`) ?? [];
	const ratios = (ofStarts.get(`${question} ${name}`) ?? []).map(
		(us, at) => us / (bases[at] as number),
	);
	return `; by start ${ratios.map((ratio) => ratio.toFixed(2)).join(" ")}, median ${medianInterval(ratios).median.toFixed(3)}`;
}

function environmentOf(
	name: Name,
	admin: string,
	collector: string,
): Readonly<Record<string, string>> {
	if (name === "bare") return { CORKBOARD_SLOW: "off" };
	if (name === "metrics") return { CORKBOARD_ADMIN: admin };
	if (name === "other") {
		return Object.fromEntries(
			values.env.map((setting) => {
				const at = setting.indexOf("=");
				return [setting.slice(0, at), setting.slice(at + 1)];
			}),
		);
	}
	if (name !== "traces") return {};
	return {
		OTEL_EXPORTER_OTLP_ENDPOINT: collector,
		OTEL_TRACES_SAMPLER: "traceidratio",
		OTEL_TRACES_SAMPLER_ARG: SAMPLED,
	};
}

/** Takes traces, and keeps none. */
async function startCollector(): Promise<
	AsyncDisposable & { readonly url: string }
> {
	const server = createServer((request, response) => {
		request.resume().on("end", () => response.end());
	});
	await new Promise<void>((resolve) =>
		server.listen(0, "127.0.0.1", () => resolve()),
	);
	const { port } = server.address() as AddressInfo;
	return {
		url: `http://127.0.0.1:${port}`,
		async [Symbol.asyncDispose]() {
			server.close();
			server.closeAllConnections();
		},
	};
}

/** An address for a server's metrics, which are read from there from time to time. */
async function startScraping(): Promise<
	Disposable & { readonly address: string }
> {
	await using reserved = await reservePort();
	const address = `127.0.0.1:${reserved.port}`;
	const timer = setInterval(() => {
		fetch(`http://${address}/metrics`).then(
			(response) => response.arrayBuffer(),
			() => {},
		);
	}, SCRAPE_MS);
	return { address, [Symbol.dispose]: () => clearInterval(timer) };
}

function listOf<T extends string>(
	option: string,
	text: string,
	known: readonly T[],
): readonly T[] {
	const names = text.split(",");
	const unknown = names.filter((name) => !known.includes(name as T));
	if (unknown.length > 0) {
		throw new UsageError(`--${option} knows no ${unknown.join(", ")}.`);
	}
	return names as T[];
}
