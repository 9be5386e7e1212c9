import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { View } from "../../../src/graph/read/view.ts";
import type { Node } from "../../../src/graph/types.ts";
import { type Id, packId } from "../../../src/id/ids.ts";
import { createStoredTypes } from "../../../src/model/storedTypes.ts";
import type { DamageKind } from "../../../src/ops/verify/damage.ts";
import { verify } from "../../../src/ops/verify/verify.ts";
import type { JsonObject } from "../../../src/util/json.ts";
import { type Embedded, openEmbedded } from "../../helpers/embedded.ts";
import { contentOf, idOf, listOf } from "../../helpers/importedGraph.ts";
import { sqlOn } from "../../helpers/importing.ts";
import { theModel } from "../../helpers/model.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import {
	bits,
	onModShards,
	onShards,
	smallGraph,
} from "../../helpers/verifying.ts";

interface Plant {
	/** Changes at least one row, and returns how many. */
	readonly plant: (graph: Embedded) => Promise<number> | number;
	/** The kinds that are found, each with words of its description; nothing else may be found. */
	readonly found: Partial<Readonly<Record<DamageKind, RegExp>>>;
	/** What is left after a repair. */
	readonly left?: readonly DamageKind[];
	/** What has to be true after a repair. */
	readonly after?: (graph: Embedded) => Promise<void>;
}

/** Changes the JSON of one object, which its import key names. */
function edit(key: string, path: string, json: string): Plant["plant"] {
	return async (graph) => {
		const id = await bits(graph, key);
		const table = key.startsWith("b:") ? "boards" : TABLES[key[0] as "u"];
		return sqlOn(
			graph.folder,
			shardFile(id),
			`UPDATE ${table} SET data = json_set(data, '$.${path}', json(?)) WHERE local_id = ?`,
			json,
			id & 0xf_ffff_ffffn,
		);
	};
}

const TABLES = { u: "users", p: "pins", c: "comments", i: "interests" };

function shardFile(id: bigint): RegExp {
	return new RegExp(`^db${String(id >> 46n).padStart(5, "0")}`);
}

function addEntry(entry: string, columns = "", values = ""): Plant["plant"] {
	return (graph) =>
		sqlOn(
			graph.folder,
			/^db00001/,
			`INSERT INTO outbox (entry, ts${columns}) VALUES (?, 1${values})`,
			entry,
		);
}

