import { setTimeout as sleep } from "node:timers/promises";
import type { Cell } from "../cell.ts";
import { fleetOf } from "../databases.ts";
import { readOptions as readBenchOptions } from "../options.ts";
import type { Progress } from "../progress.ts";
import { medianInterval } from "../report/statistics.ts";
import { Reads } from "../sections/reads.ts";
import { Writes } from "../sections/writes.ts";
import {
	type CorkboardFiles,
	runCommand,
	type StoreName,
	startCorkboard,
} from "../servers/corkboard.ts";
import { cpuMsOfAll, residentMb } from "../usage.ts";
import type { VariantName } from "../variants.ts";
import { createWorld } from "../world.ts";
import type { DensityOptions } from "./options.ts";

/** What was measured of one fleet, by name: the unit is its last word. */
export type Figures = Readonly<Record<string, number>>;

const PROCESSES = [0, 1, 4];
/** After the start of a process, before it counts as idle. Milliseconds. */
const SETTLE_MS = 3_000;
/** Nothing is kept in the process, so that every read meets shards or shared caches. */
const NO_PROCESS_CACHE = {
	CORKBOARD_CACHE_MB: "0",
	CORKBOARD_ANSWER_CACHE_MB: "0",
};
const FROM_MYSQL = "mysql" satisfies VariantName & StoreName;
const FROM_CACHES = "uncached" satisfies VariantName & StoreName;
const WARM_MINUTES = 0.5;

/** Measures a fresh fleet with so many shards on one MySQL host. */
export async function measureFleet(
	{ scale, seconds, idleSeconds, rounds }: DensityOptions,
	shards: number,
	root: string | null,
	progress: Progress,
	signal: AbortSignal,
): Promise<Figures> {
	const figures: Record<string, number> = {};
	const note = (name: string, value: number) => {
		figures[name] = value;
		progress.say(`${String(shards).padStart(4)} shards  ${name}: ${value}`);
	};
	const timed = async (
		{ databases }: Pick<CorkboardFiles, "databases">,
		name: string,
		work: () => Promise<unknown>,
	): Promise<number> => {
		const { pid } = fleetOf(databases).mysql;
		const [before, began] = [cpuMsOfAll(pid), performance.now()];
		await work();
		const took = (performance.now() - began) / 1_000;
		note(`${name}, s`, took);
		note(`${name}, database CPU, s`, (cpuMsOfAll(pid) - before) / 1_000);
		return took;
	};
	const options = readBenchOptions([
		...["--scale", String(scale), "--shards", String(shards)],
		...["--seconds", String(seconds), "--only", `${FROM_MYSQL},${FROM_CACHES}`],
		...(root === null ? [] : ["--root", root]),
	]);
	let importSeconds = 0;
	await using world = await createWorld(
		options,
		(text) => progress.say(text),
		signal,
		{
			env: NO_PROCESS_CACHE,
			async around(files, load) {
				await timed(files, "init", () =>
					runCommand(FROM_MYSQL, ["init"], files, signal),
				);
				await measureIdle(files, idleSeconds, note);
				importSeconds = await timed(files, "import", load);
			},
		},
	);
	note("import, lines/s", world.lines / importSeconds);
	await timed(world.files, "verify", () =>
		runCommand(FROM_MYSQL, ["verify"], world.files, signal),
	);
	const reads = new Reads(world, { q1: 0, q2: 0, q3: 0, q4: 0 });
	const writes = new Writes(world);
	const cells: Cell[] = [];
	await reads.warm(
		[FROM_MYSQL, FROM_CACHES],
		Math.min(WARM_MINUTES, seconds / 4),
		signal,
	);
	for (let round = 0; round < rounds; round++) {
		const variants = [FROM_MYSQL, FROM_CACHES] as const;
		for await (const cell of reads.round("reads", round, variants, signal)) {
			cells.push(cell);
		}
		for await (const cell of writes.round(
			"writes",
			round,
			[FROM_CACHES],
			signal,
			[16],
		)) {
			cells.push(cell);
		}
	}
	const groups = Map.groupBy(
		cells,
		({ section, question, variant }) =>
			`${question} ${section === "writes" ? "c = 16" : variant === FROM_MYSQL ? "from MySQL" : "from shared caches"}`,
	);
	for (const [name, group] of groups) {
		const median = (of: (cell: Cell) => number) =>
			medianInterval(group.map(of)).median;
		note(
			`${name}, requests/s`,
			median((cell) => cell.requests / cell.seconds),
		);
		note(
			`${name}, API CPU, ms`,
			median(({ cpuMs }) => cpuMs),
		);
		note(
			`${name}, database CPU, ms`,
			median(({ databaseMs }) => databaseMs),
		);
		note(
			`${name}, p99, ms`,
			median(({ p99 }) => p99),
		);
		note(
			`${name}, errors`,
			group.reduce((sum, { errors }) => sum + errors, 0),
		);
	}
	return figures;
}

/** What processes that nobody asks anything cost the host, and how long one takes to start. */
async function measureIdle(
	files: CorkboardFiles,
	seconds: number,
	note: (name: string, value: number) => void,
): Promise<void> {
	const { pid } = fleetOf(files.databases).mysql;
	await using processes = new AsyncDisposableStack();
	let count = 0;
	for (const wanted of PROCESSES) {
		for (; count < wanted; count++) {
			const began = performance.now();
			const started = processes.use(await startCorkboard(FROM_CACHES, files));
			if (count > 0) continue;
			note("start, s", (performance.now() - began) / 1_000);
			await sleep(SETTLE_MS);
			note("resident memory, MB", residentMb(started.pid));
		}
		await sleep(SETTLE_MS);
		const before = cpuMsOfAll(pid);
		await sleep(seconds * 1_000);
		note(
			`${wanted} idle processes, database CPU, %`,
			(cpuMsOfAll(pid) - before) / (seconds * 10),
		);
	}
}
