import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { after, before, describe, it } from "node:test";
import { parse } from "graphql";
import { openCorkboard } from "../../src/cli/open.ts";
import { readConfig } from "../../src/config.ts";
import { fieldFaults } from "../../src/model/fieldFault.ts";
import { importLines } from "../../src/ops/import.ts";
import { createLog } from "../../src/server/log.ts";
import { startServer } from "../../src/server/server.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { type Ask, folderAsk, httpAsk } from "./ask.ts";
import { compare } from "./compare.ts";
import { damage, dropEdge, raiseCount, swapEdges } from "./damage.ts";
import type { Page } from "./documents.ts";
import {
	type Expectation,
	type ListName,
	readExpectation,
	readFile,
} from "./expected.ts";
import type { Summary } from "./findings.ts";
import { generatedGraph } from "./graph.ts";

const SEED = 1;
const EVERYBODY = { users: 1_000, seed: SEED };

/** Each list with the table and the mapping that hold it. */
const LISTS: readonly (readonly [ListName, string, string])[] = [
	["User.boards", "user_has_boards", "ownBoard"],
	["User.pins", "user_has_pins", "ownPin"],
	["User.likes", "user_likes_pins", "likePin"],
	["User.following", "user_follows_users", "followUser"],
	["User.followers", "user_followed_by_users", "followUser.inverse"],
	["Board.pins", "board_has_pins", "placePin"],
	["Pin.repins", "pin_has_repins", "repin"],
	["Pin.likedBy", "pin_liked_by_users", "likePin.inverse"],
];

const around = temporaryFolder();
const file = join(around.path, "graph.ndjson");
const whole = join(around.path, "whole");
let expectation: Expectation;
let copies = 0;

before(async () => {
	const lines = [...generatedGraph(SEED)].map((line) => JSON.stringify(line));
	writeFileSync(file, `${lines.join("\n")}\n`);
	expectation = await readFile(file);
	await using corkboard = await open(whole);
	const report = await importLines(
		corkboard.store,
		(async function* () {
			yield* lines;
		})(),
		{ faultOf: fieldFaults(corkboard.schema) },
	);
	assert.equal(report.bad, 0);
});
after(() => around[Symbol.dispose]());

function open(folder: string) {
	mkdirSync(folder, { recursive: true });
	return openCorkboard(
		readConfig({ CORKBOARD_DATA: folder, CORKBOARD_DEMO: "off" }),
		"own",
	);
}

/** The whole comparison of a copy that something was done to. */
async function afterDamage(
	files: "db" | "mod",
	work: (database: DatabaseSync) => boolean,
): Promise<Summary> {
	const folder = join(around.path, `copy${++copies}`);
	cpSync(whole, folder, { recursive: true });
	damage(folder, files, work);
	await using at = await folderAsk(folder);
	return compare(expectation, at.ask, EVERYBODY);
}

function assertCaught(summary: Summary, sentence: RegExp): void {
	assert.notEqual(summary.mismatches, 0);
	assert.match(summary.spelled.join("\n"), sentence);
}

function changes(database: DatabaseSync, sql: string): boolean {
	return database.prepare(sql).run().changes !== 0n;
}

/** Asks the whole graph, and answers something else to a walk's pages. */
async function withWalk(
	tamper: (page: Page, variables: Readonly<Record<string, unknown>>) => Page,
): Promise<Summary> {
	await using at = await folderAsk(whole);
	const ask: Ask = async (query, variables) => {
		const data = await at.ask(query, variables);
		if (!query.startsWith("query Walk")) return data;
		const { user } = data as { readonly user: { readonly followers: Page } };
		return { user: { followers: tamper(user.followers, variables) } };
	};
	return compare(expectation, ask, { users: 5, seed: SEED });
}

