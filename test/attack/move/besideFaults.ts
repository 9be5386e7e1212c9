import { setTimeout as sleep } from "node:timers/promises";
import {
	databasesByHost,
	HOST_DATABASE,
	OUR_DATABASES,
} from "../../../src/fleet/map/databases.ts";
import { nameOf } from "../../../src/fleet/map/mapRanges.ts";
import { requireCurrent } from "../../../src/fleet/map/publish.ts";
import { moveFactsIn } from "../../../src/fleet/operations/moveFacts.ts";
import {
	isOver,
	listOperations,
} from "../../../src/fleet/operations/operations.ts";
import { FleetServer } from "../../../src/fleet/server/fleetServer.ts";
import type { TopologyStore } from "../../../src/topology/store.ts";
import { type Environment, startProgram } from "../../helpers/program.ts";
import {
	type Aim,
	type Fault,
	killRunner,
	type Ran,
	runToEnd,
} from "./runner.ts";

/** A move that is tried while other faults go on. */
export interface PlannedMove {
	readonly list: "shards" | "lookups";
	/** The first database. If `count` is two, the one beside it moves as well if it is on the same host. */
	readonly first: number;
	readonly count: number;
	readonly end: "complete" | "reverse" | "cancel";
	/** When runners are killed, at most one for each command; none: not at all. */
	readonly kills: readonly {
		readonly afterStep: string | null;
		readonly ms: number;
	}[];
}

export interface TriedMove {
	/** As a sentence. */
	readonly did: string;
	/** Null: it ended as it should. */
	readonly error: string | null;
}

/** What a move needs of a fleet whose map names two hosts. */
export interface MovingFleet {
	readonly env: Environment;
	readonly store: TopologyStore;
	/** URLs of both, as the map names them. */
	readonly hosts: readonly string[];
}

/** A command that ends half-way because a server is away is continued for so long. */
const PATIENCE = { tries: 60, betweenMs: 1_000, limitMs: 120_000 };

/** Moves shards to the other host, and ends that. */
export async function moveBesideFaults(
	fleet: MovingFleet,
	planned: PlannedMove,
	began: (what: string) => void,
): Promise<TriedMove> {
	const { shards, from, to } = await sideOf(fleet, planned);
	const { list, end } = planned;
	const what = `${list} ${shards} from ${from} to ${to}`;
	began(what);
	const args = [
		...[
			"shards",
			"move",
			...(list === "shards" ? [] : [list]),
			shards,
			"--to",
			to,
		],
		...["--wave-size", "1", "--settle", "0ms", "--max-pause", "2s", "--yes"],
	];
	await using runners = new AsyncDisposableStack();
	const did: string[] = [];
	const [first = [], ...others] = planned.kills.map((kill) => [
		killRunner(kill),
	]);
	const go = async (aim: Omit<Aim, "args">, faults: readonly Fault[] = []) => {
		const own =
			aim.way === "move" ? args : ["moves", aim.way, aim.id as string, "--yes"];
		const ran = await runToEnd(fleet, { ...aim, args: own }, faults, PATIENCE);
		did.push(described(aim.way, ran));
		if (ran.isReached && ran.id !== null) return ran.id;
		const { code, out, err } = ran.ended;
		throw new Error(
			`exit code ${code}\n${ran.record?.log.join("\n")}\n${out}${err}`,
		);
	};
	try {
		const id =
			end === "cancel"
				? await beginMove(fleet, args, first, runners)
				: await go(
						{ way: "move", id: null, at: "to", step: "way open" },
						first,
					);
		const isDone = end === "complete";
		await go(
			{
				way: end,
				id,
				at: isDone ? "to" : "from",
				step: isDone ? "done" : "rolled back",
			},
			others.flat(),
		);
		return { did: `${what}: ${did.join("; ")}`, error: null };
	} catch (thrown) {
		return { did: `${what}: ${did.join("; ")}`, error: String(thrown) };
	}
}

/** One that waits for an operator before it switches: its id. Its runner continues, or was killed. */
async function beginMove(
	fleet: MovingFleet,
	args: readonly string[],
	[kill]: readonly Fault[],
	runners: AsyncDisposableStack,
): Promise<string> {
	for (let attempt = 0; ; attempt++) {
		const runner = runners.use(
			startProgram([...args, "--cut-over", "ask"], {
				env: fleet.env,
				input: "",
			}),
		);
		try {
			await runner.printed("err", /^locked$/m);
			const [id = ""] = /^move-\S+$/m.exec(runner.err()) ?? [];
			const isCopied = runner.printed("err", /^ids raised$/m).catch(() => {});
			await (kill?.(runner) ?? isCopied);
			return id;
		} catch (thrown) {
			// Refused, as a server is away.
			if (attempt === PATIENCE.tries) throw thrown;
			await sleep(PATIENCE.betweenMs);
		}
	}
}

function described(
	way: Aim["way"],
	{ record, resumed, happened }: Ran,
): string {
	const waves = record === null ? [] : moveFactsIn(record).waves;
	const pauses = waves.flatMap((wave) => wave.pauses);
	const waited =
		pauses.length === 0 ? "" : `, writes waited ${pauses.join(" and ")} ms`;
	const killed = happened.map(({ step }) => `, killed after ${step}`).join("");
	return `${way}: ${record?.step ?? "refused"}${killed}, ${resumed} more commands${waited}`;
}

/** What moves where, as the map is now. */
async function sideOf(
	{ store, hosts }: MovingFleet,
	{ list, first, count }: PlannedMove,
) {
	const { topology } = await requireCurrent(store);
	const hostOf = (shard: number) =>
		topology[list]
			.filter(({ range: [low, high] }) => low <= shard && shard <= high)
			.map(({ primary }) => nameOf(primary))[0];
	const from = hostOf(first);
	const to = hosts.map(nameOf).find((host) => host !== from);
	if (from === undefined || to === undefined) {
		throw new Error(`expected ${list} ${first} on one of two hosts`);
	}
	const beside = first ^ 1;
	const isPair = count === 2 && hostOf(beside) === from;
	const [low, high] = [Math.min(first, beside), Math.max(first, beside)];
	return { from, to, shards: isPair ? `${low}-${high}` : String(first) };
}

/** What is not as it is once all moves are over: each database on the host that the map names and nowhere else, and nothing left behind. */
export async function leftOfMoves({
	env,
	store,
	hosts,
}: MovingFleet): Promise<readonly string[]> {
	const left: string[] = [];
	for (const record of await listOperations(store)) {
		if (!isOver(record)) left.push(`${record.id} is at ${record.step}`);
	}
	for (const path of ["locks", "wishes", "heartbeats"]) {
		for (const name of await store.list(path)) left.push(`${path}/${name}`);
	}
	const { topology } = await requireCurrent(store);
	const expected = databasesByHost(topology);
	for (const url of hosts) {
		await using server = new FleetServer(url, env);
		const rows = await server.rows(
			"databases",
			`SELECT schema_name, options FROM information_schema.schemata_extensions
				WHERE schema_name REGEXP '${OUR_DATABASES}' OR schema_name REGEXP '^park_|^corkboard_'`,
		);
		const names = new Set(expected.get(server.name));
		for (const [name, options] of rows) {
			const database = String(name);
			// A host that has lookups alone keeps its own.
			const isKept = database === HOST_DATABASE && expected.has(server.name);
			if (!names.delete(database) && !isKept)
				left.push(`${server.name} has ${database}`);
			if (String(options).includes("READ ONLY=1"))
				left.push(`${server.name} has ${database} fenced`);
		}
		for (const name of names) left.push(`${server.name} lacks ${name}`);
	}
	return left;
}
