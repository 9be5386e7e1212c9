import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type Connection, createConnection } from "mysql2/promise";
import { openSource } from "../../../src/ops/migrate/sources/openSource.ts";
import { PAGE } from "../../../src/ops/migrate/sources/source.ts";
import { startMysql } from "../../services/mysql.ts";
import type { Server } from "../../services/server.ts";

describe("an old MySQL", () => {
	let server: Server;
	let connection: Connection;
	let url: string;

	before(async () => {
		server = await startMysql();
		connection = await createConnection({
			uri: server.url,
			multipleStatements: true,
		});
		await connection.query(
			"SET sql_mode = ''; CREATE DATABASE legacy; USE legacy",
		);
		url = `${server.url.replace(/\/$/, "")}/legacy`;
	});
	after(async () => {
		await connection?.end();
		await server?.[Symbol.asyncDispose]();
	});

	/** What a pass reads of a table. */
	async function rowsOf(table: string, ...key: readonly string[]) {
		await using source = await openSource(url, ".");
		const rows = [];
		for await (const page of source.scan({ table, key }, {})) {
			rows.push(...page.map(({ row }) => row));
		}
		return rows;
	}

	async function firstOf<Page>(pages: AsyncIterable<Page>): Promise<Page> {
		for await (const page of pages) return page;
		throw new Error("it has no pages");
	}

	it("is read with its invisible columns, and not without a column that is gone", async () => {
		await connection.query(
			`CREATE TABLE hidden (id INT PRIMARY KEY INVISIBLE, name TEXT, mail TEXT INVISIBLE);
			INSERT INTO hidden (id, name, mail) VALUES (1, 'ada', 'a@b')`,
		);
		assert.deepEqual(await rowsOf("hidden", "id"), [
			{ id: 1, name: "ada", mail: "a@b" },
		]);
		await using source = await openSource(url, ".");
		await connection.query("ALTER TABLE hidden RENAME COLUMN name TO login");
		const scanned = source.scan({ table: "hidden", key: ["id"] }, {});
		await assert.rejects(firstOf(scanned), {
			code: "BAD_CONFIG",
			message: /does not understand the mapping: Unknown column 'name'/,
		});
	});

	it("is read whole where an ENUM or a SET is a part of the key", async () => {
		await connection.query(
			`CREATE TABLE marks (kind ENUM('Pin', 'it''s', 'Board'), tags SET('z', 'a'), n INT, PRIMARY KEY (kind, tags, n));
			INSERT INTO marks WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${PAGE / 4})
				SELECT kind, tags, n FROM numbers, (VALUES ROW('Pin'), ROW('it''s'), ROW('Board'), ROW('none')) AS kinds (kind), (VALUES ROW(''), ROW('z'), ROW('a,z')) AS sets (tags)`,
		);
		const rows = await rowsOf("marks", "kind", "tags", "n");
		const keys = rows.map(({ kind, tags, n }) => `${kind} ${tags} ${n}`);
		assert.equal(keys.length, 3 * PAGE);
		assert.equal(new Set(keys).size, 3 * PAGE);
	});

	it("is read without rounding numbers, and with bits as numbers", async () => {
		await connection.query(
			`CREATE TABLE numbers (id BIGINT UNSIGNED PRIMARY KEY, flag BIT(1), flags BIT(12), amount DECIMAL(30, 10));
			INSERT INTO numbers VALUES (9007199254740993, 1, 300, 12345678901234567890.5), (18446744073709551615, 0, NULL, 1)`,
		);
		assert.deepEqual(await rowsOf("numbers", "id"), [
			{
				id: "9007199254740993",
				flag: 1,
				flags: 300,
				amount: "12345678901234567890.5000000000",
			},
			{
				id: "18446744073709551615",
				flag: 0,
				flags: null,
				amount: "1.0000000000",
			},
		]);
		await using source = await openSource(url, ".");
		const after = source.scan(
			{ table: "numbers", key: ["id"] },
			{ after: ["9007199254740992"] },
		);
		assert.equal((await firstOf(after)).length, 2);
	});
});
