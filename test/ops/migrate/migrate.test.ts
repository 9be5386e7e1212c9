import assert from "node:assert/strict";
import {
	appendFileSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { openCorkboard } from "../../../src/app/openCorkboard.ts";
import type { PassReport } from "../../../src/ops/migrate/state.ts";
import { graphInKeys, sqlOn } from "../../helpers/importing.ts";
import { startProgram } from "../../helpers/program.ts";
import { command, runHere } from "../../helpers/runCommand.ts";
import { until } from "../../helpers/until.ts";
import { startMysql } from "../../services/mysql.ts";
import { startPostgres } from "../../services/postgres.ts";
import type { Server } from "../../services/server.ts";
import { type OldDatabase, openOldMysql, openOldPostgres } from "./old.ts";

/** Between two looks at the whole graph, which take the core from the migration. */
const LOOK_MS = 200;

const MAPPING = `
import { blankToNull, local, migration, ref, utc, utf8InLatin1 } from "corkboard";
const live = (type) => (row) => row.likeable_type === type;
export default migration({
	source: process.env.OLD_DATABASE,
	types: {
		Pin: {
			table: "pins", key: "id", changed: "updated_at", deleted: "deleted_at",
			fields: {
				details: blankToNull("caption"), board: ref("Board", "board_id"),
				origin: ref("Pin", "copied_from"), createdAt: utc("created_at"),
			},
		},
		User: {
			table: "users", key: "id", changed: "updated_at",
			fields: {
				username: "login", name: (row) => row.first + " " + row.last,
				email: blankToNull("email"), bio: "bio",
				createdAt: local("created_at", "Europe/Berlin"),
			},
		},
		Board: {
			table: "boards", key: "id",
			fields: { name: utf8InLatin1("title"), owner: ref("User", "user_id"), secret: "private" },
		},
	},
	edges: {
		likePin: { table: "likes", key: "id", only: live("Pin"), from: ref("User", "user_id"), to: ref("Pin", "likeable_id"), at: utc("created_at") },
		followUser: { table: "follows", from: ref("User", "follower_id"), to: ref("User", "followed_id"), at: utc("created_at") },
	},
});
`;

/** Two rows may name one pair: a follow that was ended is marked as deleted, and the next one is a new row. */
const PAIRS = `
import { migration, ref, utc } from "corkboard";
export default migration({
	source: process.env.OLD_DATABASE,
	types: {
		User: { table: "people", key: "id", fields: { username: "login", name: "login" } },
	},
	edges: {
		followUser: { table: "pairs", key: "id", changed: "updated_at", deleted: "deleted_at", from: ref("User", "follower_id"), to: ref("User", "followed_id") },
	},
});
`;

/** Neither view has a log. */
const VIEWS = `
import { migration, ref } from "corkboard";
export default migration({
	source: process.env.OLD_DATABASE,
	types: {
		User: { table: "members", key: "id", log: { person: "id", local_user: "person_id" }, fields: { username: "login", name: "login", bio: "bio" } },
	},
	edges: {
		followUser: { table: "fans", log: { stars: ["fan_id", "star_id"] }, from: ref("User", "follower_id"), to: ref("User", "followed_id") },
	},
});
`;

const OLD = [
	["MySQL", startMysql, openOldMysql],
	[
		"PostgreSQL",
		() =>
			startPostgres({
				args: ["-c", "wal_level=logical", "-c", "max_prepared_transactions=1"],
			}),
		openOldPostgres,
	],
] as const;

for (const [name, start, openOld] of OLD) {
	describe(`a migration from ${name}`, () => {
		const folder = mkdtempSync(join(tmpdir(), "migrate-"));
		const data = join(folder, "data");
		const mapping = join(folder, "old.ts");
		let server: Server;
		let old: OldDatabase;

		before(async () => {
			server = await start();
			old = await openOld(server);
			writeFileSync(mapping, MAPPING);
		});
		after(async () => {
			await old?.[Symbol.asyncDispose]();
			await server?.[Symbol.asyncDispose]();
			rmSync(folder, { recursive: true, force: true });
		});

		const migrate = (...args: readonly string[]) =>
			runHere(["migrate", ...args], { env: { CORKBOARD_DATA: data } });

		const pass = (...args: readonly string[]) => passOf(mapping, migrate, args);

		async function passOf(
			mapping: string,
			run: typeof migrate,
			args: readonly string[] = [],
		) {
			process.env.OLD_DATABASE = old.url;
			const { out, err, code } = await run("run", mapping, "--json", ...args);
			assert.ok(out.startsWith("{"), err);
			const { pass, bad } = JSON.parse(out) as {
				readonly pass: PassReport;
				readonly bad: readonly {
					rows: number;
					reason: string;
					examples: string[];
				}[];
			};
			const { rows, made, changed, deleted, unchanged, newerHere } = pass;
			return {
				counts: { rows, made, changed, deleted, unchanged, newerHere },
				bad: bad.flatMap(({ examples, reason }) =>
					examples.map((key) => `${key}: ${reason}`),
				),
				code,
			};
		}

		/** Follows until the graph has this, and then is interrupted. */
		async function following(
			mapping: string,
			data: string,
			expected: string,
			isThere: () => boolean,
			...statements: readonly string[]
		) {
			process.env.OLD_DATABASE = old.url;
			const stop = new AbortController();
			const run = command(["migrate", "run", mapping, "--follow"], {
				env: { CORKBOARD_DATA: data },
				open: openCorkboard,
				interruptSignal: () => stop.signal,
			});
			await old.run(...statements);
			await Promise.race([
				until(expected, async () => {
					await sleep(LOOK_MS);
					return isThere();
				}),
				run.then(({ err }) => assert.fail(err)),
			]).finally(() => stop.abort("SIGINT"));
			const { code, err } = await run;
			assert.equal(code, 130, err);
		}

		const fact = (part: string, folder = data) =>
			graphInKeys(folder).filter((each) => each.includes(part));

		/** From whom to whom edges are there, in the order of the table. */
		const edges = (list: string, folder = data) =>
			fact(`${list} `, folder)
				.map((each) => each.split(" "))
				.filter(([, , , , state]) => state === "0");

		/** What the first user likes, the oldest like first. */
		const likesOfAda = () =>
			edges("user_likes_pins User:1")
				.map(([, , to = "", sequence]) => ({ to, at: Number(sequence) }))
				.toSorted((a, b) => a.at - b.at)
				.map(({ to, at }) => [
					to,
					new Date(at / 1_000).toISOString().slice(0, 19),
				]);

		it("says which tables and columns are not there, before it writes", async () => {
			const wrong = join(folder, "wrong.ts");
			writeFileSync(
				wrong,
				MAPPING.replace('"login"', '"logn"')
					.replace('table: "likes"', 'table: "like"')
					.replace('utc("created_at"),', '"created_at",'),
			);
			process.env.OLD_DATABASE = old.url;
			const { err, code } = await migrate("run", wrong);
			assert.equal(code, 1);
			for (const sentence of [
				"types.User.fields.username: the table users has no column logn. Did you mean login?",
				"has no table like, or this account may not read it. Did you mean likes?",
				'types.Pin.fields.createdAt is a DateTime: write utc("created_at")',
			]) {
				assert.ok(err.includes(sentence), err);
			}
		});

		it("guesses a mapping, and checks the one that is given", async () => {
			const { out } = await migrate("scaffold", "--from", old.url);
			assert.match(out, /to: ref\("Pin", "likeable_id"\),/);
			assert.match(out, /row.likeable_type === "Pin"/);
			assert.match(out, /owner: ref\("User", "user_id"\),/);
			process.env.OLD_DATABASE = old.url;
			const checked = await migrate("check", mapping);
			assert.equal(checked.code, 1);
			assert.match(
				checked.out,
				/owner: no row of the mapping has the key "User:99"/,
			);
			assert.match(checked.out, /1 +The User's email is taken/);
		});

		it("brings all rows over that can be, and says why the others cannot", async () => {
			const { counts, bad, code } = await pass();
			assert.equal(code, 1);
			assert.deepEqual(bad.toSorted(), old.bad);
			assert.deepEqual(counts, {
				rows: 24,
				made: 24 - old.bad.length - 1,
				changed: 0,
				deleted: 0,
				unchanged: 1,
				newerHere: 0,
			});
			const user = fact('["username","ada"]')[0] ?? "";
			// Noon in Berlin in summer; the text of a latin1 column whose bytes were UTF-8.
			assert.match(user, /"created_at","2019-07-01T10:00:00.000Z"/);
			assert.match(fact('["name","Café"]')[0] ?? "", /"secret",false/);
			assert.match(fact('["name","Straße"]')[0] ?? "", /"secret",true/);
			assert.equal(fact("soft deleted").length, 0);
			assert.equal(fact("2 lines\\nand 🎉").length, 1);
		});

		it("writes nothing for rows that are as before, and takes what was too early", async () => {
			const { counts, bad } = await pass();
			assert.equal(bad.length, old.bad.length - 1);
			assert.deepEqual(counts, {
				rows: 24,
				made: 1,
				changed: 0,
				deleted: 0,
				unchanged: 24 - bad.length - 1,
				newerHere: 0,
			});
		});

		it("changes, deletes, leaves what is newer here, and says which names collide", async () => {
			sqlOn(
				data,
				/^db/,
				"UPDATE users SET data = json_set(data, '$.bio', 'mine', '$.version', json_extract(data, '$.version') + 1) WHERE json_extract(data, '$.username') = 'cyd'",
			);
			await old.run(
				"UPDATE users SET first = 'Adah', updated_at = '2001-01-01 00:00:00' WHERE id = 1",
				"UPDATE users SET email = 'ada@example.org' WHERE id = 2",
				"UPDATE users SET last = 'Theirs' WHERE id = 3",
				"UPDATE users SET pins_count = 1000",
				"DELETE FROM likes WHERE id = 3",
				"DELETE FROM pins WHERE id = 2",
				"UPDATE pins SET deleted_at = '2022-01-01 00:00:00' WHERE id = 1",
			);
			// A late commit with an old time, and a row that is gone, are seen by full passes only.
			const since = await pass("--changed");
			assert.deepEqual([since.counts.changed, since.counts.deleted], [0, 1]);
			const { counts, bad } = await pass();
			assert.ok(
				bad.includes("User:2: The User's email is taken."),
				bad.join("\n"),
			);
			const shown = await migrate("show", mapping, "User:2");
			assert.match(
				shown.out,
				/^User:2: bad, id \d+: The User's email is taken/,
			);
			const { changed, deleted, newerHere } = counts;
			// The like and the pin that are gone.
			assert.deepEqual([changed, deleted, newerHere], [1, 2, 1]);
			assert.equal(fact('["name","Adah Lovelace"]').length, 1);
			assert.equal(fact('["bio","mine"]').length, 1);
		});

		it("says which key is used again, and takes back what is not deleted any more", async () => {
			await old.run(
				"INSERT INTO pins VALUES (2, 1, NULL, 'another', NULL, '2023-01-01 00:00:00', '2023-01-01 00:00:00')",
				"UPDATE pins SET deleted_at = NULL, updated_at = '2023-01-01 00:00:00' WHERE id = 1",
				"UPDATE users SET email = NULL WHERE id = 2",
			);
			const { counts, bad } = await pass();
			assert.ok(
				bad.some((each) => each.startsWith("Pin:2: The key is used again")),
				bad.join("\n"),
			);
			assert.equal(counts.changed, 1);
			const { out } = await runHere(["verify"], {
				env: { CORKBOARD_DATA: data },
			});
			assert.match(out, /everything agrees/);
			assert.deepEqual(likesOfAda(), [
				["Pin:2", "2020-01-01T00:00:00"],
				["Pin:1", "2021-01-01T00:00:00"],
			]);
			const compared = await migrate("compare", mapping, "--all");
			assert.match(compared.out, / 0 differ, 1 newer here,/);
			assert.equal(compared.code, 0);
			const shown = await migrate("show", mapping, "User:3");
			assert.match(shown.out, /^User:3: newer here, id \d+/);
			assert.match(shown.out, /name +"Cyd Theirs" +"Cyd Charisse" +differs/);
			// If the clock showed an hour twice, the first one counts.
			assert.match(shown.out, /2019-10-27T00:30:00.000Z/);
			const found = await runHere(["objects", "show", "User:3"], {
				env: { CORKBOARD_DATA: data },
			});
			assert.match(found.out, /type +3 \(User\)/);
			const { out: table } = await migrate("status", mapping);
			assert.equal(table.trim().split("\n").length, 6);
		});

		it("keeps an edge as long as any row makes it, whatever other rows of the pair are marked as deleted", async () => {
			const pairs = join(folder, "pairs.ts");
			writeFileSync(pairs, PAIRS);
			const own = join(folder, "pairs");
			const run = (...args: readonly string[]) =>
				runHere(["migrate", ...args], { env: { CORKBOARD_DATA: own } });
			const deletedBy = async (...args: readonly string[]) =>
				(await passOf(pairs, run, args)).counts.deleted;
			const here = () =>
				edges("user_follows_users", own).map(([, from, to]) => `${from} ${to}`);
			await old.run(
				"CREATE TABLE people (id INT PRIMARY KEY, login VARCHAR(20))",
				"CREATE TABLE pairs (id INT PRIMARY KEY, follower_id INT, followed_id INT, deleted_at TIMESTAMP NULL, updated_at TIMESTAMP NULL)",
				"INSERT INTO people VALUES (1, 'ann'), (2, 'ben'), (3, 'cal')",
				"INSERT INTO pairs VALUES (1, 1, 2, NULL, '2020-01-01 00:00:00'), (2, 1, 2, '2020-01-01 00:00:00', '2020-01-01 00:00:00')",
				"INSERT INTO pairs VALUES (3, 2, 1, '2020-01-01 00:00:00', '2020-01-01 00:00:00'), (4, 2, 1, NULL, '2020-01-01 00:00:00')",
				"INSERT INTO pairs VALUES (5, 1, 3, '2020-01-01 00:00:00', '2020-01-01 00:00:00')",
			);
			assert.equal(await deletedBy(), 0);
			assert.deepEqual(here(), ["User:1 User:2", "User:2 User:1"]);
			assert.equal(await deletedBy(), 0);
			await old.run(
				"UPDATE pairs SET updated_at = '2020-02-01 00:00:00' WHERE id = 2",
			);
			assert.equal(await deletedBy("--changed"), 0);
			assert.deepEqual(here(), ["User:1 User:2", "User:2 User:1"]);
			await old.run(
				"UPDATE pairs SET deleted_at = '2020-03-01 00:00:00', updated_at = '2020-03-01 00:00:00' WHERE id = 4",
			);
			assert.equal(await deletedBy("--changed"), 1);
			assert.deepEqual(here(), ["User:1 User:2"]);
			await old.run(
				"UPDATE pairs SET deleted_at = '2020-04-01 00:00:00' WHERE id = 1",
			);
			assert.equal(await deletedBy(), 1);
			assert.deepEqual(here(), []);
		});

		it("gives an edge the time of its first row, also when that is another one than before", async () => {
			const timed = join(folder, "timed.ts");
			const at = 'deleted: "deleted_at", at: utc("updated_at"),';
			writeFileSync(timed, PAIRS.replace('deleted: "deleted_at",', at));
			const own = join(folder, "timed");
			const run = (...args: readonly string[]) =>
				runHere(["migrate", ...args], { env: { CORKBOARD_DATA: own } });
			const changedBy = async (...args: readonly string[]) =>
				(await passOf(timed, run, args)).counts.changed;
			const here = () =>
				edges("user_follows_users", own).map(([, from, to, sequence]) => [
					`${from} ${to}`,
					new Date(Number(sequence) / 1_000).getUTCFullYear(),
				]);
			await old.run(
				"DELETE FROM pairs",
				"INSERT INTO pairs VALUES (11, 1, 2, NULL, '2020-01-01 00:00:00'), (12, 1, 2, NULL, '2022-01-01 00:00:00')",
				"INSERT INTO pairs VALUES (13, 2, 1, NULL, '2020-01-01 00:00:00')",
			);
			await run("run", timed);
			assert.equal(await changedBy(), 0);
			assert.deepEqual(here(), [
				["User:1 User:2", 2020],
				["User:2 User:1", 2020],
			]);
			await old.run(
				"DELETE FROM pairs WHERE id = 11",
				"UPDATE pairs SET updated_at = '2021-01-01 00:00:00' WHERE id = 13",
			);
			assert.deepEqual([await changedBy(), await changedBy()], [2, 0]);
			assert.deepEqual(here(), [
				["User:1 User:2", 2022],
				["User:2 User:1", 2021],
			]);
			await old.run(
				"INSERT INTO pairs VALUES (10, 1, 2, NULL, '2023-01-01 00:00:00')",
				"UPDATE pairs SET updated_at = '2024-01-01 00:00:00' WHERE id = 12",
			);
			assert.deepEqual(
				[await changedBy("--changed"), await changedBy()],
				[1, 0],
			);
			assert.deepEqual(here()[0], ["User:1 User:2", 2023]);
			const compared = await run("compare", timed, "--all");
			assert.match(compared.out, / 0 differ,/);
			const verified = await runHere(["verify"], {
				env: { CORKBOARD_DATA: own },
			});
			assert.match(verified.out, /everything agrees/);
			await old.run("DELETE FROM pairs");
		});

		it("takes a refused row over when what it refers to comes, also after the runner was killed", async () => {
			const pairs = join(folder, "pairs.ts");
			const own = join(folder, "pairs");
			const env = { CORKBOARD_DATA: own, OLD_DATABASE: old.url };
			if (name === "PostgreSQL") {
				await old.run(
					"CREATE PUBLICATION corkboard_pairs FOR TABLE people, pairs",
				);
			}
			const state = () =>
				JSON.parse(readFileSync(join(folder, "pairs.state.json"), "utf8"));
			await using runner = startProgram(["migrate", "run", pairs, "--follow"], {
				env,
			});
			await until("the log is followed", () =>
				state().passes.some(({ kind }: PassReport) => kind === "follow"),
			);
			await old.run(
				"INSERT INTO pairs VALUES (6, 1, 4, NULL, NULL), (7, 4, 5, NULL, NULL)",
			);
			const bad = () => readFileSync(join(folder, "pairs.bad.ndjson"), "utf8");
			await until("both rows are refused", () =>
				["followUser User:1 User:4", "followUser User:4 User:5"].every((key) =>
					bad().includes(key),
				),
			);
			runner.send("SIGKILL");
			await runner.ended;
			// What a full pass leaves that is killed at its first row, in the middle of a line.
			appendFileSync(
				join(folder, "pairs.bad.ndjson"),
				'{"pass":"full"}\n{"key":"followUs',
			);
			const passes = state().passes.length;
			await following(
				pairs,
				own,
				"the first follow",
				() => edges("user_follows_users", own).length === 1,
				"INSERT INTO people VALUES (4, 'dot')",
			);
			await following(
				pairs,
				own,
				"both follows",
				() => edges("user_follows_users", own).length === 2,
				"INSERT INTO people VALUES (5, 'eve')",
			);
			assert.equal(state().passes.length, passes);
			const { out } = await migrate("bad", pairs, "--json");
			assert.deepEqual(JSON.parse(out), []);
			await old.run("DROP TABLE pairs", "DROP TABLE people");
		});

		it("follows views by the logs of the tables that they are made of", async () => {
			const views = join(folder, "views.ts");
			const own = join(folder, "views");
			await old.run(
				"CREATE TABLE person (id INT PRIMARY KEY, login VARCHAR(20))",
				"CREATE TABLE local_user (id INT PRIMARY KEY, person_id INT, bio VARCHAR(20))",
				"CREATE TABLE stars (id INT PRIMARY KEY, fan_id INT, star_id INT, hidden INT)",
				"CREATE VIEW members AS SELECT person.id, login, bio FROM person JOIN local_user ON person_id = person.id",
				"CREATE VIEW fans AS SELECT fan_id AS follower_id, star_id AS followed_id FROM stars WHERE hidden = 0",
				"INSERT INTO person VALUES (1, 'ann'), (2, 'ben'), (3, 'cal'), (4, 'dot')",
				"INSERT INTO local_user VALUES (11, 1, 'a'), (12, 2, 'b'), (13, 3, 'c')",
				"INSERT INTO stars VALUES (21, 1, 2, 0), (22, 2, 1, 1), (23, 3, 1, 0)",
			);
			if (name === "PostgreSQL") {
				await old.run(
					"ALTER TABLE local_user REPLICA IDENTITY FULL",
					"ALTER TABLE stars REPLICA IDENTITY FULL",
					"CREATE PUBLICATION corkboard_views FOR TABLE person, local_user, stars",
				);
			}
			process.env.OLD_DATABASE = old.url;
			const wrong = join(folder, "wrongViews.ts");
			writeFileSync(
				wrong,
				VIEWS.replace('"person_id"', '"person"').replace(
					'["fan_id", "star_id"]',
					'"fan_id"',
				),
			);
			const { err } = await migrate("run", wrong, "--follow");
			assert.match(
				err,
				/types\.User\.log\.local_user: the table local_user has no column person\. Did you mean person_id\?\n.* edges\.followUser\.log\.stars must name the columns that hold follower_id, followed_id/,
			);
			writeFileSync(views, VIEWS);
			const here = () =>
				edges("user_follows_users", own).map(([, from, to]) => `${from} ${to}`);
			const run = (...args: readonly string[]) =>
				runHere(["migrate", ...args], { env: { CORKBOARD_DATA: own } });
			await run("run", views);
			assert.deepEqual(here(), ["User:1 User:2", "User:3 User:1"]);
			const state = join(folder, "views.state.json");
			await following(views, own, "a pass", () =>
				readFileSync(state, "utf8").includes('"kind": "follow"'),
			);
			await following(
				views,
				own,
				"the last change",
				() => fact('["username","dot"]', own).length === 1,
				"UPDATE local_user SET bio = 'A' WHERE id = 11",
				"UPDATE person SET login = 'bea' WHERE id = 2",
				"UPDATE stars SET hidden = 1 WHERE id = 21",
				"UPDATE stars SET hidden = 0 WHERE id = 22",
				"DELETE FROM local_user WHERE id = 13",
				"INSERT INTO local_user VALUES (14, 4, NULL)",
			);
			for (const [part, count] of [
				['["bio","A"]', 1],
				['["username","bea"]', 1],
				['["username","ben"]', 0],
			] as const) {
				assert.equal(fact(part, own).length, count, part);
			}
			assert.deepEqual(here(), ["User:2 User:1", "User:3 User:1"]);
			const { passes } = JSON.parse((await run("status", views, "--json")).out);
			const { kind, made, changed, deleted } = passes.at(-1);
			assert.deepEqual([kind, made, changed, deleted], ["follow", 2, 2, 2]);
			const compared = await run("compare", views, "--all");
			assert.match(compared.out, / 0 differ,/);
		});

		it("follows the log, and goes on where it was interrupted", async () => {
			if (name === "PostgreSQL") {
				const { err } = await migrate("run", mapping, "--follow");
				const statements = err.match(/CREATE PUBLICATION.*;/g) ?? [];
				assert.match(err, /CREATE PUBLICATION "corkboard_old"/);
				assert.match(
					err,
					/Rows of likes that are deleted, or get another user_id or likeable_id, are found by full passes only, because the log has nothing of what they were but id\. To follow them, /,
				);
				await old.run(...statements, "ALTER TABLE likes REPLICA IDENTITY FULL");
			}
			await following(mapping, data, "a pass before it", () => {
				const { passes, follow } = JSON.parse(
					readFileSync(join(folder, "old.state.json"), "utf8"),
				);
				return follow !== null && passes.at(-1)?.kind === "follow";
			});
			// Nobody follows it meanwhile.
			await old.run(
				"UPDATE users SET first = 'Augusta' WHERE id = 1",
				"INSERT INTO boards VALUES (9, 1, 'Later', FALSE)",
				"INSERT INTO pins VALUES (9, 9, NULL, 'later', NULL, '2024-01-01 00:00:00', '2024-01-01 00:00:00')",
				"INSERT INTO likes VALUES (9, 1, 'Pin', 9, '2024-01-01 00:00:00')",
				// The same edge twice: it stays when one of them goes.
				"INSERT INTO likes VALUES (10, 2, 'Pin', 9, '2024-01-01 00:00:00'), (11, 2, 'Pin', 9, '2024-01-01 00:00:00')",
				// A like of a pin that is marked as deleted.
				"INSERT INTO likes VALUES (12, 1, 'Pin', 3, '2024-01-01 00:00:00')",
				"DELETE FROM likes WHERE id = 10",
				"DELETE FROM likes WHERE id = 1",
				"UPDATE likes SET likeable_id = 9 WHERE id = 5",
				"DELETE FROM follows WHERE follower_id = 2",
				// Not followed for a moment: the list has the new time.
				"DELETE FROM follows WHERE follower_id = 1",
				"INSERT INTO follows VALUES (1, 2, '2023-01-01 00:00:00')",
			);
			await following(
				mapping,
				data,
				"all of it",
				() =>
					fact('["name","Augusta Lovelace"]').length === 1 &&
					fact('"last"').length === 1 &&
					fact('["username","gil"]').length === 1,
				"UPDATE pins SET caption = 'last' WHERE id = 9",
				"INSERT INTO users VALUES (20, 'gil', 'Gil', 'Last', NULL, NULL, 0, NULL, NULL)",
				"INSERT INTO users VALUES (21, 'hal', 'Hal', 'Gone', NULL, NULL, 0, NULL, NULL)",
				"DELETE FROM users WHERE id = 21",
			);
			const { out, err } = await migrate("compare", mapping, "--all");
			assert.match(out, / 0 differ,/, err);
			const refused = JSON.parse((await migrate("bad", mapping, "--json")).out);
			const like = refused.find(
				({ key }: { key: string }) => key === "likePin User:1 Pin:3",
			);
			assert.equal(like.hangsOn, "deleted");
			const status = JSON.parse(
				(await migrate("status", mapping, "--json")).out,
			);
			assert.equal(status.passes.at(-1).withDeleted, 1);
			assert.deepEqual(
				edges("user_follows_users").map(([, from, to]) => [from, to]),
				[["User:1", "User:2"]],
			);
			assert.deepEqual(
				edges("user_likes_pins").map(([, from, to]) => [from, to]),
				[
					["User:1", "Pin:2"],
					["User:1", "Pin:9"],
					["User:2", "Pin:9"],
				],
			);
			const shown = await runHere(["verify"], {
				env: { CORKBOARD_DATA: data },
			});
			assert.match(shown.out, /everything agrees/);
		});

		it("reads only the types and edges that are named, and keeps what it knows of the rest", async () => {
			const before = (await migrate("bad", mapping)).out;
			const { counts } = await pass(
				...["--only", "Board,likePin", "--rate", "1000"],
			);
			// One of the likes makes the same edge as one before it.
			assert.deepEqual([counts.rows, counts.made, counts.deleted], [9, 0, 0]);
			const lines = (text: string) => text.trim().split("\n").toSorted();
			const { out } = await migrate("bad", mapping);
			assert.deepEqual(lines(out), lines(before));
		});

		it("finishes when nobody writes to it any more, and prints for it what changes here", async () => {
			process.env.OLD_DATABASE = old.url;
			const early = await migrate("finish", mapping);
			assert.equal(early.code, 1);
			assert.match(early.err, /takes writes\. Run there: (SET|ALTER)/);
			await old.run(
				"UPDATE pins SET caption = 'at last' WHERE id = 9",
				name === "PostgreSQL"
					? "ALTER DATABASE legacy SET default_transaction_read_only = on"
					: "SET GLOBAL super_read_only = ON",
			);
			if (name === "PostgreSQL") {
				// A session that is older than the setting still writes.
				await old.run("BEGIN", "UPDATE pins SET caption = 'too late'");
				const { code, err } = await migrate("finish", mapping);
				assert.equal(code, 1);
				assert.match(
					err,
					/has an open transaction that writes to pins: wait for its end, or run there: SELECT pg_terminate_backend\(\d+\);/,
				);
				await old.run("ROLLBACK");
				await old.run("BEGIN", "UPDATE pins SET caption = 'too late'");
				await old.run("PREPARE TRANSACTION 'it''s late'");
				const prepared = await migrate("finish", mapping);
				assert.equal(prepared.code, 1);
				assert.match(
					prepared.err,
					/has a prepared transaction it's late of \w+: wait for its end, or run there: ROLLBACK PREPARED 'it''s late';/,
				);
				await old.run("ROLLBACK PREPARED 'it''s late'");
				// One that has only read, and an idle one.
				for (const statement of ["BEGIN", "ROLLBACK"]) {
					await old.run(statement, "SELECT 1");
					const { code, err } = await migrate("finish", mapping);
					assert.equal(code, 1);
					assert.match(
						err,
						/has sessions that may be older than the setting which stops writes, and then still write: (\d+) \(user \w+, 127\.0\.0\.1, idle( in transaction)? since [-0-9]+ [:0-9]+\+00\)\. Stop the application, or run there: SELECT pg_terminate_backend\(pid\) FROM pg_stat_activity WHERE pid IN \(\1\); then run it again\. If .* --writes-stopped/,
					);
				}
				const believed = await migrate("finish", mapping, "--writes-stopped");
				assert.match(believed.out, /rows were refused and are not here/);
				// A session that is newer than the setting is not in the way.
				await old.reconnect?.();
				await assert.rejects(
					old.run("UPDATE pins SET caption = 'too late'"),
					/read-only transaction/,
				);
			}
			const refused = await migrate("finish", mapping);
			assert.equal(refused.code, 1);
			assert.match(refused.out, /rows were refused and are not here/);
			const { code, out, err } = await migrate(
				...["finish", mapping, "--accept-bad", "--json"],
			);
			assert.equal(code, 0, out + err);
			const { isFinished, passes, comparison } = JSON.parse(out);
			assert.equal(isFinished, true);
			assert.equal(comparison.differ, 0);
			const { made, changed, deleted } = passes.at(-1);
			assert.deepEqual([made, changed, deleted], [0, 0, 0]);
			assert.equal(fact('"at last"').length, 1);

			const lines = async () => {
				const { out } = await migrate("back-feed", mapping);
				return out
					.split("\n")
					.flatMap((line) => (line ? JSON.parse(line) : []));
			};
			const [own, ...others] = await lines();
			assert.deepEqual(others, []);
			assert.deepEqual([own.key, own.fields.bio], ["User:3", "mine"]);
			sqlOn(
				data,
				/^mod/,
				"DELETE FROM lookups WHERE name = 'import' AND key = 'Pin:9'",
			);
			sqlOn(
				data,
				/^db/,
				"UPDATE user_follows_users SET sequence = sequence / 1000 * 1000, state = 1",
			);
			const [, pin, ...edges] = await lines();
			assert.match(pin.key, /^new:\d+$/);
			assert.deepEqual(pin.fields.board, "Board:9");
			assert.deepEqual(
				edges.filter(({ from }) => from === "User:1"),
				[{ edge: "followUser", from: "User:1", to: "User:2", deleted: true }],
			);
		});
	});
}
