import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { createConnection, type RowDataPacket } from "mysql2/promise";
import { startProgram } from "../helpers/program.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";
import { startMemcached } from "../services/memcached.ts";
import { caughtUp, startMysql } from "../services/mysql.ts";
import { startRedis } from "../services/redis.ts";
import type { Server } from "../services/server.ts";
import { checkOf, fileText, readCompose, serviceOf } from "./composeFile.ts";

/**
 * What `docker compose up` does, without docker: the same scripts, options,
 * settings and health checks, with our own servers in the containers' place.
 */
const compose = readCompose();
const NAMES = ["mysql-a", "mysql-a-replica", "mysql-b", "mysql-b-replica"];

const stack = new AsyncDisposableStack();
after(() => stack.disposeAsync());
const started = await Promise.all(
	NAMES.map(async (name) => {
		const { command } = serviceOf(compose, name);
		const args = ["--performance-schema=ON", ...command];
		return [name, stack.use(await startMysql({ args }))] as const;
	}),
);
const servers = new Map<string, Server>(started);
const memcached = stack.use(await startMemcached());
const redis = stack.use(await startRedis());

function server(name: string): Server {
	const found = servers.get(name);
	if (found === undefined) throw new Error(`no server ${name}`);
	return found;
}

/** Text of ours with the addresses that the servers have here. */
function here(text: string): string {
	return text
		.replaceAll(/@([\w-]+):3306/g, (_, name) => `@${server(name).address}`)
		.replace(
			/SOURCE_HOST = '([\w-]+)',\s*SOURCE_PORT = 3306/,
			(_, name) =>
				`SOURCE_HOST = '127.0.0.1', SOURCE_PORT = ${server(name).port}`,
		);
}

/** The rows of the last statement. */
async function sql(
	url: string,
	text: string,
): Promise<readonly RowDataPacket[]> {
	const connection = await createConnection({
		uri: url,
		multipleStatements: true,
		connectTimeout: 60_000,
	});
	try {
		const [rows] = await connection.query<RowDataPacket[]>({
			sql: text,
			timeout: 60_000,
		});
		return rows;
	} finally {
		connection.destroy();
	}
}

function as(user: string, name: string): string {
	return `mysql://${user}@${server(name).address}`;
}

/** The statement of a health check, and what its user gets. */
function healthOf(name: string): Promise<readonly RowDataPacket[]> {
	const command = checkOf(serviceOf(compose, name)).join(" ");
	const [, statement] =
		/--execute="?([^"|]+)"?/.exec(command.replaceAll("\n", " ")) ?? [];
	assert.match(command, /--user=corkboard_health/);
	return sql(as("corkboard_health", name), statement ?? "");
}

for (const name of NAMES) {
	const scripts = (serviceOf(compose, name).volumes ?? [])
		.filter((volume) => volume.includes("initdb.d"))
		.map((volume) => volume.split(":") as [string, string])
		.toSorted(([, a], [, b]) => (a < b ? -1 : 1));
	for (const [script] of scripts) {
		await sql(server(name).url, here(fileText(script)));
	}
}

