import { execFile } from "node:child_process";
import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openFileStore } from "../../../src/topology/file/fileStore.ts";
import type { TopologyStore } from "../../../src/topology/store.ts";
import { reservePort } from "../../services/port.ts";
import type { Server } from "../../services/server.ts";
import { startServices } from "../../services/startServices.ts";
import { ApiServer } from "./apiServer.ts";
import { Link } from "./links.ts";

export const SERVICES = [
	"mysql0",
	"mysql1",
	"memcached",
	"memcached1",
	"redis",
	"redis1",
] as const;
/** What the map names as servers of shared caches. */
export const MEMCACHED = ["memcached", "memcached1"] as const;
export const REDIS = ["redis", "redis1"] as const;
export type ServiceName = (typeof SERVICES)[number];

const LAUNCH = join(import.meta.dirname, "../../../src/cli/launch.mjs");
const SHARDS_PER_HOST = 2;
/** The most tries of a command. */
const TRIES = 3;
const COMMAND_LIMIT_MS = 240_000;
const SECRET = "of the attack for its servers alone 32 bytes or more";

export interface CommandResult {
	readonly code: number;
	readonly out: string;
	readonly err: string;
}

/** Real services, a link in front of each, and server processes that use them. */
export interface AttackFleet extends AsyncDisposable {
	readonly folder: string;
	readonly servers: readonly ApiServer[];
	readonly links: Readonly<Record<ServiceName, Link>>;
	readonly services: Readonly<Record<ServiceName, Server>>;
	/** URLs of the MySQL servers, past the links. */
	readonly databases: readonly string[];
	/** The settings of its processes, and its store. */
	readonly env: Readonly<Record<string, string>>;
	readonly store: TopologyStore;
	/** URLs of the MySQL servers, as the map names them. */
	readonly hosts: readonly string[];
	/** Starts a server, and knows its process from then on. */
	startServer(server: ApiServer): Promise<void>;
	killServer(server: ApiServer): Promise<void>;
	/** The shard map as it is, with the next version. */
	nextTopology(): Promise<string>;
	/** The URL of a shared cache, by its link. */
	cacheUrl(name: (typeof MEMCACHED | typeof REDIS)[number]): string;
	/** In one step, as an operator does, or written in place. */
	writeTopology(text: string, how: "renamed" | "in place"): Promise<void>;
	/** One command line of the program, past all faults. */
	command(args: readonly string[]): Promise<CommandResult>;
}

export async function startAttackFleet(options: {
	readonly servers: number;
	/** Settings of all its processes, beside those of the fleet. */
	readonly settings?: Readonly<Record<string, string>>;
	/** And of one server beside those. */
	readonly settingsOf?: (server: number) => Readonly<Record<string, string>>;
	/** Called when a server ends and nobody killed it. */
	readonly ended: (server: ApiServer, how: string) => void;
}): Promise<AttackFleet> {
	await using stack = new AsyncDisposableStack();
	const own = stack.use(
		await startServices({ mysql: 2, memcached: 2, redis: 2 }),
	);
	const [mysql0, mysql1] = own.mysql as readonly [Server, Server];
	const services = {
		mysql0,
		mysql1,
		memcached: own.memcached[0] as Server,
		memcached1: own.memcached[1] as Server,
		redis: own.redis[0] as Server,
		redis1: own.redis[1] as Server,
	};
	const folder = await mkdtemp(join(tmpdir(), "corkboard-attack-"));
	stack.defer(() => rm(folder, { recursive: true, force: true }));

	const serverOf = new Map<number, number>();
	const linkTo = async (name: ServiceName) =>
		stack.use(await Link.to(name, services[name].port, () => serverOf));
	const links = Object.fromEntries(
		await Promise.all(
			SERVICES.map(async (name) => [name, await linkTo(name)] as const),
		),
	) as Readonly<Record<ServiceName, Link>>;
	const ranges = ([mysql0, mysql1] as const).map((server, n) => ({
		range: [n * SHARDS_PER_HOST, (n + 1) * SHARDS_PER_HOST - 1],
		primary: server.url.replace(
			`:${server.port}`,
			`:${links[n === 0 ? "mysql0" : "mysql1"].port}`,
		),
	}));
	const topologyFile = join(folder, "topology.json");
	const cacheUrl: AttackFleet["cacheUrl"] = (name) =>
		`${name.replace("1", "")}://127.0.0.1:${links[name].port}`;
	const topology = JSON.stringify({
		version: 1,
		shards: ranges.map((range) => ({ ...range, open: true })),
		lookups: ranges,
		caches: {
			objects: MEMCACHED.map(cacheUrl),
			lists: REDIS.map(cacheUrl),
		},
	});
	await writeFile(topologyFile, topology, { mode: 0o600 });
	const settings = {
		CORKBOARD_TOPOLOGY: topologyFile,
		CORKBOARD_MODE: "development",
		CORKBOARD_GRAPHIQL: "off",
		CORKBOARD_SECRET: SECRET,
		CORKBOARD_LOG: "warn,json",
		HOST: "127.0.0.1",
		...options.settings,
	};
	/** Again where a connection was late, as on a busy machine. */
	const command = async (args: readonly string[]) => {
		let result = await runOnce(args, settings);
		for (let n = 1; n < TRIES && result.err.includes("ETIMEDOUT"); n++) {
			result = await runOnce(args, settings);
		}
		return result;
	};
	const init = await command(["init"]);
	if (init.code !== 0) throw new Error(`init failed: ${init.out}${init.err}`);

	const servers: ApiServer[] = [];
	for (let number = 0; number < options.servers; number++) {
		servers.push(
			stack.use(
				new ApiServer({
					number,
					folder: join(folder, `server${number}`),
					reserved: await reservePort(),
					settings: { ...settings, ...options.settingsOf?.(number) },
					ended: options.ended,
				}),
			),
		);
	}
	const startServer = (server: ApiServer) =>
		server.start((pid) => serverOf.set(pid, server.number));
	await Promise.all(servers.map(startServer));
	const store = stack.use(openFileStore(topologyFile));
	const owned = stack.move();
	return {
		folder,
		servers,
		links,
		services,
		databases: [mysql0.url, mysql1.url],
		env: settings,
		store,
		hosts: ranges.map(({ primary }) => primary),
		startServer,
		async killServer(server) {
			const { pid } = server;
			await server.kill();
			if (pid !== null) serverOf.delete(pid);
		},
		cacheUrl,
		async nextTopology() {
			const map = JSON.parse(await readFile(topologyFile, "utf8"));
			return JSON.stringify({ ...map, version: map.version + 1 });
		},
		async writeTopology(text, how) {
			if (how === "in place") {
				await writeFile(topologyFile, text);
				return;
			}
			await writeFile(`${topologyFile}.new`, text, { mode: 0o600 });
			await rename(`${topologyFile}.new`, topologyFile);
		},
		command,
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}

function runOnce(
	args: readonly string[],
	settings: Readonly<Record<string, string>>,
): Promise<CommandResult> {
	return new Promise<CommandResult>((resolve) => {
		const { PATH = "", HOME = "", TMPDIR = "/tmp" } = process.env;
		execFile(
			process.execPath,
			[LAUNCH, ...args],
			{
				env: { PATH, HOME, TMPDIR, ...settings },
				timeout: COMMAND_LIMIT_MS,
				maxBuffer: 64 * 1024 * 1024,
			},
			(error, out, err) =>
				resolve({
					code: error === null ? 0 : Number(error.code ?? 1),
					out,
					err,
				}),
		);
	});
}
