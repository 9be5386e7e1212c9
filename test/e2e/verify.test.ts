import assert from "node:assert/strict";
import {
	existsSync,
	mkdtempSync,
	renameSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { DamageSummary } from "../../src/ops/verify/damage.ts";
import { client } from "../helpers/client.ts";
import { serveHere } from "../helpers/demoServer.ts";
import { sqlOn } from "../helpers/importing.ts";
import { serve } from "../helpers/program.ts";
import { runHere } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

const LINES = [
	...["ada", "ben", "cat"].map((name) => ({
		type: "User",
		key: name,
		fields: { username: `${name}_made_up`, name },
	})),
	{ type: "Board", key: "b", fields: { owner: "ada", name: "Loaves" } },
	{ type: "Pin", key: "p:1", fields: { board: "b", details: "Rye" } },
	{ type: "Pin", key: "p:2", fields: { board: "b", details: "Wheat" } },
	{ edge: "likePin", from: "ben", to: "p:1" },
	{ edge: "likePin", from: "cat", to: "p:1" },
	{ edge: "followUser", from: "ben", to: "ada" },
	{ edge: "followUser", from: "cat", to: "ada" },
];

const CLEAN = /^6 objects, \d+ edges, \d+ lists, \d+ lookups checked\n/;

const CLEAN_PART = /^\d+ objects, \d+ edges, \d+ lists, \d+ lookups checked\n/;

describe("verify", () => {
	const folder = temporaryFolder();
	const env = { CORKBOARD_DATA: folder.path };
	after(() => folder[Symbol.dispose]());
	const verify = (...args: string[]) => runHere(["verify", ...args], { env });

	it("reports an undamaged graph as clean (exit code 0), and changes nothing with --repair", async () => {
		const input = LINES.map((line) => JSON.stringify(line)).join("\n");
		const imported = await runHere(["import", "-"], { env, input });
		assert.equal(imported.code, 0, imported.err);
		for (const args of [[], ["--repair"]]) {
			const { code, out, err } = await verify(...args);
			assert.deepEqual({ code, err }, { code: 0, err: "" });
			assert.match(out, CLEAN);
			assert.match(out, /\neverything agrees\n$/);
		}
	});

	it("reports what is damaged and where (exit code 1), and changes nothing without --repair", async () => {
		for (const [files, sql] of [
			[
				/^db/,
				"DELETE FROM pin_liked_by_users WHERE sequence = (SELECT MIN(sequence) FROM pin_liked_by_users)",
			],
			[/^db/, "UPDATE lists SET count = 7 WHERE mapping = 'placePin'"],
			[
				/^mod/,
				"DELETE FROM lookups WHERE name = 'username' AND key = 'cat_made_up'",
			],
		] as const) {
			// Over all files it meets one row: the tables of the other shards are empty.
			assert.equal(sqlOn(folder.path, files, sql), 1, sql);
		}
		for (let n = 0; n < 2; n++) {
			const { code, out, err } = await verify();
			assert.deepEqual({ code, err }, { code: 1, err: "" });
			assert.match(out, CLEAN);
			for (const pattern of [
				/^1 edges without their inverse edge$/m,
				/^2 lists whose count differs from their number of edges$/m,
				/^1 active objects without the lookup of their natural key$/m,
				/^run verify --repair to repair it$/m,
			]) {
				assert.match(out, pattern);
			}
			assert.match(
				out,
				/^ {2}placePin of \d+: count 7, but 2 edges \(db\d{5}\.lists, from_id \d+, mapping placePin\)$/m,
			);
			// The key of a lookup may be an e-mail address.
			assert.doesNotMatch(out, /cat_made_up/);
		}
	});

	it("repairs all damage with --repair (exit code 0)", async () => {
		const { code, out } = await verify("--repair");
		assert.equal(code, 0, out);
		assert.match(out, /^[3-9] repaired$/m);
		assert.match(out, /\neverything agrees now\n$/);
		const again = await verify();
		assert.equal(again.code, 0, again.out);
		assert.match(again.out, /\neverything agrees\n$/);

		await using server = await serveHere(env);
		assert.deepEqual(
			await client(server.url).data(`{
				user(by: {username: "cat_made_up"}) { name likes { nodes { details } } }
				ada: user(by: {username: "ada_made_up"}) { boards { nodes { pins {
					totalCount nodes { details likedBy { totalCount nodes { username } } }
				} } } }
			}`),
			{
				user: { name: "cat", likes: { nodes: [{ details: "Rye" }] } },
				ada: {
					boards: {
						nodes: [
							{
								pins: {
									totalCount: 2,
									nodes: [
										{ details: "Wheat", likedBy: { totalCount: 0, nodes: [] } },
										{
											details: "Rye",
											likedBy: {
												totalCount: 2,
												nodes: [
													{ username: "cat_made_up" },
													{ username: "ben_made_up" },
												],
											},
										},
									],
								},
							},
						],
					},
				},
			},
		);
		assert.equal((await server.stop()).code, 0);
	});

	it("says what --repair leaves and what to do about it, prints a few of many, and the whole report with --json (exit code 1)", async () => {
		for (let n = 0; n < 7; n++) {
			sqlOn(
				folder.path,
				/^db00000/,
				"INSERT INTO outbox (entry, ts) VALUES ('{', 1)",
			);
		}
		const plain = await verify();
		assert.equal(plain.code, 1, plain.err);
		assert.match(
			plain.out,
			/^7 outbox entries that cannot be delivered because of what they hold$/m,
		);
		assert.match(
			plain.out,
			/^ {2}entry \d+ of shard 0: The outbox entry is not a JSON object\. \(db00000\.outbox, local_id \d+\)$/m,
		);
		assert.match(plain.out, /^ {2}and 2 more$/m);
		assert.doesNotMatch(plain.out, /run verify --repair to repair it/);
		for (const args of [[], ["--repair"]]) {
			const { code, out, err } = await verify("--json", ...args);
			assert.deepEqual({ code, err }, { code: 1, err: "" });
			const report = JSON.parse(out);
			assert.equal(report.clean, false);
			assert.equal(report.pendingEntries, 7);
			assert.deepEqual(
				report.remaining.map(({ kind, count, repairable }: DamageSummary) => [
					kind,
					count,
					repairable,
				]),
				[["unreadable entry", 7, 0]],
			);
		}
		const { out } = await verify("--repair");
		assert.match(out, /^still damaged:$/m);
		assert.match(out, /when nothing else is damaged, delete the rows$/m);
		assert.equal(sqlOn(folder.path, /^db/, "DELETE FROM outbox"), 7);
		assert.equal((await verify()).code, 0);
	});

	it("says what it could not read, and checks the rest (exit code 3, or 1 for damage)", async () => {
		const file = join(folder.path, "db00002.sqlite");
		// Its own folder of the file's three parts, so that they come back as they were.
		const away = mkdtempSync(join(folder.path, "away-"));
		const parts = ["", "-wal", "-shm"].filter((end) => existsSync(file + end));
		for (const end of parts) renameSync(file + end, join(away, `f${end}`));
		writeFileSync(
			file,
			"this is no database, but a text of some length".repeat(99),
		);
		const { code, out, err } = await verify();
		assert.deepEqual({ code, err }, { code: 3, err: "" });
		assert.match(out, CLEAN_PART);
		assert.match(out, /^what was checked agrees$/m);
		assert.match(out, /^not checked:$/m);
		assert.match(out, /^ {2}db00002\.\w+: .+$/m);
		sqlOn(folder.path, /^mod/, "UPDATE lookups SET id = 5 WHERE key = 'p:1'");
		const damaged = await verify();
		assert.equal(damaged.code, 1, damaged.out);
		rmSync(file);
		for (const end of parts) renameSync(join(away, `f${end}`), file + end);
		assert.equal((await verify("--repair")).code, 0);
	});

	it("finds no damage beside a server that takes writes", async () => {
		await using server = await serve(env);
		const visitor = client(server.url);
		const { user } = await visitor.data<{
			user: { id: string; pins: { nodes: { id: string }[] } };
		}>('{ user(by: {username: "ada_made_up"}) { id pins { nodes { id } } } }');
		let isVerified = false;
		let writes = 0;
		const writers = ["dan", "eve", "fay"].map(async (name) => {
			const { createUser } = await visitor.data<{
				createUser: { token: string };
			}>(`mutation { createUser(input: {username: "${name}"}) { token } }`);
			const as = client(server.url, createUser.token);
			for (let n = 0; !isVerified; n++) {
				await as.data(`mutation {
					${user.pins.nodes.map(({ id }, at) => `p${at}: ${n % 2 ? "un" : ""}likePin(input: {pinId: "${id}"}) { pin { id } }`).join("\n")}
					${n % 2 ? "un" : ""}followUser(input: {userId: "${user.id}"}) { user { id } }
					updateUser(input: {username: "${name}_${n}"}) { user { id } }
				}`);
				writes++;
			}
		});
		try {
			for (let n = 0; n < 2 || writes <= 20; n++) {
				const { code, out } = await verify();
				assert.equal(code, 0, out);
				assert.match(out, /\neverything agrees\n$/);
			}
		} finally {
			isVerified = true;
			await Promise.all(writers);
		}
		assert.equal((await server.stop()).code, 0);
		const last = await verify();
		assert.equal(last.code, 0, last.out);
		assert.doesNotMatch(last.out, /pending outbox entries/);
	});

	it("fails with a sentence for a folder without data, as other reading commands do, and creates no folder (exit code 1)", async () => {
		const none = join(folder.path, "none");
		for (const args of [
			["verify"],
			["tokens", "create", "ada_made_up"],
			["explain", "-"],
		]) {
			assert.deepEqual(
				await runHere(args, {
					env: { CORKBOARD_DATA: none },
					input: "{ viewer { id } }",
				}),
				{
					code: 1,
					signal: null,
					out: "",
					err: `corkboard: ${none} holds no data. Run serve, init or import first.\n`,
				},
			);
			assert.equal(existsSync(none), false);
		}
	});
});
