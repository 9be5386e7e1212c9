import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
	type Ended,
	type Environment,
	runProgram,
	type Served,
	serve,
} from "../../helpers/program.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { caughtUp, type Pair, startMysqlPair } from "../../services/mysql.ts";
import type { Server } from "../../services/server.ts";
import { startEnsemble, startZookeeper } from "../../services/zookeeper.ts";
import { Client, signUp, type Writer } from "./load.ts";

export interface FleetOptions {
	readonly servers: number;
	/** Where the topology is: in a file, one ZooKeeper server, or three. */
	readonly store: "file" | "zookeeper" | "ensemble";
	/** How many shards are open at first. */
	readonly shards: number;
}

/** Server processes on a MySQL primary and its replica, with users who write. */
export interface Fleet extends AsyncDisposable {
	readonly primary: Server;
	readonly replica: Server;
	readonly servers: readonly Served[];
	readonly clients: readonly Client[];
	readonly writers: readonly Writer[];
	readonly zookeepers: readonly Server[];
	/** What `corkboard` is run with. */
	readonly env: Environment;
	/** Runs `corkboard` with these arguments. */
	run(...args: string[]): Promise<Ended>;
	/** Another pair, without any tables. */
	startPair(): Promise<Pair>;
}

const SECRET = "of the attack for its servers alone 32 bytes or more";
const WRITERS = 24;

export async function startFleet(options: FleetOptions): Promise<Fleet> {
	await using stack = new AsyncDisposableStack();
	const pair = stack.use(await startMysqlPair());
	const folder = stack.use(temporaryFolder());
	const file = join(folder.path, "topology.json");
	writeFileSync(file, JSON.stringify(topologyOf(pair, options.shards)));
	const zookeepers = await startStore(options.store, stack);
	const addresses = zookeepers.map(({ address }) => address).join();
	const env = {
		CORKBOARD_TOPOLOGY: addresses ? `zk://${addresses}/corkboard` : file,
		CORKBOARD_TOPOLOGY_COPY: join(folder.path, "topology.kept"),
		CORKBOARD_MODE: "development",
		CORKBOARD_SECRET: SECRET,
		CORKBOARD_RATE_LIMIT: "off",
		HOST: "127.0.0.1",
	};
	const run = (...args: string[]) => runProgram(args, { env });
	const must = async (...args: string[]) => {
		const { code, out, err } = await run(...args);
		if (code !== 0) throw new Error(`${args.join(" ")} failed: ${out}${err}`);
	};
	if (zookeepers.length > 0) await must("map", "publish", file);
	await must("init");
	await caughtUp(pair);
	const served = await startServers(stack, env, options.servers, WRITERS);
	const owned = stack.move();
	return {
		...pair,
		...served,
		zookeepers,
		env,
		run,
		startPair: async () => owned.use(await startMysqlPair()),
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}

/** Server processes, and users who write there. */
export async function startServers(
	stack: AsyncDisposableStack,
	env: Environment,
	count: number,
	writing: number,
): Promise<Pick<Fleet, "servers" | "clients" | "writers">> {
	const servers = await Promise.all(
		Array.from({ length: count }, async () => stack.use(await serve(env))),
	);
	const clients = servers.map(({ url }) => stack.use(new Client(url)));
	const writers: Writer[] = [];
	for (let nth = 0; nth < writing; nth++) {
		const client = clients[nth % clients.length] as Client;
		writers.push(await signUp(client, `writer_${nth}`));
	}
	return { servers, clients, writers };
}

async function startStore(
	store: FleetOptions["store"],
	stack: AsyncDisposableStack,
): Promise<readonly Server[]> {
	if (store === "file") return [];
	if (store === "zookeeper") return [stack.use(await startZookeeper())];
	return stack.use(await startEnsemble()).servers;
}

function topologyOf({ primary, replica }: Pair, shards: number) {
	const hosts = { primary: primary.url, replica: replica.url };
	const range = [0, shards - 1];
	return {
		version: 1,
		shards: [{ range, ...hosts, open: true }],
		lookups: [{ range: [0, 3], ...hosts }],
	};
}
