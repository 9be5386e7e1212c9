import { setTimeout as sleep } from "node:timers/promises";
import { judge, longestGap, median, slowest } from "./evidence.ts";
import { type FleetOptions, startFleet } from "./fleet.ts";
import { type LoadReport, OpenLoad, readTitles } from "./load.ts";

export interface Options extends Omit<FleetOptions, "shards"> {
	readonly rounds: number;
	/** A second, over all servers. */
	readonly reads: number;
	readonly writes: number;
	/** How long the load runs before, between and after promotions. Milliseconds. */
	readonly betweenMs: number;
	/**
	 * Whether one server is paused (SIGSTOP) across each promotion. Its requests
	 * may fail then, as their time is over; its writes may not reach the old primary.
	 */
	readonly stop: boolean;
}

export interface Round {
	readonly from: string;
	/** The exit code of `hosts promote`. */
	readonly code: number | null;
	/** From the fence to the publication, as the command says. */
	readonly fenceMs: number | null;
	/** The longest time without an acknowledged write. */
	readonly pauseMs: number;
	/** The longest that a write took, the pause included. */
	readonly slowestWriteMs: number;
	/** From the publication until all servers served it. */
	readonly agreedMs: number | null;
	/** The steps of the pause, as the operation's record says. */
	readonly steps: string | null;
	readonly error?: string;
}

export interface Report extends LoadReport {
	readonly options: Options;
	readonly rounds: readonly Round[];
	readonly pauseMs: { readonly p50: number; readonly max: number };
	readonly fenceMs: { readonly p50: number; readonly max: number };
	/** The slowest write of each round. */
	readonly roundWriteMs: { readonly p50: number; readonly max: number };
	/** From a publication until all servers served it. */
	readonly agreedMs: { readonly p50: number; readonly max: number };
	/** The longest time without an acknowledged write while nothing was promoted: what the machine itself does. */
	readonly quietGapMs: number;
	/** The slowest write of that time. */
	readonly quietWriteMs: number;
	readonly acknowledged: number;
	readonly lost: readonly string[];
	readonly repeated: readonly string[];
	/** Whether a promotion failed, a request did, or an acknowledged write is not there. */
	readonly isBroken: boolean;
}

const SHARDS = 4;

/** Promotes the replica of a pair back and forth under load, and compares the driver's own list with what is there in the end. */
export async function attackPromotions(
	options: Options,
	say: (line: string) => void,
): Promise<Report> {
	await using stack = new AsyncDisposableStack();
	const fleet = stack.use(await startFleet({ ...options, shards: SHARDS }));
	const { primary, replica, servers, clients, writers, run } = fleet;
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
		const still = options.stop ? servers[round % servers.length] : undefined;
		still?.send("SIGSTOP");
		const ended = await run(
			...["hosts", "promote", from, "--yes", "--json"],
			...["--max-lag", "10s", "--max-pause", "5s"],
		);
		still?.send("SIGCONT");
		await sleep(options.betweenMs);
		spans.push([at, performance.now()]);
		const result = parsed(ended.out);
		rounds.push({
			from,
			code: ended.code,
			fenceMs: result?.pauseMs ?? null,
			agreedMs: result?.agreement?.ms ?? null,
			steps: null,
			pauseMs: 0,
			slowestWriteMs: 0,
			...(!isGood(ended.code, options) && {
				error: `${ended.out}${ended.err}`.trim(),
			}),
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
	const steps = stepsOf(await run("operations", "list", "--all", "--json"));
	const judged = rounds.map((round, nth) => {
		const [first, last] = spans[nth] as [number, number];
		return {
			...round,
			pauseMs: longestGap(acknowledged, first, last),
			slowestWriteMs: slowest(acknowledged, first, last),
			steps: steps[nth] ?? null,
		};
	});
	const { lost, repeated } = judge(acknowledged, found);
	const report = load.report();
	const agreements = judged.flatMap(({ agreedMs }) => agreedMs ?? []);
	const slow = judged.map(({ slowestWriteMs }) => slowestWriteMs);
	const fences = judged.flatMap(({ fenceMs }) => fenceMs ?? []);
	say(`${Math.round((over - began) / 1_000)} s of promotions`);
	return {
		...report,
		options,
		rounds: judged,
		pauseMs: ends(judged.map(({ pauseMs }) => pauseMs)),
		fenceMs: ends(fences),
		roundWriteMs: ends(slow),
		agreedMs: ends(agreements),
		quietGapMs: longestGap(acknowledged, over, end - 1_000),
		quietWriteMs: slowest(acknowledged, over, end),
		acknowledged: acknowledged.length,
		lost,
		repeated,
		isBroken:
			lost.length + repeated.length > 0 ||
			(report.failed > 0 && !options.stop) ||
			judged.length < options.rounds ||
			judged.some(({ code }) => !isGood(code, options)),
	};
}

/** 3: published, but the server that is paused does not serve it. */
function isGood(code: number | null, { stop }: Options): boolean {
	return code === 0 || (stop && code === 3);
}

function ends(numbers: readonly number[]) {
	return { p50: median(numbers), max: Math.max(0, ...numbers) };
}

function parsed(text: string): {
	version: number | null;
	to: string;
	pauseMs: number | null;
	agreement: { ms: number } | null;
} | null {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}

/** What the records say of how long each step took, oldest first. */
function stepsOf({ out }: { readonly out: string }): readonly string[] {
	const records: readonly { readonly log: readonly string[] }[] =
		JSON.parse(out);
	return records.map(({ log }) => log.at(-1)?.split("; ")[1] ?? "");
}
