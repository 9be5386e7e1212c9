import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runProgram, serve } from "../helpers/program.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { caughtUp, startMysqlPair } from "../services/mysql.ts";
import { judge, longestGap, median } from "./evidence.ts";
import { Client, OpenLoad, readTitles, signUp, type Writer } from "./load.ts";

export interface Options {
	readonly rounds: number;
	/** A second, over all servers. */
	readonly reads: number;
	readonly writes: number;
	/** How long the load runs before, between and after promotions. Milliseconds. */
	readonly betweenMs: number;
	readonly servers: number;
}

export interface Round {
	readonly from: string;
	/** The exit code of `promote`. */
	readonly code: number | null;
	/** From the fence to the publication, as the command says. */
	readonly fenceMs: number | null;
	/** The longest time without an acknowledged write. */
	readonly pauseMs: number;
	readonly error?: string;
}

export interface Report {
	readonly options: Options;
	readonly rounds: readonly Round[];
	readonly pauseMs: { readonly p50: number; readonly max: number };
	readonly fenceMs: { readonly p50: number; readonly max: number };
	/** The longest time without an acknowledged write while nothing was promoted: what the machine itself does. */
	readonly quietGapMs: number;
	readonly reads: number;
	readonly writes: number;
	readonly acknowledged: number;
	readonly slowestReadMs: number;
	readonly slowestWriteMs: number;
	readonly failed: number;
	readonly failures: readonly string[];
	readonly lost: readonly string[];
	readonly repeated: readonly string[];
	/** Whether a promotion failed, a request did, or an acknowledged write is not there. */
	readonly isBroken: boolean;
}

const SECRET = "of the attack, for its servers alone, 32 bytes or more";
const SHARDS = 4;
const WRITERS = 24;

/** Promotes the replica of a pair back and forth under load, and compares the driver's own list with what is there in the end. */
export async function attackPromotions(
	options: Options,
	say: (line: string) => void,
): Promise<Report> {
	await using stack = new AsyncDisposableStack();
	const pair = stack.use(await startMysqlPair());
	const folder = stack.use(temporaryFolder());
	const file = join(folder.path, "topology.json");
	const { primary, replica } = pair;
	const hosts = { primary: primary.url, replica: replica.url };
	const range = [0, SHARDS - 1];
	writeFileSync(
		file,
		JSON.stringify({
			version: 1,
			shards: [{ range, ...hosts, open: true }],
			lookups: [{ range, ...hosts }],
		}),
	);
	const env = {
		CORKBOARD_TOPOLOGY: file,
		CORKBOARD_MODE: "development",
		CORKBOARD_SECRET: SECRET,
		CORKBOARD_LOG: "warn,json",
		CORKBOARD_RATE_LIMIT: "off",
		HOST: "127.0.0.1",
	};
	const run = (...args: string[]) => runProgram(args, { env });
	const init = await run("init");
	if (init.code !== 0) throw new Error(`init failed: ${init.err}`);
	await caughtUp(pair);
	const servers = await Promise.all(
		Array.from({ length: options.servers }, async () =>
			stack.use(await serve(env)),
		),
	);
	const clients = servers.map(({ url }) => stack.use(new Client(url)));
	const writers: Writer[] = [];
	for (let nth = 0; nth < WRITERS; nth++) {
		const client = clients[nth % clients.length] as Client;
		writers.push(await signUp(client, nth));
	}
	say(`${options.servers} servers, ${primary.address} and ${replica.address}`);

	const load = new OpenLoad({ ...options, clients, writers });
	stack.defer(() => load.end());
	await sleep(options.betweenMs);
	const rounds: Round[] = [];
	/** When each promotion ran, and a while after it. */
	const spans: [from: number, to: number][] = [];
	let from = primary.address;
	const began = performance.now();
	for (let round = 0; round < options.rounds; round++) {
		const at = performance.now();
		const ended = await run(
			...["promote", from, "--yes", "--json"],
			...["--max-lag", "10000", "--max-pause", "5000"],
		);
		await sleep(options.betweenMs);
		spans.push([at, performance.now()]);
		const result = parsed(ended.out);
		rounds.push({
			from,
			code: ended.code,
			fenceMs: result?.pauseMs ?? null,
			pauseMs: 0,
			...(ended.code !== 0 && { error: `${ended.out}${ended.err}`.trim() }),
		});
		say(`round ${round + 1} of ${options.rounds}: ${from}, exit ${ended.code}`);
		if (result?.version == null) break;
		from = result.to;
	}
	const over = performance.now();
	// As long as a round with nothing in it.
	await sleep(Math.max(options.betweenMs, 5_000));
	const end = performance.now();
	await load.end();

	const { acknowledged } = load;
	const found = await readTitles(
		clients,
		acknowledged.map(({ id }) => id),
	);
	const judged = rounds.map((round, nth) => {
		const [first, last] = spans[nth] as [number, number];
		return { ...round, pauseMs: longestGap(acknowledged, first, last) };
	});
	const { lost, repeated } = judge(acknowledged, found);
	const { reads, writes, failed, failures } = load;
	const fences = judged.flatMap(({ fenceMs }) => fenceMs ?? []);
	say(`${Math.round((over - began) / 1_000)} s of promotions`);
	return {
		options,
		rounds: judged,
		pauseMs: ends(judged.map(({ pauseMs }) => pauseMs)),
		fenceMs: ends(fences),
		quietGapMs: longestGap(acknowledged, over, end - 1_000),
		reads,
		writes,
		acknowledged: acknowledged.length,
		slowestReadMs: load.slowestReadMs,
		slowestWriteMs: load.slowestWriteMs,
		failed,
		failures,
		lost,
		repeated,
		isBroken:
			failed + lost.length + repeated.length > 0 ||
			judged.length < options.rounds ||
			judged.some(({ code }) => code !== 0),
	};
}

function ends(numbers: readonly number[]) {
	return { p50: median(numbers), max: Math.max(0, ...numbers) };
}

function parsed(
	text: string,
): { version: number | null; to: string; pauseMs: number | null } | null {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}
