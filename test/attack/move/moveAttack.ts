import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { generateGraph } from "../../../bench/graph/generate.ts";
import { writeImportFile } from "../../../bench/graph/writeGraph.ts";
import { type Ended, startProgram } from "../../helpers/program.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { caughtUp } from "../../services/mysql.ts";
import { judge, percentile, slowest } from "../promote/evidence.ts";
import { type Fleet, type FleetOptions, startFleet } from "../promote/fleet.ts";
import { OpenLoad, readTitles } from "../promote/load.ts";

export interface Options extends FleetOptions {
	/** Of the graph that is imported first; 0: none. */
	readonly graph: number;
	/** How often everything moves there and back. */
	readonly rounds: number;
	readonly wave: number;
	/** A second, over all servers. */
	readonly reads: number;
	readonly writes: number;
	/** How long the load runs before the first move, and between moves. Milliseconds. */
	readonly betweenMs: number;
	/** How often the runner is killed in each move, at a random moment, and resumed. */
	readonly kills: number;
	/** Whether one server stands still (SIGSTOP) across each move; its requests may fail then. */
	readonly stop: boolean;
}

/** One way: there or back. */
export interface Way {
	readonly way: "move" | "reverse" | "complete";
	readonly code: number | null;
	readonly kills: number;
	readonly seconds: number;
	/** From the fence to the publication of each wave, as the record says. Milliseconds. */
	readonly pauses: readonly number[];
	readonly slowestWriteMs: number;
	readonly readP99Ms: number;
	readonly error?: string;
}

export interface Report {
	readonly options: Options;
	readonly ways: readonly Way[];
	readonly calmReadP99Ms: number;
	readonly calmSlowestWriteMs: number;
	readonly reads: number;
	readonly writes: number;
	readonly acknowledged: number;
	/** Without those that a busy server refused at once. */
	readonly failed: number;
	readonly refused: number;
	readonly failures: readonly string[];
	readonly lost: readonly string[];
	readonly repeated: readonly string[];
	/** What `verify` said in the end. */
	readonly verified: number | null;
	readonly isBroken: boolean;
}

/** In which a runner is killed. Milliseconds. */
const KILLED_WITHIN_MS = 6_000;
/** So often a runner that ended half-way is resumed. */
const TRIES = 5;
const SEED = 7;

