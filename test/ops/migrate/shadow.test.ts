import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { ScreenReport } from "../../../src/ops/migrate/shadow.ts";
import { runHere } from "../../helpers/runCommand.ts";
import { startMysql } from "../../services/mysql.ts";
import { startPostgres } from "../../services/postgres.ts";
import type { Server } from "../../services/server.ts";
import { type OldDatabase, openOldMysql, openOldPostgres } from "./old.ts";

const PAGE = join(import.meta.dirname, "../../../docs/how-to/coming-over.md");

const MAPPING = `
import { migration, ref, utc } from "corkboard";
export default migration({
	source: process.env.OLD_DATABASE,
	types: {
		User: { table: "users", where: "id < 4", key: "id", fields: { username: "login", name: "first", createdAt: utc("created_at") } },
		Board: { table: "boards", where: "id <> 3", key: "id", fields: { name: "title", owner: ref("User", "user_id"), secret: "private" } },
	},
});
`;

const SCREENS = `
import { ref, screens } from "corkboard";
export default screens({
	boards: {
		of: "User",
		document: "query Boards($id: ID!) { user(by: { id: $id }) { boards(first: 10) { nodes { id name secret owner { username } } } } }",
		rows: "user.boards.nodes",
		sql: "SELECT b.id, b.title, b.private, u.login FROM boards b JOIN users u ON u.id = b.user_id WHERE b.user_id = :id AND u.login <> ':id' ORDER BY b.id DESC",
		fields: { id: ref("Board", "id"), name: "title", secret: "private", "owner.username": "login" },
		isViewer: true,
	},
	profile: {
		of: "User",
		document: "query Profile($id: ID!) { user(by: { id: $id }) { name bio } }",
		rows: "user",
		there: async ({ id }, signal) => [await (await fetch(process.env.OLD_API + id, { signal })).json()],
		fields: { name: "full", bio: (row) => row.about ?? null },
	},
});
`;

/** What the API of the old application says of a user. */
const PROFILES: Readonly<Record<string, object>> = {
	"/1": { full: "Ada" },
	"/2": { full: "Bob" },
	"/3": { full: "Cyd" },
};

const OLD = [
	["MySQL", startMysql, openOldMysql],
	["PostgreSQL", startPostgres, openOldPostgres],
] as const;

