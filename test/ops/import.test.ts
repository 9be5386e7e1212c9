import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Id } from "../../src/id/ids.ts";
import { PRESENT } from "../../src/storage/port.ts";
import { callsOf, type Embedded, openEmbedded } from "../helpers/embedded.ts";
import { dump, importAll, START, sqlOn } from "../helpers/importing.ts";

const ada = {
	type: "User",
	key: "u:ada",
	fields: { username: "Ada", name: "Ada" },
};
const bob = {
	type: "User",
	key: "u:bob",
	fields: { username: "bob", name: "Bob" },
};
const board = {
	type: "Board",
	key: "b:1",
	fields: { owner: "u:ada", name: "One" },
};
const pin = (n: number, fields: object = {}) => ({
	type: "Pin",
	key: `p:${n}`,
	fields: { board: "b:1", details: `Pin ${n}`, ...fields },
});
const like = (from: string, to: string) => ({ edge: "likePin", from, to });

async function idOf({ storage }: Embedded, key: string): Promise<Id | null> {
	const [row] = await storage.lookups([{ name: "import", key }]);
	assert.ok(!(row instanceof Error));
	return row?.id ?? null;
}

async function contentOf(graph: Embedded, key: string) {
	const [text] = await graph.storage.objects([(await idOf(graph, key)) as Id]);
	return JSON.parse(text as string);
}

async function listOf(graph: Embedded, name: string, key: string) {
	const from = (await idOf(graph, key)) as Id;
	const mapping = graph.mapping(name);
	const [scanned] = await graph.storage.scan([
		{ mapping, from, backward: false, limit: 100 },
	]);
	assert.ok(scanned !== undefined && !(scanned instanceof Error));
	return scanned;
}

async function keysOf(graph: Embedded, keys: readonly string[]) {
	const ids = await Promise.all(keys.map((key) => idOf(graph, key)));
	return new Map(ids.map((id, at) => [id, keys[at]]));
}

