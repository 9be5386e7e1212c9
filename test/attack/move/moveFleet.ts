import { join } from "node:path";
import { generateGraph } from "../../../bench/graph/generate.ts";
import { writeImportFile } from "../../../bench/graph/writeGraph.ts";
import { openTopologyStore } from "../../../src/app/openTopology.ts";
import { readConfig } from "../../../src/config/config.ts";
import type { TopologyStore } from "../../../src/topology/store.ts";
import { runProgram } from "../../helpers/program.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { caughtUp, type Pair } from "../../services/mysql.ts";
import { type Fleet, type FleetOptions, startFleet } from "../promote/fleet.ts";
import { OpenLoad } from "../promote/load.ts";
import { FenceWatch } from "./fenceWatch.ts";

export interface LoadOptions extends Omit<FleetOptions, "shards" | "store"> {
	readonly store: "file" | "zookeeper";
	/** How many move, from 0 on, and how many stay beside them. */
	readonly shards: number;
	readonly stay: number;
	readonly wave: number;
	/** The scale of the graph that is imported first; 0: none. */
	readonly graph: number;
	/** A second, over all servers. */
	readonly reads: number;
	readonly writes: number;
}

/** A fleet under load, and another pair to move to. */
export interface MoveFleet extends AsyncDisposable {
	readonly fleet: Fleet;
	readonly pairs: readonly [Pair, Pair];
	readonly store: TopologyStore;
	readonly load: OpenLoad;
	readonly fences: FenceWatch;
}

const SEED = 7;
const IMPORT_LIMIT_MS = 3 * 3_600_000;

export async function startMoveFleet(
	options: LoadOptions,
	say: (line: string) => void,
): Promise<MoveFleet> {
	await using stack = new AsyncDisposableStack();
	const { shards, stay } = options;
	const fleet = stack.use(
		await startFleet({ ...options, shards: shards + stay }),
	);
	await importGraph(fleet, options.graph, say);
	const target = await fleet.startPair();
	const { clients, writers, primary, replica } = fleet;
	const { store: place } = readConfig(fleet.env, { secret: "unneeded" });
	if (place.kind === "embedded") throw new Error("a fleet has a topology");
	const store = stack.use(openTopologyStore(place));
	const fences = stack.use(new FenceWatch(store, [primary, target.primary]));
	say(
		`${options.servers} servers, ${primary.address} to ${target.primary.address}`,
	);
	const load = new OpenLoad({ ...options, clients, writers });
	stack.defer(() => load.end());
	const pair: Pair = {
		primary,
		replica,
		[Symbol.asyncDispose]: async () => {},
	};
	const owned = stack.move();
	return {
		fleet,
		pairs: [pair, target],
		store,
		load,
		fences,
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}

/** The arguments of a move of all that moves. */
export function moveTo(
	{ primary, replica }: Pair,
	{ shards, wave }: LoadOptions,
): readonly string[] {
	return [
		...["shards", "move", `0-${shards - 1}`, "--to", primary.url],
		...["--replica", replica.url],
		...[
			"--wave-size",
			String(wave),
			"--settle",
			"1s",
			"--max-pause",
			"1s",
			"--yes",
		],
	];
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
	const { code, out, err } = await runProgram(["import", file], {
		env: fleet.env,
		limitMs: IMPORT_LIMIT_MS,
	});
	if (code !== 0) throw new Error(`import failed: ${out}${err}`);
	say(out.trim());
	await caughtUp(fleet, IMPORT_LIMIT_MS);
}
