import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ask } from "../../helpers/mysqlStorage.ts";
import { type Environment, serve } from "../../helpers/program.ts";
import { runHere } from "../../helpers/runCommand.ts";
import { TcpProxy } from "../../helpers/tcpProxy.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { startMemcached } from "../../services/memcached.ts";
import { caughtUp, startMysqlPair } from "../../services/mysql.ts";
import { startRedis } from "../../services/redis.ts";
import type { Server } from "../../services/server.ts";
import { PASSWORD, USER } from "../../services/sql.ts";
import type { Acknowledged } from "./evidence.ts";
import { Client } from "./load.ts";

/** How soon writes go on: two seconds are what is promised; a busy machine gets more. */
export const BACK_MS = 10_000;

export type NamedFleet = Awaited<ReturnType<typeof startNamedFleet>>;

/** Server processes with both caches, and a pair of which they know one name only. It leads to `a` at first. */
export async function startNamedFleet({
	servers: count = 2,
	env: more = {},
}: {
	readonly servers?: number;
	readonly env?: Environment;
} = {}) {
	await using stack = new AsyncDisposableStack();
	const pair = stack.use(await startMysqlPair());
	const memcached = stack.use(await startMemcached());
	const redis = stack.use(await startRedis());
	const { primary: a, replica: b } = pair;
	const name = stack.use(await TcpProxy.to(a.port));
	const folder = stack.use(temporaryFolder());
	const file = join(folder.path, "topology.json");
	const host = `127.0.0.1:${name.port}`;
	const primary = `mysql://${USER}:${PASSWORD}@${host}`;
	const range = [0, 1];
	writeFileSync(
		file,
		JSON.stringify({
			version: 1,
			shards: [{ range, primary, open: true }],
			lookups: [{ range, primary }],
		}),
	);
	const env = {
		CORKBOARD_TOPOLOGY: file,
		CORKBOARD_MODE: "development",
		CORKBOARD_SECRET: "of this fleet alone of 32 bytes or more",
		CORKBOARD_MEMCACHED: memcached.address,
		CORKBOARD_REDIS: redis.url,
		HOST: "127.0.0.1",
		PORT: "0",
		...more,
	};
	const made = await runHere(["init"], { env });
	if (made.code !== 0) throw new Error(`init failed: ${made.err}`);
	const servers = await Promise.all(
		Array.from({ length: count }, async () => stack.use(await serve(env))),
	);
	const clients = servers.map(({ url }) => stack.use(new Client(url)));
	const owned = stack.move();
	return {
		a,
		b,
		name,
		host,
		env,
		clients,
		servers,
		/** Runs a command and returns what it prints with `--json`. */
		async run(...args: readonly string[]) {
			const { code, out, err } = await runHere([...args, "--json"], { env });
			if (out === "") throw new Error(`${args.join(" ")} failed: ${err}`);
			return { code, json: JSON.parse(out) };
		},
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}

export const takeWrites = (server: Server) =>
	ask(
		server,
		"STOP REPLICA",
		"RESET REPLICA ALL",
		"SET GLOBAL super_read_only = OFF",
		"SET GLOBAL read_only = OFF",
	);

export async function follow(replica: Server, source: Server, delay = 0) {
	await ask(
		replica,
		`CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = ${source.port}, SOURCE_USER = '${USER}', SOURCE_PASSWORD = '${PASSWORD}', SOURCE_AUTO_POSITION = 1, SOURCE_CONNECT_RETRY = 1, SOURCE_RETRY_COUNT = 0, GET_SOURCE_PUBLIC_KEY = 1, SOURCE_DELAY = ${delay}`,
		"START REPLICA",
	);
}

/** As a managed database does it: the old one takes no writes, the new one has all. */
export async function failOver(old: Server, next: Server) {
	await ask(old, "SET GLOBAL super_read_only = ON");
	await caughtUp({ primary: old, replica: next });
	await takeWrites(next);
}

/** New users with names of their own, at a fixed rate: each that is refused is written down. */
export class SignUps {
	/** With their names as titles. */
	readonly acknowledged: Acknowledged[] = [];
	readonly failures: string[] = [];
	readonly #running = new Set<Promise<void>>();
	readonly #timer: NodeJS.Timeout;
	#count = 0;

	constructor(
		clients: readonly Client[],
		prefix: string,
		/** Milliseconds between two. */
		every = 100,
		/** Most that wait for their answers. */
		most = Number.POSITIVE_INFINITY,
	) {
		this.#timer = setInterval(() => {
			if (this.#running.size >= most) return;
			const number = this.#count++;
			const by = number % clients.length;
			const running = this.#one(
				clients[by] as Client,
				by,
				`${prefix}${number}`,
			).finally(() => this.#running.delete(running));
			this.#running.add(running);
		}, every);
	}

	async end(): Promise<void> {
		clearInterval(this.#timer);
		await Promise.all(this.#running);
	}

	async #one(client: Client, by: number, username: string): Promise<void> {
		const began = performance.now();
		try {
			const { made } = (await client.ask(
				"mutation ($input: CreateUserInput!) { made: createUser(input: $input) { user { id } } }",
				{ input: { username } },
			)) as { readonly made: { readonly user: { readonly id: string } } };
			const at = performance.now();
			const { id } = made.user;
			this.acknowledged.push({ id, title: username, at, ms: at - began, by });
		} catch (thrown) {
			this.failures.push(`sign-up ${username}: ${(thrown as Error).message}`);
		}
	}
}