for (const [name, start, openOld] of OLD) {
	describe(`screens of an old ${name}`, () => {
		const folder = mkdtempSync(join(tmpdir(), "shadow-"));
		const mapping = join(folder, "old.ts");
		let written = 0;
		let server: Server;
		let old: OldDatabase;
		let profiles = PROFILES;
		const api = createServer(({ url = "" }, response) =>
			response.end(JSON.stringify(profiles[url])),
		);

		before(async () => {
			server = await start();
			old = await openOld(server);
			api.listen(0, "127.0.0.1");
			await once(api, "listening");
			process.env.OLD_API = `http://127.0.0.1:${(api.address() as AddressInfo).port}/`;
			process.env.OLD_DATABASE = old.url;
			writeFileSync(mapping, MAPPING);
			await old.run("INSERT INTO boards VALUES (4, 1, 'Second', FALSE)");
			const { code, err } = await migrate("run", mapping);
			assert.equal(code, 0, err);
		});
		after(async () => {
			api.close();
			await old?.[Symbol.asyncDispose]();
			await server?.[Symbol.asyncDispose]();
			rmSync(folder, { recursive: true, force: true });
		});

		const migrate = (...args: readonly string[]) =>
			runHere(["migrate", ...args], {
				env: { CORKBOARD_DATA: join(folder, "data") },
			});

		function shadow(screens = SCREENS, ...args: readonly string[]) {
			// Node loads a module once.
			const file = join(folder, `old.screens${written++}.ts`);
			writeFileSync(file, screens);
			return migrate("shadow", mapping, file, "--sample", "100", ...args);
		}

		async function differences(screens = SCREENS) {
			const { out, err, code } = await shadow(screens, "--json");
			assert.equal(code, 1, err);
			const reports: readonly ScreenReport[] = JSON.parse(out);
			return reports.flatMap((report) =>
				report.differences.map(({ id: _, ...one }) => one),
			);
		}

		it("are equal where both sides show the same rows, in the same order", async () => {
			const { out, err, code } = await shadow();
			assert.equal(code, 0, out + err);
			assert.deepEqual(out.trim().split("\n"), [
				"boards: 3 samples, 3 equal, 0 differ",
				"profile: 3 samples, 3 equal, 0 differ",
			]);
		});

		it("differ by a value, the number of rows or their order, with both values", async () => {
			profiles = { ...PROFILES, "/1": { full: "Ada", about: "" } };
			await old.run("UPDATE boards SET title = 'Strasse' WHERE id = 2");
			assert.deepEqual(await differences(), [
				{
					...{ key: "User:2", kind: "value", row: 1, field: "name" },
					...{ there: "Strasse", here: "Straße" },
				},
				{
					...{ key: "User:1", kind: "value", row: 1, field: "bio" },
					...{ there: "", here: null },
				},
			]);
			const { out } = await shadow();
			// The page has these lines.
			const page = readFileSync(PAGE, "utf8");
			for (const line of out.trimEnd().split("\n")) {
				assert.ok(page.includes(`\n    ${line}\n`), line);
			}
			profiles = PROFILES;
			await old.run(
				"UPDATE boards SET title = 'Straße' WHERE id = 2",
				"INSERT INTO boards VALUES (5, 3, 'Only there', FALSE)",
			);
			const oldestFirst = SCREENS.replace("b.id DESC", "b.id");
			const found = await differences(oldestFirst);
			assert.deepEqual(
				found.map(({ key, kind, row }) => [key, kind, row]),
				[
					["User:1", "order", 1],
					["User:3", "count", null],
				],
			);
			assert.deepEqual([found[1]?.there, found[1]?.here], [1, 0]);
			const unordered = oldestFirst.replace(
				"isViewer",
				"isUnordered: true, isViewer",
			);
			assert.deepEqual(
				(await differences(unordered)).map(({ key }) => key),
				["User:3"],
			);
			await old.run("DELETE FROM boards WHERE id = 5");
		});

		it("are refused with a sentence where they cannot be shown", async () => {
			for (const [wanted, given, sentence] of [
				[
					"nodes { id name",
					"nodes { id nme",
					/screens\.boards\.document:1:\d+: Cannot query field "nme"/,
				],
				["query Boards($id: ID!)", "query Boards", /screens\.boards\.document/],
				[
					"b.private,",
					"b.privat,",
					/screens\.boards\.sql failed for \{"id":"1"\}: .*privat/,
				],
				[":id AND", ":key AND", /:key has no value\. Those with one are :id\./],
				[
					'name: "title"',
					'name: "titel"',
					/screens\.boards\.fields\.name: the rows of sql have no column titel\. Did you mean title\?/,
				],
				[
					'secret: "private"',
					'private: "private"',
					/screens\.boards\.fields: the document selects no private in its rows/,
				],
				[
					"user.boards.nodes",
					"user.boards.edges",
					/screens\.boards\.rows: the response has no user\.boards\.edges\. It has nodes\./,
				],
				[
					'of: "User"',
					'of: "Usr"',
					/screens\.boards\.of must be a type of the mapping \(User, Board\), got "Usr"\./,
				],
				["sql:", "squeal:", /screens\.boards needs either sql or there/],
				[
					"OLD_API + id",
					"OLD_API + id + '/x'",
					/screens\.profile\.there failed for \{"id":"1"\}: /,
				],
			] as const) {
				const { err, code } = await shadow(SCREENS.replace(wanted, given));
				assert.equal(code, 1, given);
				assert.match(err, sentence);
			}
			const absent = await migrate("shadow", mapping, "nowhere.ts");
			assert.match(absent.err, /There is no file .*nowhere\.ts/);
		});
	});
}
