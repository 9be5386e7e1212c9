import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { CorkboardError } from "../../../src/errors.ts";
import { type Id, unpackId } from "../../../src/id/ids.ts";
import { globalListId } from "../../../src/model/types.ts";
import { verify } from "../../../src/ops/verify/verify.ts";
import { PRESENT, REMOVED } from "../../../src/storage/rows.ts";
import { idOf, pin } from "../../helpers/importedGraph.ts";
import { importAll, sqlOn } from "../../helpers/importing.ts";
import { bits, smallGraph } from "../../helpers/verifying.ts";

const DB = /^db/;

describe("verify", { concurrency: 8 }, () => {
	it("finds no damage in a graph whose outbox is empty", async () => {
		await using graph = await smallGraph();
		const verified = await verify(graph.store);
		assert.deepEqual(verified, {
			clean: true,
			status: "finished",
			checked: { objects: 7, edges: 23, lists: 20, lookups: 11 },
			unchecked: [],
			changing: 0,
			pendingEntries: 0,
			damage: [],
			repaired: 0,
			failedRepairs: [],
			remaining: [],
		});
	});

	it("repairs an edge pair with the greater version, and at equal versions with the source edge", async () => {
		await using graph = await smallGraph();
		const mapping = graph.mapping("followUser");
		const [from, to] = [await idOf(graph, "u:ada"), await idOf(graph, "u:bob")];
		sqlOn(
			graph.folder,
			DB,
			"UPDATE user_followed_by_users SET state = 1, version = 4",
		);
		await verify(graph.store, { repair: true });
		const key = { mapping, from: from as Id, to: to as Id };
		const [source] = await graph.storage.read("edges", [key]);
		assert.ok(source && !(source instanceof Error));
		assert.deepEqual([source.state, source.version], [1, 4]);

		sqlOn(graph.folder, DB, "UPDATE user_followed_by_users SET state = 0");
		await verify(graph.store, { repair: true });
		const inverse = graph.mapping("followUser.inverse");
		const [back] = await graph.storage.read("edges", [
			{ mapping: inverse, from: to as Id, to: from as Id },
		]);
		assert.ok(back && !(back instanceof Error));
		assert.deepEqual([back.state, back.version], [1, 5]);
	});

	it("reports a pending outbox entry as no damage, and delivers it before it repairs", async () => {
		await using graph = await smallGraph();
		const mapping = graph.mapping("followUser");
		const [from, to] = [await bits(graph, "u:ada"), await bits(graph, "u:bob")];
		sqlOn(graph.folder, DB, "DELETE FROM user_followed_by_users");
		sqlOn(
			graph.folder,
			DB,
			"DELETE FROM lists WHERE mapping = 'followUser.inverse'",
		);
		const [edge] = await graph.storage.read("edges", [
			{ mapping, from: String(from) as Id, to: String(to) as Id },
		]);
		assert.ok(edge && !(edge instanceof Error));
		await graph.storage.transact({
			shard: Number(from >> 46n),
			decide: () => ({
				result: null,
				outboxEntry: {
					edges: [
						{
							mapping: "followUser.inverse",
							from: String(to),
							to: String(from),
							state: 0,
							version: 1,
							sequence: edge.sequence,
						},
					],
				},
			}),
		});
		const waiting = await verify(graph.store);
		assert.deepEqual([waiting.clean, waiting.pendingEntries], [true, 1]);
		const repaired = await verify(graph.store, { repair: true });
		assert.deepEqual(
			[repaired.clean, repaired.pendingEntries, repaired.repaired],
			[true, 0, 0],
		);
	});

	it("reports no damage and repairs nothing where thousands of pending entries on a shard explain it", async () => {
		const count = 1_500;
		await using graph = await smallGraph();
		const names = Array.from({ length: count }, (_, n) => `follower${n}`);
		await importAll(
			graph,
			names.flatMap((name) => [
				{ type: "User", key: name, fields: { username: name, name } },
				{ edge: "followUser", from: "u:ada", to: name },
			]),
		);
		// As after writes whose other shards did not answer: the inverse edges are
		// missing, each has an entry in the outbox, and none is due yet.
		const ada = (await idOf(graph, "u:ada")) as Id;
		const mapping = graph.mapping("followUser");
		const ids = await Promise.all(names.map((name) => idOf(graph, name)));
		const edges = await graph.storage.read(
			"edges",
			ids.map((to) => ({ mapping, from: ada, to: to as Id })),
		);
		sqlOn(graph.folder, DB, "DELETE FROM user_followed_by_users");
		sqlOn(
			graph.folder,
			DB,
			"DELETE FROM lists WHERE mapping = 'followUser.inverse'",
		);
		const bob = (await idOf(graph, "u:bob")) as Id;
		const [followsBob] = await graph.storage.read("edges", [
			{ mapping, from: ada, to: bob },
		]);
		for (const edge of [...edges, followsBob]) {
			assert.ok(edge && !(edge instanceof Error));
			await graph.storage.transact({
				shard: unpackId(ada).shard,
				decide: () => ({
					result: null,
					outboxEntry: {
						edges: [
							{
								mapping: "followUser.inverse",
								from: edge.to,
								to: ada,
								state: edge.state,
								version: edge.version,
								sequence: edge.sequence,
							},
						],
					},
				}),
			});
		}
		sqlOn(
			graph.folder,
			DB,
			`UPDATE outbox SET next_attempt_at = ${(Date.now() + 3_600_000) * 1_000}`,
		);
		const unavailable = new Proxy(graph.storage, {
			get(storage, name) {
				if (name === "transact") {
					return async () => {
						throw new CorkboardError("UNAVAILABLE", "No answer.");
					};
				}
				const value = Reflect.get(storage, name, storage);
				return typeof value === "function" ? value.bind(storage) : value;
			},
		});
		for (const repair of [false, true]) {
			const { damage, pendingEntries, repaired, failedRepairs } = await verify(
				graph.store.with({ storage: unavailable }),
				{ repair },
			);
			assert.deepEqual(
				{ damage, pendingEntries, repaired, failedRepairs },
				{
					damage: [],
					pendingEntries: count + 1,
					repaired: 0,
					failedRepairs: [],
				},
			);
		}
		const delivered = await verify(graph.store, { repair: true });
		assert.deepEqual(
			[delivered.clean, delivered.pendingEntries, delivered.repaired],
			[true, 0, 0],
		);
	});

	it("finds no damage in a graph while it takes writes", async () => {
		await using graph = await smallGraph();
		const likePin = graph.mapping("likePin");
		const users = await Promise.all(
			Array.from({ length: 8 }, (_, n) =>
				graph.writes.create({ type: "User", data: { username: `user${n}` } }),
			),
		);
		const pins = (await Promise.all(
			["p:1", "p:2"].map((key) => idOf(graph, key)),
		)) as Id[];
		let isOver = false;
		let written = 0;
		const writers = users.map(async (user, n) => {
			for (let at = n; !isOver; at++) {
				const to = pins[at % 2] as Id;
				await graph.writes.setEdge(likePin, user, to, at % 3 !== 0);
				await graph.writes.create({
					type: "Comment",
					data: { text: "hm", user_id: user, pin_id: to },
				});
				written++;
				await nextTurn();
			}
		});
		for (let time = 0; time < 5; time++) {
			const { damage } = await verify(graph.cold());
			assert.deepEqual(damage, []);
		}
		isOver = true;
		await Promise.all(writers);
		assert.ok(written > 100, `expected many writes but got: ${written}`);
	});

	it("counts all damage of a kind and gives a few examples", async () => {
		await using graph = await smallGraph();
		await importAll(
			graph,
			Array.from({ length: 20 }, (_, n) => pin(100 + n)),
		);
		sqlOn(graph.folder, DB, "UPDATE board_has_pins SET version = 3");
		const { damage } = await verify(graph.store);
		assert.equal(damage[0]?.count, 22);
		assert.equal(damage[0]?.examples.length, 5);
	});

	it("accepts the list of the whole graph, whose owner is not an object", async () => {
		await using graph = await smallGraph();
		const mapping = graph.mapping("listInterest");
		const root = globalListId(graph.store.model, mapping);
		const [scanned] = await graph.storage.read("lists", [
			{ mapping, from: root, backward: false, limit: 10 },
		]);
		assert.ok(scanned && !(scanned instanceof Error));
		assert.equal(scanned.list.count, 1);
		assert.equal((await verify(graph.store)).clean, true);
	});

	it("puts an object back on the list of the whole graph so that its deletion takes it away again", async () => {
		await using graph = await smallGraph();
		const mapping = graph.mapping("listInterest");
		const from = globalListId(graph.store.model, mapping);
		const to = (await idOf(graph, "i:1")) as Id;
		const state = async () => {
			const [edge] = await graph.storage.read("edges", [{ mapping, from, to }]);
			assert.ok(edge && !(edge instanceof Error));
			return edge.state;
		};
		const removed = sqlOn(
			graph.folder,
			DB,
			"UPDATE root_has_interests SET state = ?",
			REMOVED,
		);
		assert.equal(removed, 1);
		await verify(graph.store, { repair: true });
		assert.equal(await state(), PRESENT);
		await graph.writes.remove(to);
		assert.equal(await state(), REMOVED);
	});

	it("does not report a clean graph when it is aborted", async () => {
		await using graph = await smallGraph();
		const { clean, status } = await verify(graph.store, {
			signal: AbortSignal.abort(),
		});
		assert.deepEqual([clean, status], [false, "aborted"]);
	});
});
