/**
 * `npm run bench -- seed`: a fleet of as many shards as the first article had, on two
 * MySQL hosts, of which one has a replica. It starts, serves, is verified and promoted
 * once, and what each step took is printed and kept.
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs, promisify } from "node:util";
import pinsApp from "../../pins/app.ts";
import { readApp } from "../../src/app/readApp.ts";
import { leastSettings } from "../../src/storage/mysql/driver/serverLimits.ts";
import {
	MOD_SHARD_TABLES,
	shardTables,
} from "../../src/storage/statements/tables.ts";
import { startMemcached } from "../../test/services/memcached.ts";
import {
	caughtUp,
	startMysql,
	startMysqlPair,
} from "../../test/services/mysql.ts";
import { startRedis } from "../../test/services/redis.ts";
import type { Server } from "../../test/services/server.ts";
import { countOf, numberOf, UsageError } from "../../tools/namedProgram.ts";
import { generateGraph } from "../graph/generate.ts";
import { writeImportFile } from "../graph/writeGraph.ts";
import { Progress } from "../progress.ts";
import { describeMachine } from "../results.ts";
import {
	type CorkboardFiles,
	environmentOf,
	runCommand,
	startCorkboard,
} from "../servers/corkboard.ts";
import { cpuMsOfAll, residentMb } from "../usage.ts";

export const usage = `usage: npm run bench -- seed [options]

A fleet of 4,096 shards on two MySQL hosts: tables, start, single look-ups, idle processes, status, hosts check,
verify, and one planned promotion while it is read. Most of its time goes into 150,000 tables and those of the replica.

  --shards N     an even number (default 4096)
  --processes N  that serve (default 4)
  --scale N      of the graph that is imported (default 0.005)
  --open-files N files that a MySQL server may hold open here (default 18000)
  --out FILE     where the record goes as JSON`;

const STORE = "uncached";
const CATCH_UP_MS = 3_600_000;
const LOOKUPS = 60;
const IDLE_MS = 20_000;
/** What a step took, and what was counted of it. */
type Steps = Record<string, number | string>;

export async function run(args: readonly string[]): Promise<number> {
	const { values } = parseArgs({
		args: [...args],
		options: {
			shards: { type: "string" },
			processes: { type: "string" },
			scale: { type: "string" },
			"open-files": { type: "string" },
			out: { type: "string" },
		},
	});
	const shards = countOf("shards", values.shards, 4_096, 2);
	if (shards % 2 !== 0)
		throw new UsageError(`--shards must be even, got ${shards}.`);
	const processCount = countOf("processes", values.processes, 4, 1);
	const scale = numberOf("scale", values.scale, 0.005);
	const openFiles = countOf("open-files", values["open-files"], 18_000, 500);
	const progress = new Progress();
	const steps: Steps = {};
	const note = (name: string, value: number | string) => {
		steps[name] =
			typeof value === "number" ? Number(value.toPrecision(4)) : value;
		progress.say(`${name}: ${steps[name]}`);
	};
	const timed = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
		progress.say(`${name} …`);
		const began = performance.now();
		const result = await work();
		note(`${name}, s`, (performance.now() - began) / 1_000);
		return result;
	};
	const stop = new AbortController();
	process.once("SIGINT", () => stop.abort(new Error("Interrupted.")));
	const { signal } = stop;
	await using stack = new AsyncDisposableStack();
	const { files, pair, other, folder } = await startFleet(
		shards,
		openFiles,
		stack,
	);
	const command = (...words: readonly string[]) =>
		runCommand(STORE, words, files, signal);

	await timed("init", () => command("init"));
	await timed("replica caught up", () => caughtUp(pair, CATCH_UP_MS));
	const graph = join(folder, "graph.ndjson");
	const generated = generateGraph(scale, 7);
	const names = generated.users.map(({ username }) => username);
	const lines = await writeImportFile(generated, graph);
	note("lines of the graph", lines);
	await timed("import", () => command("import", graph));

	const began = performance.now();
	const servers = [stack.use(await startCorkboard(STORE, files))];
	note("start of a process, s", (performance.now() - began) / 1_000);
	await timed("start of the others", async () => {
		while (servers.length < processCount) {
			servers.push(stack.use(await startCorkboard(STORE, files)));
		}
	});
	const hosts: readonly Server[] = [pair.primary, other];
	await sleep(IDLE_MS / 4);
	const before = hosts.map(({ pid }) => cpuMsOfAll(pid));
	await sleep(IDLE_MS);
	for (const [at, { pid }] of hosts.entries()) {
		note(
			`host ${at + 1}, CPU for ${processCount} idle processes, %`,
			((cpuMsOfAll(pid) - (before[at] ?? 0)) * 100) / IDLE_MS,
		);
	}
	for (const [at, { pid }] of servers.entries()) {
		note(`process ${at + 1}, resident MB`, residentMb(pid));
	}
	const ports = servers.map(({ port }) => port);
	const alone = await lookUp(ports, names, LOOKUPS);
	note("single look-ups", alone.times.length);
	note("single look-ups that failed", alone.failed);
	note("slowest look-up, ms", Math.max(...alone.times));

	await timed("status", () => command("status").catch(String));
	await timed("hosts check", () => command("hosts", "check").catch(String));
	await timed("verify", () => command("verify"));

	const reading = readUntil(ports, names);
	await timed("promotion", () =>
		promisify(execFile)(
			process.execPath,
			[
				join(import.meta.dirname, "../../src/cli/launch.mjs"),
				...["hosts", "promote", pair.primary.address, "--yes"],
			],
			{
				env: { PATH: process.env.PATH, ...environmentOf(STORE, files) },
				timeout: CATCH_UP_MS,
				signal,
			},
		),
	);
	const read = await reading.end();
	note("look-ups during the promotion", read.times.length);
	note("of them failed", read.failed);
	note("slowest of them, ms", Math.max(...read.times));
	await timed("verify after the promotion", () => command("verify"));
	const record = {
		at: new Date().toISOString(),
		machine: describeMachine(false),
		shards,
		processCount,
		scale,
		openFiles,
		steps,
	};
	const text = `${JSON.stringify(record, null, "\t")}\n`;
	if (values.out !== undefined) await writeFile(values.out, text);
	console.log(text.trimEnd());
	return 0;
}

