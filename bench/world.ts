import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Databases, startDatabases } from "./databases.ts";
import { type Graph, generateGraph } from "./graph/generate.ts";
import { readGraph } from "./graph/readGraph.ts";
import { writeImportFile, writeTables } from "./graph/writeGraph.ts";
import { Loader } from "./load/loader.ts";
import type { Options } from "./options.ts";
import { type Pools, poolsOf } from "./pools.ts";
import { documentFile, QUERY_NAMES, textOf } from "./queries.ts";
import { moveToOtherCores } from "./servers/cores.ts";
import {
	type CorkboardFiles,
	importPatiently,
	readIds,
	type StoreName,
	startCorkboard,
} from "./servers/corkboard.ts";
import { installPeers, loadPeers, PEERS, startPeer } from "./servers/peers.ts";
import type { ServerProcess } from "./servers/serverProcess.ts";
import { serverName, VARIANTS, type VariantName } from "./variants.ts";

/** Everything that a run measures, and measures with. */
export interface World extends AsyncDisposable {
	readonly options: Options;
	readonly graph: Graph;
	readonly lines: number;
	readonly importFile: string;
	readonly pools: Pools;
	readonly databases: Databases;
	readonly files: CorkboardFiles;
	readonly loader: Loader;
	/** Seconds that the import took, by store. */
	readonly imports: ReadonlyMap<StoreName, number>;
	/** The process that serves a variant. It is started on the first use. */
	serverOf(variant: VariantName): Promise<ServerProcess>;
	/** How a variant names an object: import key to id. */
	idOf(variant: VariantName, key: string): string;
	/** The import key of an id. */
	keyOf(variant: VariantName, id: string): string;
}

/** What a benchmark of its own has otherwise. */
interface Given {
	/** Instead of the one that the options name. */
	readonly graph?: Graph | null;
	/** Settings of every Corkboard. */
	readonly env?: Readonly<Record<string, string>>;
	/** Around the import, when the servers of the stores run. */
	readonly around?: (
		files: CorkboardFiles,
		load: () => Promise<void>,
	) => Promise<void>;
}

export async function createWorld(
	options: Options,
	say: (text: string) => void,
	signal: AbortSignal,
	{ graph: given = null, env = {}, around = (_, load) => load() }: Given = {},
): Promise<World> {
	await using stack = new AsyncDisposableStack();
	const folder = await mkdtemp(join(tmpdir(), "corkboard-bench-"));
	stack.defer(() => rm(folder, { recursive: true, force: true }));
	const variants = options.variants.map((name) => VARIANTS[name]);
	const peers = variants.flatMap(({ server }) =>
		server.kind === "peer" ? [server.peer] : [],
	);
	const stores = [
		...new Set(
			variants.flatMap(({ server }) =>
				server.kind === "corkboard" ? [server.store] : [],
			),
		),
	];
	if (peers.some((name) => PEERS[name].database !== "none")) {
		await installPeers(say, signal);
	}
	const graph =
		given ??
		(options.graph === null
			? generateGraph(options.scale, options.seed)
			: await readGraph(options.graph));
	const importFile = join(folder, "graph.ndjson");
	const lines = await writeImportFile(graph, importFile);
	await writeTables(graph, folder);
	say(
		`graph: ${graph.users.length} users, ${graph.boards.length} boards, ${graph.pins.length} pins, ${graph.likes.length} likes, ${graph.follows.length} follows`,
	);
	const uses = (database: string) =>
		peers.some((name) => PEERS[name].database === database);
	const databases = stack.use(
		await startDatabases({
			shards: options.shards,
			hosts: options.hosts,
			fleet: stores.some((store) => store !== "sqlite"),
			mysql: uses("mysql"),
			postgres: uses("postgres"),
			redis: peers.includes("drizzlePromises"),
			folder,
		}),
	);
	const documents = join(folder, "documents.json");
	await writeFile(
		documents,
		documentFile([
			...options.documents,
			...[...QUERY_NAMES, "q5" as const].map((name) =>
				textOf("corkboard", name),
			),
		]),
	);
	const files: CorkboardFiles = {
		databases,
		dataFolder: join(folder, "data"),
		documents,
		env,
		...(options.root !== null && { root: options.root }),
	};
	say(`importing ${lines} lines`);
	const began = performance.now();
	const imports = new Map<StoreName, number>();
	const importInto = async (store: StoreName) => {
		imports.set(store, await importPatiently(store, importFile, files, signal));
	};
	const onMysql = stores.some((store) => store !== "sqlite");
	// As an operator would at first: the caches are empty and nobody reads yet.
	await around(files, async () => {
		const loaded = await Promise.allSettled([
			onMysql ? importInto("mysql") : undefined,
			stores.includes("sqlite") ? importInto("sqlite") : undefined,
			loadPeers(folder, databases, signal),
		]);
		for (const outcome of loaded) {
			if (outcome.status === "rejected") throw outcome.reason;
		}
	});
	say(`loaded in ${((performance.now() - began) / 1_000).toFixed(0)} s`);
	const fleetIds = onMysql ? await readIds("mysql", files) : new Map();
	const sqliteIds = stores.includes("sqlite")
		? await readIds("sqlite", files)
		: new Map();
	const fleetKeys = reversed(fleetIds);
	const sqliteKeys = reversed(sqliteIds);

	const loader = stack.use(new Loader());
	moveToOtherCores(loader.pid);
	const servers = new Map<string, Promise<ServerProcess>>();
	const owned = stack.move();
	const startOf = async (variant: VariantName) => {
		const { server } = VARIANTS[variant];
		return owned.use(
			server.kind === "peer"
				? await startPeer(server.peer, databases)
				: await startCorkboard(server.store, files),
		);
	};
	const pools = poolsOf(graph, options.seed);
	const isSqlite = (variant: VariantName) => {
		const { server } = VARIANTS[variant];
		return server.kind === "corkboard" && server.store === "sqlite";
	};
	return {
		options,
		graph,
		lines,
		importFile,
		pools,
		databases,
		files,
		loader,
		imports,
		serverOf(variant) {
			const name = serverName(VARIANTS[variant]);
			let server = servers.get(name);
			if (server === undefined) {
				server = startOf(variant);
				servers.set(name, server);
			}
			return server;
		},
		idOf(variant, key) {
			if (VARIANTS[variant].server.kind === "peer") return key.slice(2);
			const id = (isSqlite(variant) ? sqliteIds : fleetIds).get(key);
			if (id === undefined) throw new Error(`${key} was not imported.`);
			return id;
		},
		keyOf(variant, id) {
			if (VARIANTS[variant].server.kind === "peer") return id;
			const keys = isSqlite(variant) ? sqliteKeys : fleetKeys;
			return keys.get(id)?.slice(2) ?? `unknown ${id}`;
		},
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}

function reversed(
	map: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
	return new Map([...map].map(([key, id]) => [id, key]));
}