const STATEMENTS: Readonly<Record<string, Plant>> = {
	"text that is a JSON list in place of an object": {
		plant: (graph) => onShards(graph, "UPDATE boards SET data = '[]'"),
		found: { "not JSON": /^Board \d+$/ },
		left: ["not JSON"],
	},
	"a board's name that is an object": {
		plant: edit("b:1", "name", '{"a":1}'),
		found: { "wrong type": /^Board \d+: name must be String!, got an object$/ },
		left: ["wrong type"],
	},
	"a time that is none": {
		plant: edit("b:1", "created_at", '"nonsense"'),
		found: {
			"wrong type": /: createdAt must be DateTime!, got "nonsense"$/,
		},
		left: ["wrong type"],
	},
	"an image without its URL": {
		plant: edit("p:1", "image", '{"width":5}'),
		found: { "wrong type": /^Pin \d+: image must be Image, got an object$/ },
		left: ["wrong type"],
	},
	"a null where the field has to have a value": {
		plant: edit("u:bob", "name", "null"),
		found: { "wrong type": /^User \d+: name must be String!, got null$/ },
		left: ["wrong type"],
	},
	"a username that is a number, which the lookup restores": {
		plant: edit("u:ada", "username", "5"),
		found: {
			"wrong type": /^User \d+: username must be String!, got something else$/,
			"natural key lost": /^username → \d+$/,
		},
		after: async (graph) => {
			assert.equal((await contentOf(graph, "u:ada")).username, "ada");
		},
	},
	"a reference that is not an id, which the list restores": {
		plant: edit("b:1", "user_id", '"abc"'),
		found: {
			"damaged reference": /^Board \d+: its owner is not an id \("abc"\)$/,
			"reference lost":
				/^ownBoard \d+ → \d+: present, .*; its owner is not an id/,
		},
		after: ownerIsAda,
	},
	"a reference to an object of another type, which the list restores": {
		plant: async (graph) =>
			edit("b:1", "user_id", `"${await bits(graph, "p:1")}"`)(graph),
		found: {
			"damaged reference": /its owner \d+ is a Pin, expected a User$/,
			"reference lost": /is a Pin, expected a User$/,
		},
		after: ownerIsAda,
	},
	"a missing reference that every board has, which the list restores": {
		plant: edit("b:1", "user_id", "null"),
		found: {
			"damaged reference": /^Board \d+: its owner is missing$/,
			"reference lost": /its owner is missing$/,
		},
		after: ownerIsAda,
	},
	"a reference that is a number": {
		plant: edit("p:2", "origin_id", "17"),
		found: {
			"damaged reference": /its origin is not an id \(17\)$/,
			"reference lost": /^repin \d+ → \d+/,
		},
		after: async (graph) => {
			const { origin_id } = await contentOf(graph, "p:2");
			assert.equal(origin_id, await idOf(graph, "p:1"));
		},
	},
	"a reference to a type that does not exist, on no list": {
		plant: async (graph) => {
			const none = packId({ shard: 1, type: 900, local: 1 });
			onShards(graph, "DELETE FROM pin_has_comments");
			onShards(graph, "DELETE FROM lists WHERE mapping = 'commentPin'");
			return edit("c:1", "pin_id", `"${none}"`)(graph);
		},
		found: {
			"damaged reference": /its pin \d+ is of no type, expected a Pin$/,
		},
		left: ["damaged reference"],
	},
	"a state that does not exist": {
		plant: edit("p:1", "state", '"odd"'),
		found: { "unknown state": /^Pin \d+: its state is "odd"$/ },
		left: ["unknown state"],
		after: async (graph) => {
			// Somebody who repairs the state finds the pin where it was.
			assert.equal((await listOf(graph, "placePin", "b:1")).edges.length, 2);
		},
	},
	"an active that is a text": {
		plant: edit("p:1", "active", '"no"'),
		found: { "unknown state": /^Pin \d+: its active is "no"$/ },
		left: ["unknown state"],
	},
	"a version that is a text": {
		plant: edit("p:1", "version", '"two"'),
		found: { "damaged bookkeeping": /^Pin \d+: its version is "two"$/ },
		after: versionIsNumber,
	},
	"a negative version": {
		plant: edit("p:1", "version", "-4"),
		found: { "damaged bookkeeping": /^Pin \d+: its version is -4$/ },
		after: versionIsNumber,
	},
	"a version beyond 2^53": {
		plant: edit("p:1", "version", "9007199254740993"),
		found: { "damaged bookkeeping": /its version is 900719925474099\d$/ },
		after: versionIsNumber,
	},
	"tokens that are a text": {
		plant: edit("u:ada", "tokens", '"abc"'),
		found: { "damaged bookkeeping": /its tokens are not texts by name$/ },
		after: isFoundByName,
	},
	"a token that is a number": {
		plant: edit("u:ada", "tokens.username", "7"),
		found: { "damaged bookkeeping": /its tokens are not texts by name$/ },
		after: isFoundByName,
	},
	"an idempotency key that is a text": {
		plant: edit("p:2", "idempotency", '"abc"'),
		found: {
			"damaged bookkeeping": /its idempotency key is not a key and a token$/,
		},
	},
	"an idempotency key without a key": {
		plant: edit("p:2", "idempotency", '{"token":"t"}'),
		found: { "damaged bookkeeping": /its idempotency key/ },
	},
	"a pin in the table of boards": {
		plant: async (graph) => {
			const { version, ...data } = (await contentOf(
				graph,
				"p:1",
			)) as JsonObject;
			return sqlOn(
				graph.folder,
				shardFile(await bits(graph, "u:ada")),
				"INSERT INTO boards (data, ts) VALUES (?, 1)",
				JSON.stringify({ ...data, version }),
			);
		},
		found: { "another type": /^Board \d+: it has the fields of a Pin$/ },
		left: ["another type"],
	},
	"a like of a board": {
		plant: async (graph) =>
			onShards(
				graph,
				"UPDATE user_likes_pins SET to_id = ? WHERE from_id = ? AND to_id = ?",
				await bits(graph, "b:1"),
				await bits(graph, "u:bob"),
				await bits(graph, "p:1"),
			),
		found: {
			"edge to another type": /^likePin .*; \d+ is a Board, expected a Pin$/,
			"inverse without source": /^likePin\.inverse /,
		},
		after: async (graph) => {
			const liked = await listOf(graph, "likePin", "u:bob");
			assert.deepEqual(
				liked.edges.map(({ to }) => to),
				[await idOf(graph, "p:1")],
			);
			assert.equal(liked.list.count, 1);
		},
	},
	"a user on a user's list of boards": {
		plant: async (graph) => {
			const [ada, bob] = [
				await bits(graph, "u:ada"),
				await bits(graph, "u:bob"),
			];
			return sqlOn(
				graph.folder,
				shardFile(ada),
				"INSERT INTO user_has_boards (from_id, to_id, sequence, state, version) VALUES (?, ?, 1, 0, 1)",
				ada,
				bob,
			);
		},
		found: {
			"edge to another type": /^ownBoard .*; \d+ is a User, expected a Board$/,
			"wrong count": /count 1, but 2 edges$/,
		},
		after: ownerIsAda,
	},
	"an edge whose state is 7": {
		plant: (graph) =>
			onShards(graph, "UPDATE user_follows_users SET state = 7"),
		found: {
			"wrong edge number": /^followUser \d+ → \d+: state 7, version 1/,
			"wrong count": /count 1, but 0 edges$/,
		},
		after: followsOnce,
	},
	"an inverse edge whose state is -1": {
		plant: (graph) =>
			onShards(graph, "UPDATE user_followed_by_users SET state = -1"),
		found: {
			"wrong edge number": /^followUser\.inverse .*: state -1, /,
			"wrong count": /count 1, but 0 edges$/,
		},
		after: followsOnce,
	},
	"an edge with a sequence beyond 2^53": {
		plant: (graph) =>
			onShards(
				graph,
				"UPDATE user_follows_users SET sequence = 9007199254740995",
			),
		found: { "wrong edge number": /sequence 900719925474099\d$/ },
		after: followsOnce,
	},
	"an edge with a negative sequence": {
		plant: (graph) =>
			onShards(graph, "UPDATE user_followed_by_users SET sequence = -3"),
		found: { "wrong edge number": /^followUser\.inverse .* sequence -3$/ },
		after: followsOnce,
	},
	"a list edge with a version beyond 2^53": {
		plant: (graph) =>
			onShards(graph, "UPDATE user_has_boards SET version = 9007199254740995"),
		found: { "wrong edge number": /^ownBoard / },
		after: ownerIsAda,
	},
	"a save that stands under another pin": {
		plant: (graph) =>
			onShards(graph, "UPDATE user_saves_pins SET sequence = 0"),
		found: {
			"wrong edge number":
				/^savePin \d+ → \d+: present, .*; sequence 0, expected \d+ for its origin \d+$/,
		},
		after: isSavedOnce,
	},
	"a save that is not on the list": {
		plant: (graph) => onShards(graph, "DELETE FROM user_saves_pins"),
		found: {
			"list lacks object": /^savePin of \d+ lacks the Pin \d+$/,
			"wrong count": /^savePin of \d+: count 1, but 0 edges$/,
		},
		after: isSavedOnce,
	},
	"a save whose state is 7": {
		plant: (graph) => onShards(graph, "UPDATE user_saves_pins SET state = 7"),
		found: {
			"wrong edge number": /^savePin \d+ → \d+: state 7/,
			"list lacks object": /^savePin of \d+ lacks the Pin \d+$/,
			"wrong count": /^savePin of \d+: count 1, but 0 edges$/,
		},
		after: isSavedOnce,
	},
	"a save of a pin that was saved from none": {
		plant: async (graph) =>
			sqlOn(
				graph.folder,
				shardFile(await bits(graph, "u:ada")),
				"INSERT INTO user_saves_pins (from_id, to_id, sequence, state, version) VALUES (?, ?, 0, 0, 1)",
				await bits(graph, "u:ada"),
				await bits(graph, "p:1"),
			),
		found: {
			"object not of list": /^savePin .*; it has no origin$/,
			"wrong count": /^savePin of \d+: count 1, but 2 edges$/,
		},
		after: isSavedOnce,
	},
	"a list whose last sequence is beyond 2^53": {
		plant: (graph) =>
			onShards(
				graph,
				"UPDATE lists SET last_sequence = 9007199254740995 WHERE mapping = 'placePin'",
			),
		found: { "wrong list number": /^placePin of \d+: last sequence 9007/ },
		after: async (graph) => {
			const { list } = await listOf(graph, "placePin", "b:1");
			assert.ok(Number.isSafeInteger(list.lastSequence));
			assert.equal(list.count, 2);
		},
	},
	"a list whose epoch is negative": {
		plant: (graph) =>
			onShards(graph, "UPDATE lists SET epoch = -1 WHERE mapping = 'placePin'"),
		found: { "wrong list number": /epoch -1$/ },
		after: async (graph) => {
			const { list } = await listOf(graph, "placePin", "b:1");
			assert.equal(list.epoch, 2);
		},
	},
	"an epoch that was raised": {
		plant: (graph) =>
			onShards(graph, "UPDATE lists SET epoch = 7 WHERE mapping = 'placePin'"),
		found: {
			"wrong epoch":
				/^placePin of \d+: epoch 7, but its last renumbering is none$/,
		},
		after: epochIs(9),
	},
	"an epoch of a list that is never renumbered": {
		plant: (graph) =>
			onShards(graph, "UPDATE lists SET epoch = 7 WHERE mapping = 'likePin'"),
		found: { "wrong epoch": /^likePin of \d+: epoch 7/ },
	},
	"an epoch that was lowered": {
		plant: (graph) => {
			onShards(
				graph,
				"INSERT INTO renumberings SELECT from_id, mapping, 5, 0, 0, 0, 0, 0 FROM lists WHERE mapping = 'placePin'",
			);
			return onShards(
				graph,
				"UPDATE lists SET epoch = 2 WHERE mapping = 'placePin'",
			);
		},
		found: {
			"wrong epoch": /epoch 2, but its last renumbering is one of epoch 5$/,
		},
		// Beyond both, with a gap before it: no cursor from before is taken for a position.
		after: epochIs(7),
	},
	"a negative count": {
		plant: (graph) =>
			onShards(graph, "UPDATE lists SET count = -5 WHERE mapping = 'placePin'"),
		found: { "wrong count": /count -5, but 2 edges$/ },
	},
	"a count without edges": {
		plant: async (graph) =>
			sqlOn(
				graph.folder,
				shardFile(await bits(graph, "c:1")),
				"INSERT INTO lists VALUES (?, 'repin', 4, 9, 0)",
				await bits(graph, "p:2"),
			),
		found: { "wrong count": /^repin of \d+: count 4, but 0 edges$/ },
	},
	"a list's row on another shard": {
		plant: async (graph) =>
			sqlOn(
				graph.folder,
				new RegExp(
					`^db0000${((await bits(graph, "b:1")) >> 46n) === 0n ? 1 : 0}`,
				),
				"INSERT INTO lists VALUES (?, 'placePin', 4, 9, 0)",
				await bits(graph, "b:1"),
			),
		found: {
			"misplaced row": /^placePin of \d+: count 4; the list belongs to/,
		},
		left: ["misplaced row"],
	},
	"a lookup whose id is that of no row": {
		plant: (graph) =>
			onModShards(graph, "UPDATE lookups SET id = 0 WHERE key = 'art'"),
		found: {
			"lookup to nothing": /^slug → 0$/,
			"lookup missing": /^Interest \d+: its slug has no lookup/,
		},
	},
	"a lookup with a negative id": {
		plant: (graph) =>
			onModShards(graph, "UPDATE lookups SET id = -7 WHERE key = 'art'"),
		found: {
			"lookup to nothing": /^slug → -7$/,
			"lookup missing": /^Interest \d+: its slug has no lookup/,
		},
	},
	"a username that leads to a pin": {
		plant: async (graph) =>
			onModShards(
				graph,
				"UPDATE lookups SET id = ? WHERE name = 'username' AND key = 'ada'",
				await bits(graph, "p:1"),
			),
		found: {
			"lookup to another type": /^username → \d+$/,
			"lookup missing": /^User \d+: its username has no lookup/,
		},
		after: isFoundByName,
	},
	"a lookup to a type that does not exist": {
		plant: (graph) =>
			onModShards(
				graph,
				"UPDATE lookups SET id = ? WHERE key = 'art'",
				BigInt(packId({ shard: 1, type: 900, local: 5 })),
			),
		found: {
			"lookup to nothing": /^slug → \d+$/,
			"lookup missing": /^Interest \d+/,
		},
	},
	"a lookup whose key is not normalized": {
		plant: async (graph) => {
			const next = { id: (await idOf(graph, "u:ada")) as Id, token: "x" };
			await graph.storage.compareAndSetLookups([
				{ name: "username", key: "ADA", expect: null, next },
			]);
			return 1;
		},
		found: { "lookup not held": /^username → \d+$/ },
	},
	"lookups on mod shards of other keys": {
		plant: async (graph) => {
			// On each of the mod shards: one of them is that of the key.
			return onModShards(
				graph,
				"INSERT INTO lookups (name, key, id, token) VALUES ('username', 'stray', ?, 'x')",
				await bits(graph, "u:ada"),
			);
		},
		found: {
			"lookup not held": /^username → \d+$/,
			"misplaced row": /^username → \d+ is in mod\d{5}; its key belongs to/,
		},
		left: ["misplaced row"],
	},
	"an import key that leads nowhere": {
		plant: async (graph) => {
			const id = packId({ shard: 1, type: 1, local: 999 });
			await graph.storage.compareAndSetLookups([
				{ name: "import", key: "p:9", expect: null, next: { id, token: "" } },
			]);
			return 1;
		},
		found: { "lookup to nothing": /^import p:9 → \d+$/ },
	},
	"an idempotency key without its row": {
		plant: async (graph) => {
			await graph.writes.create({
				type: "Pin",
				data: {
					board_id: (await idOf(graph, "b:1")) as Id,
					user_id: (await idOf(graph, "u:ada")) as Id,
				},
				idempotency: { scope: "s", key: "k", request: {} },
			});
			return onModShards(
				graph,
				"DELETE FROM lookups WHERE name = 'idempotency'",
			);
		},
		found: { "lookup missing": /^Pin \d+: its idempotency has no lookup/ },
		after: async (graph) => {
			const sql = "UPDATE lookups SET token = token WHERE name = 'idempotency'";
			assert.equal(onModShards(graph, sql), 1);
		},
	},
	"an outbox entry that is not JSON": {
		plant: addEntry("{"),
		found: {
			"unreadable entry":
				/^entry \d+ of shard 1: The outbox entry is not a JSON object\.$/,
		},
		left: ["unreadable entry"],
		after: async (graph) => {
			assert.equal(onShards(graph, "UPDATE outbox SET ts = 2"), 1);
		},
	},
	"an outbox entry of an unknown mapping": {
		plant: addEntry(
			'{"edges":[{"mapping":"nope","from":"1","to":"2","state":1,"version":1,"sequence":1}]}',
		),
		found: { "unreadable entry": /the mapping nope, which the model does not/ },
		left: ["unreadable entry"],
	},
	"outbox entries with parts of wrong types": {
		plant: async (graph) => {
			for (const entry of [
				'{"edges":5}',
				'{"edges":[5]}',
				'{"edges":[{"mapping":"likePin","from":1,"to":"2","state":0,"version":1,"sequence":1}]}',
				'{"pendingObjects":[{}]}',
				'{"reservations":[{"name":"username","key":7,"id":"5","token":"t"}]}',
				'{"lookups":[null]}',
				'{"links":[{"mapping":"filePin","from":"x","type":"Interest","data":{"slug":"a"},"shard":0,"sequence":1}]}',
				'{"invalidations":{"objects":"all","lists":[]}}',
				'{"odd":[]}',
			]) {
				await addEntry(entry)(graph);
			}
			return 9;
		},
		found: { "unreadable entry": /./ },
		left: ["unreadable entry"],
	},
	"an outbox entry that is not due for years": {
		plant: addEntry(
			'{"edges":[]}',
			", next_attempt_at",
			", 4000000000000000000",
		),
		found: { "entry never due": /next attempt at 4000000000000000000 after 0/ },
		after: outboxIsEmpty,
	},
	"an outbox entry with negative attempts and a time before all": {
		plant: addEntry('{"edges":[]}', ", attempts, next_attempt_at", ", -3, -9"),
		found: { "entry never due": /next attempt at -9 after -3 attempts/ },
		after: outboxIsEmpty,
	},
	"an interest that the list of all interests lacks": {
		plant: (graph) => onShards(graph, "DELETE FROM root_has_interests"),
		found: {
			"list lacks object": /^listInterest lacks the Interest \d+$/,
			"wrong count": /^listInterest of \d+: count 1, but 0 edges$/,
		},
	},
};