/** Two MySQL hosts with half of the shards each, of which the first has a replica, and caches. */
async function startFleet(
	shards: number,
	openFiles: number,
	stack: AsyncDisposableStack,
) {
	const folder = await mkdtemp(join(tmpdir(), "corkboard-seed-"));
	stack.defer(() => rm(folder, { recursive: true, force: true }));
	const mysql = mysqlArgs(shards / 2, openFiles);
	const pair = stack.use(await startMysqlPair({ args: mysql }));
	const other = stack.use(await startMysql({ args: mysql }));
	const memcached = stack.use(await startMemcached());
	const redis = stack.use(await startRedis());
	const topologyFile = join(folder, "topology.json");
	const ranges = [
		{
			range: [0, shards / 2 - 1],
			primary: pair.primary.url,
			replica: pair.replica.url,
		},
		{ range: [shards / 2, shards - 1], primary: other.url },
	];
	await writeFile(
		topologyFile,
		JSON.stringify({
			version: 1,
			shards: ranges.map((range) => ({ ...range, open: true })),
			lookups: ranges,
		}),
		{ mode: 0o600 },
	);
	const files: CorkboardFiles = {
		databases: {
			fleet: {
				mysql: pair.primary,
				hosts: [pair.primary, other],
				memcached,
				redis,
				topologyFile,
			},
		},
		dataFolder: folder,
		documents: join(folder, "documents.json"),
	};
	await writeFile(files.documents, "{}");
	return { files, pair, other, folder };
}

/** As docs/how-to/install.md says, as far as this machine allows. */
function mysqlArgs(shards: number, openFiles: number): readonly string[] {
	const { model } = readApp(pinsApp);
	const tables = shards * (shardTables(model).length + MOD_SHARD_TABLES.length);
	const least = leastSettings(tables, { instances: 1, connections: 500 });
	return [
		"--max-connections=500",
		"--innodb-buffer-pool-size=512M",
		"--innodb-redo-log-capacity=512M",
		"--table-open-cache-instances=1",
		`--table-open-cache=${least.table_open_cache}`,
		`--table-definition-cache=${least.table_definition_cache}`,
		`--innodb-open-files=${Math.min(openFiles, least.innodb_open_files ?? 0)}`,
	];
}

interface LookedUp {
	readonly times: readonly number[];
	readonly failed: number;
}

/** One after another, each at another process. */
async function lookUp(
	ports: readonly number[],
	names: readonly string[],
	count: number,
): Promise<LookedUp> {
	const times: number[] = [];
	let failed = 0;
	let looked = Math.floor(Math.random() * names.length);
	for (let n = 0; n < count; n++) {
		const began = performance.now();
		if (
			!(await isAnswered(
				ports[n % ports.length] ?? 0,
				names[looked++ % names.length] ?? "",
			))
		)
			failed++;
		times.push(performance.now() - began);
	}
	return { times, failed };
}

async function isAnswered(port: number, name: string): Promise<boolean> {
	try {
		const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
			method: "POST",
			headers: { "content-type": "application/json" },
			body: JSON.stringify({
				query: `{ user(by: {username: "${name}"}) { username boards(first: 3) { nodes { name } } } }`,
			}),
			signal: AbortSignal.timeout(10_000),
		});
		const text = await response.text();
		return text.includes(`"username":"${name}"`) && !text.includes('"errors"');
	} catch {
		return false;
	}
}

/** Looks up without a pause, until it is ended. */
function readUntil(
	ports: readonly number[],
	names: readonly string[],
): { end(): Promise<LookedUp> } {
	const stop = new AbortController();
	const done = (async () => {
		let all: LookedUp = { times: [], failed: 0 };
		while (!stop.signal.aborted) {
			const some = await lookUp(ports, names, ports.length);
			all = {
				times: [...all.times, ...some.times],
				failed: all.failed + some.failed,
			};
			await sleep(20);
		}
		return all;
	})();
	return {
		end() {
			stop.abort();
			return done;
		},
	};
}