/** Moves all shards to another pair and back under load, and compares the driver's own list with what is there in the end. */
export async function attackMoves(
	options: Options,
	say: (line: string) => void,
): Promise<Report> {
	await using stack = new AsyncDisposableStack();
	const fleet = stack.use(await startFleet(options));
	await importGraph(fleet, options.graph, say);
	const { clients, writers, run } = fleet;
	const target = await fleet.startPair();
	say(
		`${options.servers} servers, ${fleet.primary.address} to ${target.primary.address}`,
	);
	const load = new OpenLoad({ ...options, clients, writers });
	stack.defer(() => load.end());
	const calmFrom = performance.now();
	await sleep(Math.max(options.betweenMs, 10_000));
	const calmTo = performance.now();

	const there = [
		...["move", `0-${options.shards - 1}`, "--to", target.primary.url],
		...["--replica", target.replica.url, "--wave", String(options.wave)],
		...["--watch", "1s", "--max-pause", "1s", "--yes", "--json"],
	];
	const ways: Way[] = [];
	for (let round = 0; round < options.rounds; round++) {
		const isLast = round === options.rounds - 1;
		const moved = await goWay("move", there, null);
		const id = moved.id;
		if (id === null || moved.code !== 0) break;
		await sleep(options.betweenMs);
		// The last round ends over there.
		const way = isLast && round > 0 ? "complete" : "reverse";
		const back = await goWay(way, ["move", way, id, "--json"], id);
		if (back.code !== 0) break;
		await sleep(options.betweenMs);
	}
	await load.end();

	const { acknowledged, answered, failures } = load;
	const found = await readTitles(
		clients,
		acknowledged.map(({ id }) => id),
	);
	const verified = await run("verify", "--json");
	if (verified.code !== 0) say(verified.out + verified.err);
	const { lost, repeated } = judge(acknowledged, found);
	return {
		options,
		ways,
		calmReadP99Ms: percentile(answered, 0.99, calmFrom, calmTo),
		calmSlowestWriteMs: slowest(acknowledged, calmFrom, calmTo),
		reads: load.reads,
		writes: load.writes,
		acknowledged: acknowledged.length,
		failed: load.failed - load.refused,
		refused: load.refused,
		failures,
		lost,
		repeated,
		verified: verified.code,
		isBroken:
			lost.length + repeated.length > 0 ||
			(load.failed > load.refused && !options.stop) ||
			ways.length < 2 * options.rounds ||
			ways.some(({ code }) => code !== 0) ||
			verified.code !== 0,
	};

	async function goWay(
		way: Way["way"],
		args: readonly string[],
		known: string | null,
	): Promise<Way & { readonly id: string | null }> {
		const began = performance.now();
		const still = options.stop
			? fleet.servers[ways.length % fleet.servers.length]
			: undefined;
		still?.send("SIGSTOP");
		const { ended, id, kills } = await runAndKill(fleet, args, known, options);
		still?.send("SIGCONT");
		const over = performance.now();
		const status = id === null ? null : await statusOf(fleet, id);
		const waves = status?.waves ?? [];
		const taken: Way = {
			way,
			// 3: done, but the server that stands still does not serve it.
			code: options.stop && ended.code === 3 ? 0 : ended.code,
			kills,
			seconds: (over - began) / 1_000,
			pauses:
				way === "complete"
					? []
					: waves.flatMap(({ pauses }) => pauses.at(-1) ?? []),
			slowestWriteMs: slowest(load.acknowledged, began, over),
			readP99Ms: percentile(load.answered, 0.99, began, over),
			...(ended.code !== 0 && { error: `${ended.out}${ended.err}`.trim() }),
		};
		ways.push(taken);
		say(
			`${way}: exit ${ended.code} after ${taken.seconds.toFixed(1)} s, ${kills} kills, pauses ${taken.pauses.map(Math.round).join(" ")} ms`,
		);
		return { ...taken, id };
	}
}

/** Runs a command that may be killed and resumed until it has ended. */
async function runAndKill(
	fleet: Fleet,
	args: readonly string[],
	known: string | null,
	{ kills }: Options,
): Promise<{
	readonly ended: Ended;
	readonly id: string | null;
	readonly kills: number;
}> {
	let killed = 0;
	let id = known;
	let next = args;
	let ended: Ended | null = null;
	for (let attempt = 0; attempt < kills + TRIES; attempt++) {
		await using program = startProgram(next, { env: fleet.env, input: "" });
		const over = program.ended;
		if (killed < kills) {
			const isOver = await Promise.race([
				over.then(() => true),
				sleep(Math.random() * KILLED_WITHIN_MS, false),
			]);
			if (!isOver) {
				program.send("SIGKILL");
				killed++;
			}
		}
		ended = await over;
		id ??= await openMove(fleet);
		if (ended.code === 0) break;
		// On a busy machine its own guard may take a slow runner for a dead one. Where nothing was begun, the same is run again.
		if (id !== null) next = ["move", "resume", id, "--json"];
	}
	if (ended === null) throw new Error("nothing was run");
	return { ended, id, kills: killed };
}

/** The newest move. */
async function openMove({ run }: Fleet): Promise<string | null> {
	const { out } = await run("operations", "list", "--all", "--json");
	const records: readonly { readonly id: string; readonly kind: string }[] =
		JSON.parse(out);
	return records.findLast(({ kind }) => kind === "move")?.id ?? null;
}

async function statusOf(
	{ run }: Fleet,
	id: string,
): Promise<{
	readonly waves: readonly { readonly pauses: readonly number[] }[];
} | null> {
	const { code, out } = await run("move", "status", id, "--json");
	return code === 0 ? JSON.parse(out) : null;
}

async function importGraph(
	fleet: Fleet,
	scale: number,
	say: (line: string) => void,
): Promise<void> {
	if (scale === 0) return;
	using folder = temporaryFolder();
	const file = join(folder.path, "graph.ndjson");
	await writeImportFile(generateGraph(scale, SEED), file);
	const { code, out, err } = await fleet.run("import", file);
	if (code !== 0) throw new Error(`import failed: ${out}${err}`);
	say(out.trim());
	await caughtUp(fleet);
}