function epochIs(epoch: number): NonNullable<Plant["after"]> {
	return async (graph) => {
		const { list } = await listOf(graph, "placePin", "b:1");
		assert.equal(list.epoch, epoch);
		const [renumberings] = await graph.storage.read("renumberings", [
			{ mapping: graph.mapping("placePin"), from: list.from, since: epoch - 2 },
		]);
		assert.ok(renumberings && !(renumberings instanceof Error));
		assert.deepEqual(
			renumberings.map((one) => one.epoch),
			[epoch],
		);
	};
}

async function ownerIsAda(graph: Embedded): Promise<void> {
	const { user_id } = await contentOf(graph, "b:1");
	assert.equal(user_id, await idOf(graph, "u:ada"));
	const { edges, list } = await listOf(graph, "ownBoard", "u:ada");
	assert.deepEqual(
		edges.map(({ to }) => to),
		[await idOf(graph, "b:1")],
	);
	assert.equal(list.count, 1);
}

async function versionIsNumber(graph: Embedded): Promise<void> {
	const { version } = await contentOf(graph, "p:1");
	assert.ok(Number.isSafeInteger(version) && (version as number) > 0);
	assert.equal((await listOf(graph, "placePin", "b:1")).edges.length, 2);
}

async function isFoundByName(graph: Embedded): Promise<void> {
	const [row] = await graph.storage.read("lookups", [
		{ name: "username", key: "ada" },
	]);
	assert.ok(row && !(row instanceof Error));
	assert.equal(row.id, await idOf(graph, "u:ada"));
}