describe("the scripts of docker-compose.yml", () => {
	test("leave each server without transactions in its history", async () => {
		for (const name of NAMES) {
			const [row] = await sql(
				server(name).url,
				"SELECT @@global.gtid_executed AS gtids",
			);
			assert.equal(row?.gtids, "", name);
		}
	});

	test("make a read-only replica at the next start and at every later one", async () => {
		for (const [primary, replica] of [
			["mysql-a", "mysql-a-replica"],
			["mysql-b", "mysql-b-replica"],
		] as const) {
			// In force from the next start on, unless it is one with --no-defaults, as
			// those of our tests' servers are.
			const persisted = JSON.parse(
				readFileSync(
					join(server(replica).folder, "data", "mysqld-auto.cnf"),
					"utf8",
				),
			);
			const { super_read_only } = persisted.mysql_dynamic_variables;
			assert.equal(super_read_only.Value, "ON");
			const before = await healthOf(replica);
			assert.deepEqual(Object.values(before[0] ?? {}), [0]);
			for (const start of [1, 2]) {
				await server(replica).restart();
				await until("replication to run", async () => {
					const [row] = await healthOf(replica);
					return Object.values(row ?? {})[0] === 1;
				});
				const text = `CREATE DATABASE db0000${start}`;
				await sql(as("corkboard_api:corkboard", primary), text);
				await caughtUp({
					primary: server(primary),
					replica: server(replica),
				});
			}
		}
	});

	test("allow the API to create its own databases only, and the health check to read nothing", async () => {
		const api = as("corkboard_api:corkboard", "mysql-a");
		await sql(api, "CREATE DATABASE mod00009");
		for (const refused of [
			"CREATE DATABASE other",
			"CREATE DATABASE db000001",
			"DROP DATABASE mod00009",
			"SET GLOBAL read_only = OFF",
			"SELECT * FROM mysql.user",
		]) {
			await assert.rejects(sql(api, refused), (thrown) =>
				[1044, 1142, 1227].includes((thrown as { errno: number }).errno),
			);
		}
		await assert.rejects(
			sql(as("corkboard_health", "mysql-a"), "CREATE DATABASE db00008"),
			{ errno: 1044 },
		);
		await assert.rejects(
			sql(as("corkboard_replica:corkboard", "mysql-a"), "CREATE DATABASE db1"),
			{ errno: 1044 },
		);
	});

	test("report a primary as healthy, and a replica without its primary as unhealthy", async () => {
		assert.deepEqual(Object.values((await healthOf("mysql-b"))[0] ?? {}), [1]);
		await sql(server("mysql-b-replica").url, "STOP REPLICA IO_THREAD");
		const [row] = await healthOf("mysql-b-replica");
		assert.deepEqual(Object.values(row ?? {}), [0]);
		await sql(server("mysql-b-replica").url, "START REPLICA");
	});
});

test("init creates the tables and the API serves, with these files and users", async () => {
	using folder = temporaryFolder();
	const file = join(folder.path, "topology.json");
	writeFileSync(file, here(fileText("deploy/topology/topology.json")));
	const env = {
		CORKBOARD_TOPOLOGY: file,
		CORKBOARD_MEMCACHED: memcached.address,
		CORKBOARD_REDIS: redis.url,
		CORKBOARD_SECRET: "x".repeat(32),
		HOST: "127.0.0.1",
		PORT: "0",
		CORKBOARD_ADMIN: "127.0.0.1:0",
	};
	assert.deepEqual(
		Object.keys(serviceOf(compose, "api").environment ?? {}).filter(
			(name) => !(name in env),
		),
		[
			"CORKBOARD_MODE",
			"CORKBOARD_LOG",
			"OTEL_EXPORTER_OTLP_ENDPOINT",
			"OTEL_TRACES_SAMPLER",
			"OTEL_TRACES_SAMPLER_ARG",
		],
	);
	await using tables = startProgram(serviceOf(compose, "tables").command, {
		env,
	});
	assert.deepEqual(
		{ code: (await tables.ended).code, out: tables.out() },
		{ code: 0, out: "32 shards and 32 mod shards have all their tables\n" },
	);
	await using api = startProgram(serviceOf(compose, "api").command, { env });
	const [, url = ""] = await api.printed(
		"out",
		/Server listening at (http:\/\/[0-9.]+:\d+)/,
	);
	await until(
		"the API ready",
		async () => (await fetch(`${url}/health/ready`)).ok,
	);
	const answer = await fetch(`${url}/graphql`, {
		method: "POST",
		headers: { "content-type": "application/json" },
		body: JSON.stringify({
			query: `mutation {
				createUser(input: {
					username: "ada", name: "Ada", email: "ada@example.com"
				}) { user { username boards { totalCount } } }
			}`,
		}),
	});
	assert.deepEqual(await answer.json(), {
		data: {
			createUser: { user: { username: "ada", boards: { totalCount: 0 } } },
		},
	});
	api.send("SIGTERM");
	assert.equal((await api.ended).code, 0);
	for (const pair of ["mysql-a", "mysql-b"]) {
		await caughtUp({
			primary: server(pair),
			replica: server(`${pair}-replica`),
		});
	}
	const counts = await Promise.all(
		["mysql-a-replica", "mysql-b-replica"].map(async (name) => {
			const [row] = await sql(
				server(name).url,
				"SELECT COUNT(*) AS n FROM information_schema.tables WHERE table_schema REGEXP '^(db|mod)[0-9]{5}$'",
			);
			return Number(row?.n);
		}),
	);
	assert.ok(
		counts.every((count) => count > 100),
		`expected all tables on the replicas but got: ${counts}`,
	);
});