describe("the comparison with the imported file", () => {
	it("finds that everything agrees, down to the last page of the longest lists", async () => {
		await using at = await folderAsk(whole);
		const summary = await compare(expectation, at.ask, EVERYBODY);
		const { spelled, mismatches, users, walked } = summary;
		assert.deepEqual({ spelled, mismatches }, { spelled: [], mismatches: 0 });
		const [best = ""] = expectation.users
			.toSorted((a, b) => followers(b) - followers(a))
			.map(({ username }) => username);
		assert.equal(users, 160);
		assert.equal(walked.username, best);
		assert.ok(walked.followers > 100);
		assert.equal(walked.pagesForward, Math.ceil(walked.followers / 50));
		assert.equal(walked.pagesBackward, walked.pagesForward);
		const pins = expectation.users.flatMap((user) =>
			expectation.list("User.pins", user),
		);
		assert.equal(summary.pins, pins.length);
		assert.equal(summary.origins, pins.length);
		assert.equal(
			summary.lists,
			5 * users + summary.boards + 2 * summary.pins,
			"each list of each object, once",
		);
		assert.ok(summary.pages > summary.lists + 8);
	});

	function followers(user: Expectation["users"][number]): number {
		return expectation.list("User.followers", user).length;
	}

	it("draws the same users for the same seed, and no more than asked for", async () => {
		await using at = await folderAsk(whole);
		const drawn = (seed: number) =>
			compare(expectation, at.ask, { users: 7, seed });
		const one = await drawn(1);
		assert.deepEqual(await drawn(1), one);
		assert.equal(one.users, 7);
		assert.notEqual((await drawn(2)).edges, one.edges);
	});

	it("asks nothing a server refuses: 2,000 tokens, a price of 50,000", async () => {
		const corkboard = await open(whole);
		await using _ = corkboard;
		const prices: number[] = [];
		const ask: Ask = async (query, variables) => {
			const document = parse(query, { maxTokens: 2_000 });
			const price = corkboard.planner.price({ document, variables });
			assert.ok("total" in price);
			prices.push(price.total);
			const context = corkboard.request(null);
			const { data } = await corkboard.planner.execute({
				document,
				variables,
				context,
			});
			assert.ok(data);
			return data;
		};
		const { mismatches } = await compare(expectation, ask, EVERYBODY);
		assert.equal(mismatches, 0);
		const dearest = Math.max(...prices);
		assert.ok(dearest > 30_000 && dearest <= 50_000, `got ${dearest}`);
	});

	it("says the same over HTTP, of several addresses in turn", async () => {
		const corkboard = await open(whole);
		await using _ = corkboard;
		const options = {
			...corkboard,
			...corkboard.config,
			log: createLog({ level: "silent", format: "json" }),
			port: 0,
			ready: () => true,
		};
		await using one = await startServer(options);
		await using other = await startServer(options);
		const ask = httpAsk([`${one.url}/graphql`, `${other.url}/graphql`]);
		const { mismatches, edges } = await compare(expectation, ask, EVERYBODY);
		assert.equal(mismatches, 0);
		assert.ok(edges > 10_000);
		await assert.rejects(
			ask("{ user(id: 7, username: 7) { id } }", {}),
			/graphql \(400\): expected an answer without errors but got \d: GRAPHQL_VALIDATION_FAILED/,
		);
	});

	it("ends with 1 where something does not agree, and says what", async () => {
		const run = (folder: string) =>
			new Promise<{ readonly code: unknown; readonly stdout: string }>(
				(resolve) => {
					const main = join(import.meta.dirname, "main.ts");
					execFile(
						process.execPath,
						[main, file, "--data", folder, "--users", "20", "--seed", "3"],
						{ timeout: 60_000 },
						(error, stdout) => resolve({ code: error?.code ?? 0, stdout }),
					);
				},
			);
		const good = await run(whole);
		assert.equal(good.code, 0);
		assert.match(good.stdout, /^seed 3\n20 users.*\n.*\n0 mismatches\n/);
		const folder = join(around.path, "bad");
		cpSync(whole, folder, { recursive: true });
		damage(folder, "db", (database) => {
			changes(database, "UPDATE lists SET count = count + 1");
			return false || database.location()?.includes("db00015") === true;
		});
		const bad = await run(folder);
		assert.equal(bad.code, 1);
		assert.match(bad.stdout, /totalCount: expected \d+ but got: \d+/);
		assert.match(bad.stdout, /and [\d,]+ more\n[\d,]+ mismatches\n/);
	});
});

