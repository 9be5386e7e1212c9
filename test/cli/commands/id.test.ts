import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import pinsApp from "../../../pins/app.ts";
import { readApp } from "../../../src/app/readApp.ts";
import { CorkboardError } from "../../../src/errors.ts";
import { command } from "../../helpers/runCommand.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";

describe("corkboard objects show", () => {
	test('prints the parts of the id in the article "Sharding Pinterest"', async () => {
		// The article decomposes it into shard 3429, type Pin and local id 7075733.
		assert.deepEqual(await command(["objects", "show", "241294492511762325"]), {
			code: 0,
			out: [
				"id        241294492511762325",
				"shard     3429",
				"type      1 (Pin)",
				"local id  7075733",
				"table     db03429.pins",
				"host      none: no range of the topology covers shard 3429",
				"object    missing",
				"",
			].join("\n"),
			err: "",
		});
	});

	test("prints the embedded folder that holds a shard, and reports an unknown type", async () => {
		const id = String((5n << 46n) | (9n << 36n) | 1n);
		const { out } = await command(["objects", "show", id], {
			env: { CORKBOARD_DATA: "elsewhere" },
		});
		assert.match(out, /^type {6}9 \(not a type of the schema\)$/m);
		assert.match(out, /^table {5}none$/m);
		assert.match(out, /^host {6}sqlite:elsewhere$/m);
	});

	test("prints the MySQL host of a shard without user and password, and why the object could not be read", async () => {
		using folder = temporaryFolder();
		const file = join(folder.path, "topology.json");
		const primary = "mysql://app:hunter2@db1";
		writeFileSync(
			file,
			JSON.stringify({
				version: 1,
				shards: [{ range: [0, 4095], primary, open: true }],
				lookups: [{ range: [0, 15], primary }],
			}),
		);
		const { out } = await command(["objects", "show", "241294492511762325"], {
			env: { CORKBOARD_TOPOLOGY: file },
			open: async (_app, { secrets, redis }) => {
				assert.ok(secrets !== null && redis === null);
				throw new CorkboardError("UNAVAILABLE", "db1:3306 does not answer.");
			},
		});
		assert.match(out, /^object {4}unknown: db1:3306 does not answer\.$/m);
		assert.match(out, /^host {6}mysql:\/\/db1:3306$/m);
		assert.doesNotMatch(out, /hunter2/);
	});

	test("prints where the home feed of a user and what waits for it are", async () => {
		using folder = temporaryFolder();
		const file = join(folder.path, "topology.json");
		const on = (host: string) => `mysql://app:hunter2@${host}`;
		writeFileSync(
			file,
			JSON.stringify({
				version: 1,
				shards: [{ range: [0, 7], primary: on("db1"), open: true }],
				lookups: [{ range: [0, 15], primary: on("db1") }],
				queues: [{ range: [0, 0], primary: on("db2") }],
				feeds: [{ range: [4, 7], primary: on("db3") }],
				pools: [
					{ range: [0, 1], primary: on("db4") },
					{ range: [2, 3], primary: on("db5") },
				],
			}),
		);
		const describe = async (type: string, shard: number) => {
			const number = readApp(pinsApp).model.objects.get(type)?.number;
			assert.ok(number !== undefined);
			const id = String((BigInt(shard) << 46n) | (BigInt(number) << 36n) | 1n);
			const given = {
				env: { CORKBOARD_TOPOLOGY: file },
				open: async () => {
					throw new CorkboardError("UNAVAILABLE", "No host answers.");
				},
			};
			const { feedLists, pool } = JSON.parse(
				(await command(["objects", "show", id, "--json"], given)).out,
			);
			return {
				feedLists,
				pool,
				lines: (await command(["objects", "show", id], given)).out,
			};
		};
		const { lines, ...places } = await describe("User", 6);
		assert.deepEqual(places, {
			feedLists: { database: "feed00006", host: "mysql://db3:3306" },
			pool: { database: "pool00002", host: "mysql://db5:3306" },
		});
		assert.match(lines, /^feed lists {2}feed00006 on mysql:\/\/db3:3306$/m);
		assert.match(lines, /^pool {8}pool00002 on mysql:\/\/db5:3306$/m);
		assert.doesNotMatch(lines, /hunter2/);
		const { feedLists, pool } = await describe("User", 1);
		assert.deepEqual([feedLists, pool?.database], [null, "pool00001"]);
		const ofPin = await describe("Pin", 6);
		assert.deepEqual([ofPin.feedLists, ofPin.pool], [null, null]);
		assert.doesNotMatch(ofPin.lines, /^(feed lists|pool)/m);
	});

	test("rejects text that is not an id", async () => {
		for (const text of ["007", "1e3", "18446744073709551616", "ada"]) {
			assert.deepEqual(await command(["objects", "show", text]), {
				code: 1,
				out: "",
				err: `corkboard: ID must be a decimal number of at most 64 bits without leading zeros, or the id of a job, got "${text}".\n`,
			});
		}
	});

	test("rejects an empty text as it does for every command (exit code 2)", async () => {
		assert.deepEqual(await command(["objects", "show", ""]), {
			code: 2,
			out: "",
			err: 'corkboard: ID must be a text that is not empty, got "".\n',
		});
	});

	test("rejects an id whose reserved bits are set", async () => {
		const { code, err } = await command([
			"objects",
			"show",
			"4611686018427387904",
		]);
		assert.equal(code, 1);
		assert.match(
			err,
			/4611686018427387904 is not an id: its two top bits must be zero/,
		);
	});
});