describe("an import", () => {
	it("tells what it made, and what was there already", async () => {
		await using graph = await openEmbedded();
		const lines = [ada, bob, board, pin(1), pin(2), "", like("u:bob", "p:1")];
		const { report, bad } = await importAll(graph, lines);
		assert.deepEqual(bad, []);
		assert.deepEqual(report, {
			outcome: "finished",
			lines: 7,
			objects: { User: 2, Board: 1, Pin: 2 },
			edges: { likePin: 1 },
			existing: 0,
			bad: 0,
		});
		const again = await importAll(graph, [
			...lines,
			pin(3),
			like("u:bob", "p:1"),
		]);
		assert.deepEqual(again.report, {
			outcome: "finished",
			lines: 9,
			objects: { Pin: 1 },
			edges: {},
			existing: 7,
			bad: 0,
		});
	});

	it("stores fields under the model's keys, references as ids, and a pin's owner from its board", async () => {
		await using graph = await openEmbedded();
		await importAll(
			graph,
			[ada, board, pin(1), pin(2, { origin: "p:1", link: null })],
			{ now: () => START },
		);
		const { nonces: _, ...user } = await contentOf(graph, "u:ada");
		assert.deepEqual(user, {
			username: "Ada",
			name: "Ada",
			created_at: "2026-11-20T12:00:00.000Z",
			version: 1,
		});
		assert.deepEqual(await contentOf(graph, "p:2"), {
			details: "Pin 2",
			board_id: await idOf(graph, "b:1"),
			origin_id: await idOf(graph, "p:1"),
			user_id: await idOf(graph, "u:ada"),
			created_at: "2026-11-20T12:00:00.000Z",
			version: 1,
		});
	});

	it("gives a pin its board's owner when the board came with an earlier run", async () => {
		await using graph = await openEmbedded();
		await importAll(graph, [ada, board]);
		await importAll(graph, [pin(1)]);
		assert.equal(
			(await contentOf(graph, "p:1")).user_id,
			await idOf(graph, "u:ada"),
		);
	});

	it("reports each bad line by its number and goes on", async () => {
		await using graph = await openEmbedded();
		const { report, bad } = await importAll(graph, [
			ada,
			"{",
			"[]",
			{ nothing: 1 },
			{ type: "Usr", key: "u:x", fields: {} },
			{
				type: "User",
				key: "u:x",
				fields: { username: "x", name: "X", nick: 1 },
			},
			{ type: "User", key: "u:x", fields: { username: 7, name: "X" } },
			{ type: "User", key: "u:x", fields: { name: "X" } },
			{ type: "User", key: "", fields: { username: "x", name: "X" } },
			{ ...ada, more: true },
			{ type: "Board", key: "b:x", fields: { owner: "u:none", name: "X" } },
			{ type: "Board", key: "b:x", fields: { name: "X" } },
			{ type: "Board", key: "b:x", fields: { owner: "u:ada", name: "" } },
			{ type: "Board", key: "u:ada", fields: { owner: "u:ada", name: "X" } },
			{ type: "Board", key: "b:x", fields: { owner: 3, name: "X" } },
			board,
			pin(1, { origin: "b:1" }),
			pin(1, { image: { width: 3 } }),
			pin(1, { createdAt: "yesterday" }),
			{ edge: "likePins", from: "u:ada", to: "p:1" },
			{ edge: "likePin.inverse", from: "p:1", to: "u:ada" },
			{ edge: "placePin", from: "b:1", to: "p:1" },
			{ edge: "listInterest", from: "a", to: "b" },
			like("u:ada", "b:1"),
			like("b:1", "u:ada"),
			{ edge: "followUser", from: "u:ada", to: "u:ada" },
			like("u:ada", "p:7"),
			pin(7),
		]);
		assert.deepEqual(bad, [
			"line 2: expected JSON but got: Expected property name or '}' in JSON at position 1 (line 1 column 2)",
			"line 3: expected a JSON object but got: []",
			'line 4: expected a line with "type" or with "edge"',
			'line 5: expected a type of the model but got: "Usr"; did you mean User?',
			'line 6: User has no field "nick" to import',
			"line 7: username must be String! but got: 7",
			"line 8: User needs the field username",
			'line 9: key must be a key of 1 to 200 characters but got: ""',
			'line 10: expected "type", "key", "fields" but got also: "more"',
			'line 11: owner: nothing before this line has the key "u:none"',
			"line 12: Board needs the field owner",
			"line 13: Board needs the field name",
			'line 14: the key "u:ada" is that of a User already',
			"line 15: owner must be a key of 1 to 200 characters but got: 3",
			'line 17: origin must be the key of a Pin but got: "b:1", a Board',
			"line 18: image must be String! but got: null",
			'line 19: createdAt must be DateTime! but got: "yesterday"',
			'line 20: expected an edge (likePin, followUser, followBoard, followInterest, filePin) but got: "likePins"; did you mean likePin?',
			"line 21: likePin.inverse is told by likePin: give that edge instead",
			"line 22: placePin follows the field board of Pin: give it there, not as an edge",
			"line 23: listInterest lists every Interest: it is written with the objects themselves",
			'line 24: to must be the key of a Pin but got: "b:1", a Board',
			'line 25: from must be the key of a User but got: "b:1", a Board',
			"line 26: from and to must be two, but got the same key",
			'line 27: to: nothing before this line has the key "p:7"',
		]);
		assert.equal(report.bad, 25);
		assert.deepEqual(report.objects, { User: 1, Board: 1, Pin: 1 });
	});

	it("stops at the first bad line when strict, with all before it made and nothing after it", async () => {
		await using graph = await openEmbedded();
		const lines = [ada, board, pin(1, { bord: 1 }), pin(2)];
		const { report, bad } = await importAll(graph, lines, { strict: true });
		assert.deepEqual(bad, [
			'line 3: Pin has no field "bord" to import; did you mean board?',
		]);
		assert.deepEqual(report, {
			outcome: "stopped",
			lines: 3,
			objects: { User: 1, Board: 1 },
			edges: {},
			existing: 0,
			bad: 1,
		});
		assert.equal(await idOf(graph, "p:2"), null);
	});

	it("numbers by line, so that what comes last stands on top, on both sides of an edge alike", async () => {
		await using graph = await openEmbedded();
		await importAll(
			graph,
			[
				ada,
				bob,
				board,
				pin(1),
				pin(2),
				pin(3),
				like("u:bob", "p:1"),
				like("u:ada", "p:2"),
				like("u:ada", "p:1"),
			],
			{ now: () => START },
		);
		const names = await keysOf(graph, ["u:ada", "u:bob", "p:1", "p:2", "p:3"]);
		const placed = await listOf(graph, "placePin", "b:1");
		assert.deepEqual(
			placed.edges.map(({ to }) => names.get(to)),
			["p:3", "p:2", "p:1"],
		);
		const likedBy = await listOf(graph, "likePin.inverse", "p:1");
		assert.deepEqual(
			likedBy.edges.map(({ to }) => names.get(to)),
			["u:ada", "u:bob"],
		);
		const likes = await listOf(graph, "likePin", "u:ada");
		const base = (START - 86_400_000) * 1_000 + 500;
		assert.deepEqual(
			likes.edges.map(({ sequence }) => sequence),
			[base + 9_000, base + 8_000],
		);
		assert.equal(likedBy.edges[0]?.sequence, base + 9_000);
		assert.equal(likedBy.list.count, 2);
	});

	it("stays below the likes that come after it", async () => {
		await using graph = await openEmbedded();
		await importAll(graph, [ada, bob, board, pin(1), like("u:bob", "p:1")]);
		const mapping = graph.mapping("likePin");
		const [user, liked] = [
			await idOf(graph, "u:ada"),
			await idOf(graph, "p:1"),
		];
		await graph.writes.setEdge(mapping, user as Id, liked as Id, true);
		const { edges } = await listOf(graph, "likePin.inverse", "p:1");
		assert.deepEqual(edges[0]?.to, user);
	});

	it("goes above what is on a list already, of users or of the import before", async () => {
		await using graph = await openEmbedded();
		await importAll(graph, [ada, board, pin(1)]);
		const live = await graph.writes.create({
			type: "Pin",
			data: {
				board_id: (await idOf(graph, "b:1")) as Id,
				user_id: (await idOf(graph, "u:ada")) as Id,
			},
		});
		await importAll(graph, [pin(2)]);
		await importAll(graph, [pin(3)]);
		const names = await keysOf(graph, ["p:1", "p:2", "p:3"]);
		const { edges } = await listOf(graph, "placePin", "b:1");
		assert.deepEqual(
			edges.map(({ to }) => (to === live ? "live" : names.get(to))),
			["p:3", "p:2", "live", "p:1"],
		);
		assert.ok(
			edges
				.slice(1)
				.every(
					({ sequence }, at) =>
						(edges[at]?.sequence as number) - sequence >= 1_000 ||
						names.get(edges[at]?.to as Id) === undefined,
				),
		);
	});

	it("lists new interests among all of them", async () => {
		await using graph = await openEmbedded();
		await importAll(graph, [
			{ type: "Interest", key: "i:1", fields: { slug: "art", name: "Art" } },
			{ type: "Interest", key: "i:2", fields: { slug: "bees", name: "Bees" } },
		]);
		const mapping = graph.mapping("listInterest");
		const { rootOf } = await import("../../src/model/rootOf.ts");
		const [scanned] = await graph.storage.scan([
			{
				mapping,
				from: rootOf(graph.store.model, mapping),
				backward: false,
				limit: 10,
			},
		]);
		assert.ok(scanned !== undefined && !(scanned instanceof Error));
		assert.deepEqual(
			scanned.edges.map(({ to }) => to),
			[await idOf(graph, "i:2"), await idOf(graph, "i:1")],
		);
	});

	it("leaves an edge that a user removed since as it is", async () => {
		await using graph = await openEmbedded();
		const lines = [ada, board, pin(1), like("u:ada", "p:1")];
		await importAll(graph, lines);
		const mapping = graph.mapping("likePin");
		const user = (await idOf(graph, "u:ada")) as Id;
		const liked = (await idOf(graph, "p:1")) as Id;
		await graph.writes.setEdge(mapping, user, liked, false);
		const { report } = await importAll(graph, lines);
		assert.equal(report.existing, 4);
		const [edge] = await graph.storage.edges([
			{ mapping, from: user, to: liked },
		]);
		assert.ok(edge && !(edge instanceof Error));
		assert.notEqual(edge.state, PRESENT);
	});

	it("changes nothing when it is run again", async () => {
		await using graph = await openEmbedded();
		const lines = [
			ada,
			bob,
			{ type: "User", key: "u:3", fields: { username: "ADA", name: "Third" } },
			board,
			pin(1),
			pin(2, { origin: "p:1" }),
			"bad",
			like("u:bob", "p:1"),
			{ edge: "followUser", from: "u:ada", to: "u:bob" },
		];
		await importAll(graph, lines);
		const before = dump(graph.folder);
		const { report } = await importAll(graph, lines);
		assert.deepEqual([report.existing, report.bad], [7, 2]);
		assert.deepEqual(dump(graph.folder), before);
	});

	it("takes a taken name for a bad line, and what belongs to it too", async () => {
		await using graph = await openEmbedded();
		await graph.writes.create({ type: "User", data: { username: "ada" } });
		const { report, bad } = await importAll(graph, [
			ada,
			board,
			pin(1),
			bob,
			{ type: "User", key: "u:4", fields: { username: "BOB", name: "B" } },
			{ edge: "followUser", from: "u:bob", to: "u:ada" },
		]);
		assert.deepEqual(bad, [
			"line 1: the User's username or email is taken",
			'line 2: owner: nothing before this line has the key "u:ada"',
			'line 3: board: nothing before this line has the key "b:1"',
			"line 5: the User's username or email is taken",
			'line 6: to: nothing before this line has the key "u:ada"',
		]);
		assert.deepEqual(report.objects, { User: 1 });
	});

	it("leaves a user who lost the name to somebody at the same moment dead and without a key", async () => {
		let isRacing = true;
		await using graph = await openEmbedded({
			wrap: (storage) => {
				const racing = Object.create(storage) as typeof storage;
				racing.transact = async (transaction) => {
					const done = await storage.transact(transaction);
					if (isRacing && transaction.creates?.[0]?.type === "User") {
						isRacing = false;
						await graph.writes.create({
							type: "User",
							data: { username: "ada" },
						});
					}
					return done;
				};
				for (const verb of [
					"objects",
					"scan",
					"edges",
					"lookups",
					"setLookups",
					"owed",
					"settle",
				] as const) {
					racing[verb] = (storage[verb] as () => never).bind(storage);
				}
				return racing;
			},
		});
		const { bad } = await importAll(graph, [
			ada,
			board,
			pin(1),
			bob,
			{ edge: "followUser", from: "u:bob", to: "u:ada" },
		]);
		assert.deepEqual(bad, [
			"line 1: the User's username or email is taken",
			"line 2: what it refers to was not made",
			"line 3: what it refers to was not made",
			"line 5: what it leads from or to was not made",
		]);
		assert.equal(await idOf(graph, "u:ada"), null);
		const users = [...dump(graph.folder)]
			.filter(([table]) => table.endsWith(" users"))
			.flatMap(([, rows]) => rows.map(({ data }) => JSON.parse(String(data))));
		assert.deepEqual(
			users.map(({ username, state }) => [username, state]).toSorted(),
			[
				["Ada", "dead"],
				["ada", undefined],
				["bob", undefined],
			],
		);
	});

	it("takes over the name of a user who is dead", async () => {
		await using graph = await openEmbedded();
		await importAll(graph, [ada]);
		sqlOn(
			graph.folder,
			/^db/,
			"UPDATE users SET data = json_set(data, '$.state', 'dead')",
		);
		const { report, bad } = await importAll(graph, [{ ...ada, key: "u:new" }]);
		assert.deepEqual(bad, []);
		assert.deepEqual(report.objects, { User: 1 });
	});

	it("is refused while another is at work, and takes over from one that ended without a word", async () => {
		await using graph = await openEmbedded();
		const { promise, resolve } = Promise.withResolvers<void>();
		const slow = importAll(
			graph,
			(function* () {
				yield ada;
			})(),
			{
				onBadLine: () => {},
				now: () => Date.now(),
			},
		);
		await slow;
		const { takeLease } = await import("../../src/ops/importLease.ts");
		const lease = await takeLease(graph.storage);
		await assert.rejects(importAll(graph, [bob]), {
			code: "IN_USE",
			message:
				"Another import is at work on this graph; expected one at a time.",
		});
		resolve();
		await promise;
		await lease[Symbol.asyncDispose]();
		await importAll(graph, [bob]);

		await graph.storage.setLookups([
			{
				name: "import state",
				key: "lease",
				expect: null,
				next: { id: "0" as Id, nonce: `${Date.now() + 400} gone` },
			},
		]);
		const { report } = await importAll(graph, [board]);
		assert.equal(report.bad, 0);
	});

	it("stops between batches when it is told to, and is gone on with by the next", async () => {
		await using graph = await openEmbedded();
		await using whole = await openEmbedded();
		const pins = Array.from({ length: 6_000 }, (_, n) => pin(n));
		const lines = [ada, board, ...pins];
		const aborted = new AbortController();
		const { report } = await importAll(
			graph,
			(function* () {
				for (const [at, line] of lines.entries()) {
					if (at === 5_000) aborted.abort();
					yield line;
				}
			})(),
			{ signal: aborted.signal },
		);
		assert.equal(report.outcome, "aborted");
		assert.equal(report.lines, 4_000);
		const second = await importAll(graph, lines);
		assert.equal(second.report.existing, 4_000);
		await importAll(whole, lines);
		const tops = await Promise.all(
			[graph, whole].map(async (one) => {
				const { list, edges } = await listOf(one, "placePin", "b:1");
				return [
					list.count,
					edges.map(({ sequence }) => list.lastSequence - sequence),
				];
			}),
		);
		assert.deepEqual(tops[0], tops[1]);
	});

	it("tells its progress, and how long it will take when it knows the length", async () => {
		await using graph = await openEmbedded();
		const told: object[] = [];
		const lines = [
			ada,
			board,
			...Array.from({ length: 30_000 }, (_, n) => pin(n)),
		]
			.map((line) => `${JSON.stringify(line)}\n`)
			.join("");
		const { Readable } = await import("node:stream");
		const { importLines } = await import("../../src/ops/import.ts");
		const { fieldFaults } = await import("../../src/model/fieldFault.ts");
		const { theModel } = await import("../helpers/model.ts");
		const bytes = Buffer.from(lines);
		await importLines(graph.store, Readable.from([bytes]), {
			faultOf: fieldFaults(theModel().schema),
			totalBytes: bytes.length,
			onProgress: (progress) => told.push(progress),
		});
		assert.ok(told.length > 0);
		const [first] = told as {
			lines: number;
			perSecond: number;
			secondsLeft: number;
		}[];
		assert.ok((first?.lines ?? 0) > 0 && (first?.perSecond ?? 0) > 0);
		assert.ok((first?.secondsLeft ?? -1) >= 0);
	});

	it("calls the shards some times for a batch, however many its lines are", async () => {
		await using graph = await openEmbedded({ shards: 2 });
		await importAll(graph, [ada, board]);
		const calls = async (from: number, many: number) =>
			callsOf(() =>
				importAll(
					graph,
					Array.from({ length: many }, (_, n) => [
						pin(from + n),
						like("u:ada", `p:${from + n}`),
					]).flat(),
				),
			);
		const few = await calls(0, 3);
		const many = await calls(100, 700);
		assert.equal(many.length, few.length);
	});
});