describe("the comparison catches, in each kind of list,", () => {
	for (const [name, table, mapping] of LISTS) {
		const inList = (rest: string) =>
			new RegExp(`^${name.replace(".", "\\.")} of [^:]+:\\S+${rest}`, "m");

		it(`two edges of ${name} that changed places`, async () => {
			assertCaught(
				await afterDamage("db", (database) => swapEdges(database, table)),
				inList(", 1 from the top"),
			);
		});

		it(`an edge of ${name} that is lost, with its share of the count`, async () => {
			assertCaught(
				await afterDamage("db", (database) =>
					dropEdge(database, table, mapping),
				),
				inList(": length: expected"),
			);
		});

		it(`a count of ${name} that is one too high`, async () => {
			const summary = await afterDamage("db", (database) =>
				raiseCount(database, mapping),
			);
			assertCaught(summary, inList(": totalCount: expected"));
		});
	}
});

describe("the comparison catches", () => {
	it("an edge that is lost while its count stays", async () => {
		const summary = await afterDamage("db", (database) =>
			dropEdge(database, "pin_liked_by_users", null),
		);
		assert.equal(
			summary.spelled.filter((text) => text.includes("totalCount")).length,
			0,
		);
		assertCaught(summary, /^Pin.likedBy of p:\S+: length/m);
	});

	it("twins that changed places: pins that nothing but the id tells apart", async () => {
		const summary = await afterDamage("db", (database) => {
			const [twins] = database
				.prepare(
					`SELECT one.from_id, one.to_id AS one, other.to_id AS other,
						one.sequence AS first, other.sequence AS second
					FROM board_has_pins one JOIN board_has_pins other
						ON other.from_id = one.from_id AND other.to_id > one.to_id
					JOIN pins a ON a.local_id = one.to_id & 0xfffffffff
					JOIN pins b ON b.local_id = other.to_id & 0xfffffffff
					WHERE a.data->>'link' = b.data->>'link'
						AND a.data->>'origin_id' = b.data->>'origin_id' LIMIT 1`,
				)
				.all() as Readonly<Record<string, bigint>>[];
			if (twins === undefined) return false;
			const place = database.prepare(
				"UPDATE board_has_pins SET sequence = ? WHERE from_id = ? AND to_id = ?",
			);
			const { from_id, one, other, first, second } = twins as {
				readonly [column in
					| "from_id"
					| "one"
					| "other"
					| "first"
					| "second"]: bigint;
			};
			place.run(second, from_id, one);
			place.run(first, from_id, other);
			return true;
		});
		assertCaught(
			summary,
			/^Board.pins of b:\S+, \d+ from the top: the id of p:\S+: expected \d+ but got: \d+$/m,
		);
	});

	it("an origin that is another pin, and one that is forgotten", async () => {
		const other = await afterDamage("db", (database) =>
			changes(
				database,
				`UPDATE pins SET data = json_set(data, '$.origin_id', (SELECT data->>'origin_id'
					FROM pins other WHERE other.data->>'origin_id' IS NOT NULL
						AND other.data->>'link' <> pins.data->>'link' LIMIT 1))
				WHERE local_id = (SELECT MAX(local_id) FROM pins WHERE data->>'origin_id' IS NOT NULL)`,
			),
		);
		assertCaught(other, /^origin of p:\S+: expected Pin .* but got: Pin /m);
		const forgotten = await afterDamage("db", (database) =>
			changes(
				database,
				`UPDATE pins SET data = json_remove(data, '$.origin_id')
				WHERE local_id = (SELECT MAX(local_id) FROM pins WHERE data->>'origin_id' IS NOT NULL)`,
			),
		);
		assertCaught(forgotten, /^origin of p:\S+: expected Pin .* nothing$/m);
	});

	it("words that were changed, and an owner who is another", async () => {
		const words = await afterDamage("db", (database) =>
			changes(
				database,
				"UPDATE pins SET data = json_set(data, '$.details', 'Else') WHERE local_id = 1",
			),
		);
		assertCaught(words, /expected Pin .* but got: Pin \[.*"Else"/);
		const owner = await afterDamage("db", (database) =>
			changes(
				database,
				`UPDATE boards SET data = json_set(data, '$.user_id',
					(SELECT data->>'user_id' FROM boards other
						WHERE other.data->>'user_id' <> boards.data->>'user_id' LIMIT 1))
				WHERE local_id = 1`,
			),
		);
		assertCaught(owner, /^User.boards of u:\d+, \d+ from the top: expected/m);
	});

	it("a pin that is gone", async () => {
		const summary = await afterDamage("db", (database) =>
			changes(
				database,
				"UPDATE pins SET data = json_set(data, '$.active', json('false')) WHERE local_id = 1",
			),
		);
		assertCaught(summary, /^User.pins of u:\d+: length/m);
	});

	it("a name that leads to another user", async () => {
		const summary = await afterDamage("mod", (database) =>
			changes(
				database,
				`UPDATE lookups SET id = (SELECT id FROM lookups other
					WHERE other.name = 'username' AND other.id <> lookups.id LIMIT 1)
				WHERE name = 'username' AND key = (SELECT MIN(key) FROM lookups WHERE name = 'username')`,
			),
		);
		assertCaught(summary, /^user Pinner_\d+: expected User .* but got: User /m);
	});

	it("a page that leaves one out, or brings one again, forward and backward", async () => {
		const forward = await withWalk((page, { after }) =>
			after ? { ...page, nodes: page.nodes.slice(1) } : page,
		);
		assertCaught(forward, /paged forward, page 2: length: expected 50/);
		const again = await withWalk((page, { first, after }) =>
			first && !after
				? {
						...page,
						nodes: [...page.nodes.slice(0, 49), ...page.nodes.slice(0, 1)],
					}
				: page,
		);
		assertCaught(again, /paged forward: met more than once: expected 0 but/);
		const backward = await withWalk((page, { last }) =>
			last ? { ...page, nodes: page.nodes.toReversed() } : page,
		);
		assertCaught(backward, /paged backward, 1 from the top: expected User/);
	});

	it("a page that says there is more where there is not, or that there is no more where there is", async () => {
		const more = await withWalk((page) => ({
			...page,
			pageInfo: { ...page.pageInfo, hasNextPage: true },
		}));
		assertCaught(more, /paged forward, page 3: more ahead: expected false/);
		const less = await withWalk((page) => ({
			...page,
			pageInfo: { ...page.pageInfo, hasPreviousPage: false },
		}));
		assertCaught(less, /paged backward, page 1: more ahead: expected true/);
		assertCaught(less, /paged backward: length/);
	});
});

describe("what a file of import lines says", () => {
	const user = (key: string) => ({
		type: "User",
		key,
		fields: { username: key, name: key },
	});
	const texts = (lines: readonly unknown[]) =>
		lines.map((line) => JSON.stringify(line));

	it("is newest first, an edge that comes twice at its first line", async () => {
		const follow = (from: string, to: string) => ({
			edge: "followUser",
			from,
			to,
		});
		const read = await readExpectation(
			texts([
				user("a"),
				user("b"),
				user("c"),
				follow("a", "b"),
				follow("a", "c"),
				follow("a", "b"),
				follow("c", "b"),
				{ type: "Interest", key: "i", fields: { slug: "x", name: "X" } },
			]),
		);
		const [a, b] = read.users;
		assert.ok(a && b);
		const keys = (name: ListName, of: typeof a) =>
			read.list(name, of).map(({ key }) => key);
		assert.deepEqual(keys("User.following", a), ["c", "b"]);
		assert.deepEqual(keys("User.followers", b), ["c", "a"]);
		assert.deepEqual(keys("User.followers", a), []);
		assert.deepEqual([...read.uncompared], [["Interest", 1]]);
		assert.equal(read.lines, 8);
	});

	it("is refused where a line is bad, with its number", async () => {
		await assert.rejects(
			readExpectation(
				texts([user("a"), { edge: "followUser", from: "a", to: "b" }]),
			),
			/^Error: line 2: expected the key of a User of an earlier line but got: "b"$/,
		);
		await assert.rejects(readExpectation(["{"]), /^Error: line 1: /);
	});
});