/** Ada's second pin was saved from the first. */
async function isSavedOnce(graph: Embedded): Promise<void> {
	const [one, other, ada] = (await Promise.all(
		["p:1", "p:2", "u:ada"].map((key) => idOf(graph, key)),
	)) as [Id, Id, Id];
	const view = new View(graph.cold(), ada);
	const saves = await view.readGroups(
		graph.mapping("savePin"),
		ada,
		[one, other],
		10,
	);
	assert.deepEqual(
		saves.map((nodes) => {
			assert.ok(!(nodes instanceof Error));
			return nodes.map((node) => (node as Node).id);
		}),
		[[other], []],
	);
	assert.equal((await listOf(graph, "savePin", "u:ada")).list.count, 1);
}

async function followsOnce(graph: Embedded): Promise<void> {
	for (const [list, key, other] of [
		["followUser", "u:ada", "u:bob"],
		["followUser.inverse", "u:bob", "u:ada"],
	] as const) {
		const { edges, list: row } = await listOf(graph, list, key);
		const to = await idOf(graph, other);
		assert.deepEqual(
			edges.map(({ to }) => to),
			[to],
		);
		assert.equal(row.count, 1);
		assert.ok(Number.isSafeInteger(row.lastSequence));
	}
}

async function outboxIsEmpty(graph: Embedded): Promise<void> {
	assert.equal(onShards(graph, "UPDATE outbox SET ts = 2"), 0);
}

