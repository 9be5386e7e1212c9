import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Id } from "../../../src/id/ids.ts";
import type { DamageKind } from "../../../src/ops/verify/damage.ts";
import { verify } from "../../../src/ops/verify/verify.ts";
import type { Embedded } from "../../helpers/embedded.ts";
import { sqlOn } from "../../helpers/importing.ts";
import { bits, smallGraph } from "../../helpers/verifying.ts";

const DB = /^db/;
const MOD = /^mod/;

interface Case {
	readonly kind: DamageKind;
	/** Other kinds the same damage is seen as. */
	readonly with?: readonly DamageKind[];
	/** Answers how many rows it changed. */
	readonly damage: (graph: Embedded) => Promise<number> | number;
	/** What is left after a repair. */
	readonly left?: readonly DamageKind[];
}

/** A username's row, on the mod shard where it belongs. */
const claim = async ({ storage }: Embedded, key: string, id: bigint) => {
	const next = { id: String(id) as Id, token: "x" };
	await storage.compareAndSetLookups([
		{ name: "username", key, expect: null, next },
	]);
	return 1;
};
const local = (id: bigint) => id & 0xf_ffff_ffffn;

const CASES: readonly Case[] = [
	{
		kind: "inverse missing",
		with: ["wrong count"],
		damage: ({ folder }) =>
			sqlOn(folder, DB, "DELETE FROM user_followed_by_users"),
	},
	{
		kind: "inverse differs",
		with: ["wrong count"],
		damage: ({ folder }) =>
			sqlOn(folder, DB, "UPDATE user_followed_by_users SET state = 1"),
	},
	{
		kind: "inverse differs",
		damage: ({ folder }) =>
			sqlOn(
				folder,
				DB,
				"UPDATE user_followed_by_users SET sequence = sequence - 7",
			),
	},
	{
		kind: "inverse differs",
		damage: ({ folder }) =>
			sqlOn(folder, DB, "UPDATE user_follows_users SET version = 9"),
	},
	{
		kind: "inverse without source",
		with: ["wrong count"],
		damage: ({ folder }) => sqlOn(folder, DB, "DELETE FROM user_follows_users"),
	},
	{
		kind: "list lacks object",
		with: ["wrong count"],
		damage: async (graph) =>
			sqlOn(
				graph.folder,
				DB,
				"DELETE FROM board_has_pins WHERE to_id = ?",
				await bits(graph, "p:1"),
			),
	},
	{
		kind: "list lacks object",
		with: ["wrong count"],
		damage: ({ folder }) =>
			sqlOn(folder, DB, "UPDATE pin_has_comments SET state = 1"),
	},
	{
		kind: "object not of list",
		damage: ({ folder }) =>
			sqlOn(
				folder,
				DB,
				"UPDATE pins SET data = json_remove(data, '$.origin_id') WHERE data LIKE '%origin_id%'",
			),
	},
	{
		kind: "object not of list",
		damage: ({ folder }) =>
			sqlOn(
				folder,
				DB,
				"UPDATE comments SET data = json_set(data, '$.active', json('false'))",
			),
	},
	{
		kind: "edge ahead of object",
		damage: ({ folder }) =>
			sqlOn(folder, DB, "UPDATE pin_has_comments SET version = 5"),
	},
	{
		kind: "edge to nothing",
		with: ["lookup to nothing"],
		damage: ({ folder }) => sqlOn(folder, DB, "DELETE FROM comments"),
	},
	{
		kind: "edge to nothing",
		with: ["lookup to nothing"],
		damage: ({ folder }) => sqlOn(folder, DB, "DELETE FROM interests"),
	},
	// As on a host restored to before an edge and its object were made, and the edge removed.
	{
		kind: "inverse missing",
		with: ["edge to nothing", "lookup to nothing", "wrong count"],
		damage: ({ folder }) =>
			sqlOn(folder, DB, "UPDATE pin_has_interests SET state = 1") &&
			sqlOn(folder, DB, "DELETE FROM interest_has_pins") &&
			sqlOn(folder, DB, "DELETE FROM interests"),
	},
	{
		kind: "inverse without source",
		with: ["edge to nothing", "lookup to nothing", "wrong count"],
		damage: ({ folder }) =>
			sqlOn(folder, DB, "UPDATE interest_has_pins SET state = 1") &&
			sqlOn(folder, DB, "DELETE FROM pin_has_interests") &&
			sqlOn(folder, DB, "DELETE FROM interests"),
	},
	{
		kind: "reference to nothing",
		with: ["lookup to nothing"],
		damage: async (graph) => {
			const id = await bits(graph, "p:1");
			sqlOn(graph.folder, DB, "DELETE FROM pin_liked_by_users");
			sqlOn(graph.folder, DB, "DELETE FROM user_likes_pins");
			sqlOn(graph.folder, DB, "DELETE FROM pin_has_interests");
			sqlOn(graph.folder, DB, "DELETE FROM interest_has_pins");
			sqlOn(graph.folder, DB, "DELETE FROM board_has_pins WHERE to_id = ?", id);
			sqlOn(graph.folder, DB, "DELETE FROM user_has_pins WHERE to_id = ?", id);
			for (const list of [
				"likePin",
				"likePin.inverse",
				"filePin",
				"filePin.inverse",
			]) {
				sqlOn(graph.folder, DB, "DELETE FROM lists WHERE mapping = ?", list);
			}
			for (const list of ["placePin", "ownPin"]) {
				sqlOn(
					graph.folder,
					DB,
					"UPDATE lists SET count = 1 WHERE mapping = ?",
					list,
				);
			}
			return sqlOn(
				graph.folder,
				DB,
				"DELETE FROM pins WHERE local_id = ?",
				local(id),
			);
		},
		// Nothing stored says what the comment and the repin belonged to.
		left: ["reference to nothing"],
	},
	{
		kind: "wrong count",
		damage: ({ folder }) =>
			sqlOn(
				folder,
				DB,
				"UPDATE lists SET count = count + 1 WHERE mapping = 'likePin.inverse'",
			),
	},
	{
		kind: "wrong count",
		damage: ({ folder }) =>
			sqlOn(folder, DB, "DELETE FROM lists WHERE mapping = 'placePin'"),
	},
	{
		kind: "last sequence too low",
		damage: ({ folder }) =>
			sqlOn(
				folder,
				DB,
				"UPDATE lists SET last_sequence = 1 WHERE mapping = 'ownPin'",
			),
	},
	{
		kind: "lookup to nothing",
		damage: (graph) => claim(graph, "nobody", (3n << 36n) | 999n),
	},
	{
		kind: "lookup to rejected",
		damage: async (graph) => {
			await graph.writes.create({ type: "User", data: { username: "late" } });
			return sqlOn(
				graph.folder,
				DB,
				"UPDATE users SET data = json_set(data, '$.state', 'rejected') WHERE data LIKE '%late%'",
			);
		},
		with: ["object not of list"],
	},
	{
		kind: "lookup not held",
		damage: async (graph) =>
			claim(graph, "adas_other", await bits(graph, "u:ada")),
	},
	{
		kind: "lookup missing",
		damage: ({ folder }) =>
			sqlOn(
				folder,
				MOD,
				"DELETE FROM lookups WHERE name = 'username' AND key = 'ada'",
			),
	},
	{
		kind: "lookup missing",
		with: ["lookup not held"],
		damage: async (graph) =>
			sqlOn(
				graph.folder,
				MOD,
				"UPDATE lookups SET id = ? WHERE name = 'username' AND key = 'ada'",
				await bits(graph, "u:bob"),
			),
	},
	{
		kind: "lookup missing",
		with: ["lookup not held"],
		damage: ({ folder }) =>
			sqlOn(
				folder,
				DB,
				"UPDATE users SET data = json_remove(data, '$.tokens') WHERE data LIKE '%Ada%'",
			),
	},
	{
		kind: "natural key twice",
		damage: async (graph) => {
			await graph.writes.create({ type: "User", data: { username: "carol" } });
			return sqlOn(
				graph.folder,
				DB,
				"UPDATE users SET data = replace(data, 'carol', 'ada') WHERE data LIKE '%carol%'",
			);
		},
		with: ["lookup not held", "list lacks object", "object not of list"],
	},
	{
		kind: "pending",
		damage: ({ folder }) =>
			sqlOn(
				folder,
				DB,
				"UPDATE users SET data = json_set(data, '$.state', 'pending') WHERE data LIKE '%Ada%'",
			),
		with: ["object not of list"],
	},
	{
		kind: "not JSON",
		damage: ({ folder }) =>
			sqlOn(folder, DB, "UPDATE comments SET data = '{\"text'"),
		left: ["not JSON"],
	},
];

describe("verify, after damage by hand,", { concurrency: 8 }, () => {
	for (const [at, { kind, damage, with: others, left }] of CASES.entries()) {
		it(`reports and repairs ${kind} (${at + 1})`, async () => {
			await using graph = await smallGraph();
			assert.ok((await damage(graph)) > 0, "expected damage but got none");
			const found = await verify(graph.store);
			assert.equal(found.clean, false);
			const kinds = found.damage.map(({ kind }) => kind);
			assert.ok(kinds.includes(kind), `expected ${kind} but got: ${kinds}`);
			for (const other of kinds) {
				assert.ok(
					other === kind || others?.includes(other),
					`expected no ${other} in ${JSON.stringify(found.damage)}`,
				);
			}
			assert.ok(found.damage.every(({ examples }) => examples.length > 0));

			const repaired = await verify(graph.store, { repair: true });
			assert.deepEqual(
				repaired.remaining.map(({ kind }) => kind),
				left ?? [],
				JSON.stringify(repaired),
			);
			assert.equal(repaired.clean, left === undefined);
			const after = await verify(graph.cold());
			assert.deepEqual(after.remaining, repaired.remaining);
		});
	}
});
