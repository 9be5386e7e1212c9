import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { callsOf, openEmbedded } from "../../helpers/embedded.ts";
import {
	ada,
	board,
	bob,
	contentOf,
	idOf,
	like,
	pin,
} from "../../helpers/importedGraph.ts";
import { dump, importAll, START, sqlOn } from "../../helpers/importing.ts";
import { storageWith } from "../../helpers/storageWith.ts";

describe("an import", () => {
	it("counts created and existing objects and edges", async () => {
		await using graph = await openEmbedded();
		const lines = [ada, bob, board, pin(1), pin(2), "", like("u:bob", "p:1")];
		const { report, bad } = await importAll(graph, lines);
		assert.deepEqual(bad, []);
		assert.deepEqual(report, {
			status: "finished",
			lines: 7,
			objects: { User: 2, Board: 1, Pin: 2 },
			edges: { likePin: 1 },
			existing: 0,
			changed: 0,
			deleted: 0,
			newerHere: 0,
			bad: 0,
			pending: 0,
		});
		const again = await importAll(graph, [
			...lines,
			pin(3),
			like("u:bob", "p:1"),
		]);
		assert.deepEqual(again.report, {
			status: "finished",
			lines: 9,
			objects: { Pin: 1 },
			edges: {},
			existing: 7,
			changed: 0,
			deleted: 0,
			newerHere: 0,
			bad: 0,
			pending: 0,
		});
	});

	it("stores fields under the model's keys, references as ids, and the owner of a pin's board as the pin's owner", async () => {
		await using graph = await openEmbedded();
		await importAll(
			graph,
			[ada, board, pin(1), pin(2, { origin: "p:1", link: null })],
			{ now: () => START },
		);
		const { tokens: _, ...user } = await contentOf(graph, "u:ada");
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

	it("trims fields, skips blank and null ones, and uses the username as the name of a user without one", async () => {
		await using graph = await openEmbedded();
		const { bad } = await importAll(
			graph,
			[
				{
					type: "User",
					key: "u:ada",
					fields: { username: "Ada", name: " ", bio: " Bakes\n", email: " " },
				},
				{
					type: "Board",
					key: "b:1",
					fields: { owner: "u:ada", name: " One ", secret: null },
				},
			],
			{ now: () => START },
		);
		assert.deepEqual(bad, []);
		const own = { created_at: "2026-11-20T12:00:00.000Z", version: 1 };
		const { tokens: _, ...user } = await contentOf(graph, "u:ada");
		assert.deepEqual(user, {
			username: "Ada",
			name: "Ada",
			bio: "Bakes",
			...own,
		});
		assert.deepEqual(await contentOf(graph, "b:1"), {
			name: "One",
			user_id: await idOf(graph, "u:ada"),
			...own,
		});
	});

	it("gives a pin the owner of its board from an earlier run", async () => {
		await using graph = await openEmbedded();
		await importAll(graph, [ada, board]);
		await importAll(graph, [pin(1)]);
		assert.equal(
			(await contentOf(graph, "p:1")).user_id,
			await idOf(graph, "u:ada"),
		);
	});

	it("refuses a pin whose section is on another board, whatever was imported before", async () => {
		const section = (n: number, board: string) => ({
			type: "Section",
			key: `s:${n}`,
			fields: { board, name: `Section ${n}` },
		});
		const other = { ...board, key: "b:2" };
		const refused = "section must be a Section of the same board.";
		const pins = [
			pin(1, { section: "s:1" }),
			pin(2, { section: "s:2" }),
			pin(3, { board: "b:2", section: "s:2" }),
			pin(4, { board: "b:2", section: "s:1" }),
			pin(5, { section: null }),
		];
		const places = [ada, board, other, section(1, "b:1"), section(2, "b:2")];
		{
			await using graph = await openEmbedded();
			const { bad, report } = await importAll(graph, [...places, ...pins]);
			assert.deepEqual(bad, [`line 7: ${refused}`, `line 9: ${refused}`]);
			assert.equal(report.objects.Pin, 3);
		}
		await using graph = await openEmbedded();
		await importAll(graph, places);
		const { bad, report } = await importAll(graph, pins);
		assert.deepEqual(bad, [`line 2: ${refused}`, `line 4: ${refused}`]);
		assert.equal(report.objects.Pin, 3);
	});

	it("reports each bad line by its number and continues", async () => {
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
				fields: { username: "xyz", name: "X", nick: 1 },
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
			{ type: "Board", key: "b:x", fields: { owner: "u:ada", name: " \t" } },
			pin(8, { link: "ftp://example.com" }),
			{ type: "User", key: "u:x", fields: { username: " eve", name: "Eve" } },
			pin(7),
		]);
		assert.deepEqual(bad, [
			"line 2: Not JSON: Expected property name or '}' in JSON at position 1 (line 1 column 2)",
			"line 3: The line must be a JSON object, got [].",
			'line 4: The line needs "type" or "edge".',
			'line 5: Unknown type "Usr". Did you mean User? The types are Board, Comment, Interest, Pin, Report, Section, User.',
			'line 6: User has no field "nick" to import.',
			"line 7: username must be String, got 7.",
			"line 8: User needs the field username.",
			'line 9: key must be a key of 1 to 200 characters, got "".',
			'line 10: Unknown member "more". A line has "type", "key", "fields", "at", "rev", "deleted".',
			'line 11: owner: no line before this one has the key "u:none".',
			"line 12: Board needs the field owner.",
			"line 13: Board needs the field name.",
			'line 14: The key "u:ada" is that of a User.',
			"line 15: owner must be a key of 1 to 200 characters, got 3.",
			'line 17: origin must be the key of a Pin, got "b:1", a Board.',
			"line 18: image must be URI!, got null.",
			'line 19: createdAt must be DateTime, such as 2026-01-31T12:00:00.000Z, got "yesterday".',
			'line 20: Unknown edge "likePins". Did you mean likePin? The edges are collaborate, filePin, likePin, followUser, followBoard, followInterest, blockUser, showPin.',
			"line 21: likePin.inverse is the inverse of likePin: give that edge instead.",
			"line 22: placePin is derived from the field board of Pin: set that field instead.",
			"line 23: listInterest lists every Interest: creating the objects adds them.",
			'line 24: to must be the key of a Pin, got "b:1", a Board.',
			'line 25: from must be the key of a User, got "b:1", a Board.',
			"line 26: from and to must differ.",
			'line 27: to: no line before this one has the key "p:7".',
			"line 28: Board needs the field name.",
			'line 29: link must be an http or https address, got "ftp://example.com".',
			'line 30: username must be 3 to 30 of A-Z a-z 0-9 _, got " eve".',
		]);
		assert.equal(report.bad, 28);
		assert.deepEqual(report.objects, { User: 1, Board: 1, Pin: 1 });
	});

	it("imports all lines before the first bad one, and nothing after it, when strict", async () => {
		await using graph = await openEmbedded();
		const lines = [ada, board, pin(1, { bord: 1 }), pin(2)];
		const { report, bad } = await importAll(graph, lines, { strict: true });
		assert.deepEqual(bad, [
			'line 3: Pin has no field "bord" to import. Did you mean board?',
		]);
		assert.deepEqual(report, {
			status: "stopped",
			lines: 3,
			objects: { User: 1, Board: 1 },
			edges: {},
			existing: 0,
			changed: 0,
			deleted: 0,
			newerHere: 0,
			bad: 1,
			pending: 0,
		});
		assert.equal(await idOf(graph, "p:2"), null);
	});

	it("reports a line with a taken natural key, and the lines that reference it, as bad", async () => {
		await using graph = await openEmbedded();
		await graph.writes.create({ type: "User", data: { username: "ada" } });
		const { report, bad } = await importAll(graph, [
			ada,
			board,
			pin(1),
			bob,
			{ type: "User", key: "u:4", fields: { username: "BOB", name: "B" } },
			{ edge: "followUser", from: "u:bob", to: "u:ada" },
			{
				type: "User",
				key: "u:7",
				fields: { username: "cyd", name: "C", email: "c@example.org" },
			},
			// Each of another user.
			{
				type: "User",
				key: "u:8",
				fields: { username: "bob", name: "B", email: "C@example.org" },
			},
		]);
		assert.deepEqual(bad, [
			"line 1: The User's username is taken.",
			'line 2: owner: no line before this one has the key "u:ada".',
			'line 3: board: no line before this one has the key "b:1".',
			"line 5: The User's username is taken.",
			'line 6: to: no line before this one has the key "u:ada".',
			"line 8: The User's username and email are taken.",
		]);
		assert.deepEqual(report.objects, { User: 2 });
	});

	it("rejects a user whose username another write takes at the same moment, and stores no import key for it", async () => {
		let isRacing = true;
		await using graph = await openEmbedded({
			wrap: (storage) => {
				return storageWith(storage, {
					async transact(transaction) {
						const done = await storage.transact(transaction);
						if (isRacing && transaction.creates?.[0]?.type === "User") {
							isRacing = false;
							await graph.writes.create({
								type: "User",
								data: { username: "ada" },
							});
						}
						return done;
					},
				});
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
			"line 1: The User's username is taken.",
			"line 2: an object it references was not created.",
			"line 3: an object it references was not created.",
			"line 5: its from or to object was not created.",
		]);
		assert.equal(await idOf(graph, "u:ada"), null);
		const users = [...dump(graph.folder)]
			.filter(([table]) => table.endsWith(" users"))
			.flatMap(([, rows]) => rows.map(({ data }) => JSON.parse(String(data))));
		assert.deepEqual(
			users.map(({ username, state }) => [username, state]).toSorted(),
			[
				["Ada", "rejected"],
				["ada", undefined],
				["bob", undefined],
			],
		);
	});

	it("gives the username of a rejected user to a new user", async () => {
		await using graph = await openEmbedded();
		await importAll(graph, [ada]);
		sqlOn(
			graph.folder,
			/^db/,
			"UPDATE users SET data = json_set(data, '$.state', 'rejected')",
		);
		const { report, bad } = await importAll(graph, [{ ...ada, key: "u:new" }]);
		assert.deepEqual(bad, []);
		assert.deepEqual(report.objects, { User: 1 });
	});

	it("makes the same number of storage calls for a batch of any size", async () => {
		await using graph = await openEmbedded({ shards: 2 });
		await importAll(graph, [ada, board]);
		const calls = async (from: number, many: number) => {
			const verbs = await callsOf(() =>
				importAll(
					graph,
					Array.from({ length: many }, (_, n) => [
						pin(from + n),
						like("u:ada", `p:${from + n}`),
					]).flat(),
				),
			);
			// How often the lease is renewed depends on the time that the import takes.
			return verbs.filter((verb) => verb !== "compareAndSetLookups 1");
		};
		const few = await calls(0, 3);
		const many = await calls(100, 700);
		assert.equal(many.length, few.length);
	});
});
