import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { createConnection, type RowDataPacket } from "mysql2/promise";
import { runProgram } from "../helpers/program.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { caughtUp, type Pair, startMysql } from "../services/mysql.ts";
import type { Server } from "../services/server.ts";
import { fileText, mountOf, readCompose, serviceOf } from "./composeFile.ts";

const compose = readCompose();
const PRIMARY = "mysql-a";
const REPLICA = "mysql-a-replica";

/** The rows of the last statement. */
async function sql(url: string, text: string): Promise<RowDataPacket[]> {
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

const as = (user: string, server: Server) =>
	`mysql://${user}@${server.address}`;

describe("the scripts of docker-compose.yml, on a MySQL pair of ours", () => {
	const stack = new AsyncDisposableStack();
	let pair: Pair;
	before(async () => {
		const start = async (name: string) =>
			stack.use(
				await startMysql({ args: [...serviceOf(compose, name).command] }),
			);
		const primary = await start(PRIMARY);
		const replica = await start(REPLICA);
		pair = { primary, replica, [Symbol.asyncDispose]: async () => {} };
		for (const [name, server] of [
			[PRIMARY, primary],
			[REPLICA, replica],
		] as const) {
			const scripts = (serviceOf(compose, name).volumes ?? [])
				.map(mountOf)
				.filter(({ target }) => target.includes("initdb.d"))
				.toSorted((a, b) => (a.target < b.target ? -1 : 1));
			for (const { source } of scripts) {
				const text = fileText(source).replace(
					/SOURCE_HOST = '[\w-]+',\s*SOURCE_PORT = 3306/,
					`SOURCE_HOST = '127.0.0.1', SOURCE_PORT = ${primary.port}`,
				);
				await sql(server.url, text);
			}
		}
		// Replication begins at the next start, as after docker's first one.
		await replica.restart();
	});
	after(() => stack.disposeAsync());

	test("let init make all tables as the user of the topology, and replicate them", async () => {
		using folder = temporaryFolder();
		const file = join(folder.path, "topology.json");
		const topology = JSON.parse(fileText("deploy/topology/topology.json"));
		const [range] = topology.shards;
		const user = new URL(range.primary);
		user.host = pair.primary.address;
		const ranges = [{ range: [0, 1], primary: user.href }];
		writeFileSync(
			file,
			JSON.stringify({
				version: 1,
				shards: ranges.map((one) => ({ ...one, open: true })),
				lookups: ranges,
			}),
		);
		const { code, out, err } = await runProgram(["init"], {
			env: { CORKBOARD_TOPOLOGY: file, CORKBOARD_SECRET: "x".repeat(32) },
		});
		assert.equal(code, 0, out + err);
		await caughtUp(pair);
		const [row] = await sql(
			pair.replica.url,
			"SELECT COUNT(*) AS n FROM information_schema.tables WHERE table_schema REGEXP '^(db|mod)[0-9]{5}$'",
		);
		assert.ok(Number(row?.n) > 20, `${row?.n} tables`);
	});

	test("let the API make its own databases only, and the health check read nothing", async () => {
		const { primary } = pair;
		const api = as("corkboard_api:corkboard", primary);
		await sql(api, "CREATE DATABASE mod00009");
		for (const refused of [
			"CREATE DATABASE other",
			"DROP DATABASE mod00009",
			"SET GLOBAL read_only = OFF",
			"SELECT * FROM mysql.user",
		]) {
			await assert.rejects(sql(api, refused), (thrown) =>
				[1044, 1142, 1227].includes((thrown as { errno: number }).errno),
			);
		}
		for (const user of ["corkboard_health", "corkboard_replica:corkboard"]) {
			await assert.rejects(
				sql(as(user, primary), "CREATE DATABASE db00008"),
				{ errno: 1044 },
				user,
			);
		}
	});
});
