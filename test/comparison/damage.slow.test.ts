import assert from "node:assert/strict";
import type { DatabaseSync } from "node:sqlite";
import { after, before, describe, it } from "node:test";
import { type Ask, folderAsk } from "../../tools/compare/ask.ts";
import { compare } from "../../tools/compare/compare.ts";
import type { Page } from "../../tools/compare/documents.ts";
import type { ListName } from "../../tools/compare/expected.ts";
import type { Summary } from "../../tools/compare/findings.ts";
import { damage, dropEdge, raiseCount, swapEdges } from "./damage.ts";
import { type Imported, importedGraph } from "./imported.ts";

const SEED = 2;
const EVERYBODY = { users: 1_000, seed: SEED };

/** Each list with its table and mapping. */
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

let graph: Imported;
before(async () => {
	graph = await importedGraph(SEED);
});
after(() => graph[Symbol.dispose]());

/** Compares a damaged copy of the whole graph. */
async function afterDamage(
	files: "db" | "mod",
	work: (database: DatabaseSync) => boolean,
): Promise<Summary> {
	const folder = graph.copy();
	damage(folder, files, work);
	await using at = await folderAsk(folder);
	return await compare(graph.expectation, at.ask, EVERYBODY);
}

function assertCaught(summary: Summary, sentence: RegExp): void {
	assert.notEqual(summary.mismatches, 0);
	assert.match(summary.spelled.join("\n"), sentence);
}

function changes(database: DatabaseSync, sql: string): boolean {
	return database.prepare(sql).run().changes !== 0n;
}

/** Compares the undamaged graph, but tampers with the pages of list reads. */
async function withWalk(
	tamper: (page: Page, variables: Readonly<Record<string, unknown>>) => Page,
): Promise<Summary> {
	await using at = await folderAsk(graph.folder);
	const ask: Ask = async (query, variables) => {
		const data = await at.ask(query, variables);
		if (!query.startsWith("query Walk")) return data;
		const { user } = data as { readonly user: { readonly followers: Page } };
		return { user: { followers: tamper(user.followers, variables) } };
	};
	return await compare(graph.expectation, ask, { users: 5, seed: SEED });
}

describe("the comparison detects, in each kind of list,", () => {
	for (const [name, table, mapping] of LISTS) {
		const inList = (rest: string) =>
			new RegExp(`^${name.replace(".", "\\.")} of [^:]+:\\S+${rest}`, "m");

		it(`two swapped edges of ${name}`, async () => {
			assertCaught(
				await afterDamage("db", (database) => swapEdges(database, table)),
				// Boards with equal names are distinguished by their pins.
				new RegExp(
					`${inList(", 1 from the top").source}|its board: what \\d+ is: expected`,
					"m",
				),
			);
		});

		it(`a lost edge of ${name} whose count was decremented`, async () => {
			assertCaught(
				await afterDamage("db", (database) =>
					dropEdge(database, table, mapping),
				),
				inList(": length: expected"),
			);
		});

		it(`a count of ${name} that is too high by one`, async () => {
			const summary = await afterDamage("db", (database) =>
				raiseCount(database, mapping),
			);
			assertCaught(summary, inList(": totalCount: expected"));
		});
	}
});

describe("the comparison detects", () => {
	it("a lost edge whose count was not decremented", async () => {
		const summary = await afterDamage("db", (database) =>
			dropEdge(database, "pin_liked_by_users", null),
		);
		assert.equal(
			summary.spelled.filter((text) => text.includes("totalCount")).length,
			0,
		);
		assertCaught(summary, /^Pin.likedBy of p:\S+: length/m);
	});

	it("swapped pins that differ only by their id", async () => {
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

	it("a wrong and a missing origin of a pin", async () => {
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

	it("changed text of a pin and a changed owner of a board", async () => {
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

	it("a deleted pin", async () => {
		const summary = await afterDamage("db", (database) =>
			changes(
				database,
				"UPDATE pins SET data = json_set(data, '$.active', json('false')) WHERE local_id = 1",
			),
		);
		// Which of its lists is reported first depends on the random users.
		assertCaught(
			summary,
			/^(?:User.pins|User.likes|Board.pins|Pin.repins) of \S+: length: expected \d+ but got: \d+/m,
		);
	});

	it("a username whose lookup leads to another user", async () => {
		const summary = await afterDamage("mod", (database) =>
			changes(
				database,
				`UPDATE lookups SET id = (SELECT id FROM lookups other
					WHERE other.name = 'username' AND other.id <> lookups.id LIMIT 1)
				WHERE name = 'username' AND key = (SELECT MIN(key) FROM lookups WHERE name = 'username')`,
			),
		);
		// The other user does not hold the name.
		assertCaught(
			summary,
			/^user Pinner_\d+: expected User .* but got: nothing/m,
		);
	});

	it("a page with a missing, repeated or reordered node", async () => {
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

	it("a wrong hasNextPage and a wrong hasPreviousPage", async () => {
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