const types = createStoredTypes(theModel().schema);

describe("verify, after it met", { concurrency: 8 }, () => {
	/** The graph that each test damages a copy of. */
	const whole = temporaryFolder();
	before(async () => {
		await using graph = await smallGraph(whole.path);
		assert.deepEqual((await verify(graph.store, { types })).damage, []);
	});
	after(() => whole[Symbol.dispose]());

	for (const [
		what,
		{ plant, found, left = [], after: check },
	] of Object.entries(STATEMENTS)) {
		it(`${what}: says so, repairs what it can, and goes on`, async () => {
			using folder = temporaryFolder();
			cpSync(whole.path, folder.path, { recursive: true });
			await using graph = await openEmbedded({ folder: folder.path });
			assert.ok((await plant(graph)) > 0, "expected damage but got none");

			const { damage, clean, checked, unchecked } = await verify(graph.cold(), {
				types,
			});
			assert.equal(clean, false);
			assert.deepEqual(unchecked, []);
			assert.ok(checked.objects >= 7 && checked.edges >= 14);
			assert.deepEqual(
				damage.map(({ kind }) => kind).toSorted(),
				Object.keys(found).toSorted(),
				JSON.stringify(damage, null, 1),
			);
			for (const { kind, examples } of damage) {
				const [first] = examples;
				assert.match(first?.description ?? "", found[kind] as RegExp);
				assert.match(first?.table ?? "", /^(?:db|mod)\d{5}\.\w+$/);
				assert.match(first?.row ?? "", /^\w+ -?\w/);
			}

			const repaired = await verify(graph.cold(), { types, repair: true });
			assert.deepEqual(
				repaired.remaining.map(({ kind }) => kind),
				left,
				JSON.stringify(repaired, null, 1),
			);
			assert.deepEqual(repaired.failedRepairs, []);
			for (const { advice } of repaired.remaining) assert.ok(advice);
			const again = await verify(graph.cold(), { types });
			assert.deepEqual(
				again.damage.map(({ kind }) => kind),
				left,
			);
			await check?.(graph);
		});
	}
});
