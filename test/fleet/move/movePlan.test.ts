import assert from "node:assert/strict";
import { test } from "node:test";
import { moveRange } from "../../../src/fleet/map/edits.ts";
import {
	type AskedMove,
	findMove,
	wavesOf,
} from "../../../src/fleet/move/findMove.ts";
import { asNow } from "../../../src/fleet/move/moveServers.ts";
import {
	DEFAULT_WISHES,
	forbidden,
	isCutOverWish,
} from "../../../src/fleet/move/wishes.ts";
import { checkTopology } from "../../../src/topology/check.ts";

const A = {
	primary: "mysql://app:s3cret@db001a:3306",
	replica: "mysql://app:s3cret@db001b:3306",
};
const B = {
	primary: "mysql://app:s3cret@db002a:3306",
	replica: "mysql://app:s3cret@db002b:3306",
};
const TOPOLOGY = checkTopology({
	version: 7,
	shards: [
		{ range: [0, 511], ...A, open: true, generation: 2 },
		{ range: [512, 1_023], ...B, open: true, weight: 2 },
	],
	lookups: [{ range: [0, 255], ...A }],
	queues: [{ range: [0, 3], ...A }],
	feeds: [{ range: [0, 31], ...B, generation: 1 }],
	pools: [{ range: [0, 3], primary: A.primary }],
});
const ASKED: AskedMove = {
	list: "shards",
	range: [256, 511],
	to: "db009a:3306",
	replica: "db009b:3306",
	wave: 16,
};

test("a range moves from any host of the map to any other, new or known, in waves", () => {
	const found = findMove(TOPOLOGY, ASKED);
	assert.equal(found.from.name, "db001a:3306");
	assert.deepEqual(found.to, {
		name: "db009a:3306",
		url: "mysql://app:s3cret@db009a:3306",
		replica: "mysql://app:s3cret@db009b:3306",
	});
	assert.deepEqual([found.isNew, found.waves.length], [true, 16]);
	assert.deepEqual(found.waves.at(-1), [496, 511]);
	assert.deepEqual(wavesOf([5, 9], 2), [
		[5, 6],
		[7, 8],
		[9, 9],
	]);
	const known = findMove(TOPOLOGY, {
		...ASKED,
		to: "db002a",
		replica: undefined,
	});
	assert.deepEqual(
		[known.isNew, known.to.url, known.to.replica],
		[false, B.primary, B.replica],
	);
	const own = "mysql://other:word@db009a:3307";
	const { to } = findMove(TOPOLOGY, { ...ASKED, to: own });
	assert.deepEqual([to.name, to.url], ["db009a:3307", own]);
	assert.equal(
		findMove(TOPOLOGY, { ...ASKED, list: "pools", range: [0, 3] }).from.name,
		"db001a:3306",
	);
});

test("what cannot move is refused with what was expected", () => {
	const refusals: readonly (readonly [Partial<AskedMove>, RegExp])[] = [
		[
			{ range: [500, 600] },
			/are on db001a:3306 and db002a:3306: move the part/,
		],
		[{ range: [1_000, 1_100] }, /has 24 of the 101 shards from 1000 to 1100/],
		[{ to: "db001a", replica: undefined }, /are on db001a:3306 already/],
		[{ to: "db002b:3306" }, /db002b:3306 is the replica of db002a:3306/],
		[
			{ to: "db002a" },
			/db002a:3306 is in the topology, with the replica db002b/,
		],
		[{ to: "mysql://" }, /--to must be a primary of the topology, host:port/],
		[{ replica: "mysql://" }, /--replica must be host:port/],
	];
	for (const [asked, message] of refusals) {
		assert.throws(() => findMove(TOPOLOGY, { ...ASKED, ...asked }), {
			code: "BAD_TOPOLOGY",
			message,
		});
	}
	const folder = checkTopology({
		version: 1,
		shards: [{ range: [0, 511], primary: "sqlite:a", open: true }],
		lookups: [{ range: [0, 3], primary: "sqlite:a" }],
	});
	assert.throws(() => findMove(folder, ASKED), /in a folder of SQLite files/);
});

test("the map names the new primary for the wave alone, under a higher generation, and equal neighbours are one range", () => {
	const to = { primary: B.primary, replica: B.replica };
	const of = (
		list: "shards" | "lookups" | "feeds",
		range: [number, number],
	) => ({
		list,
		range,
		from: list === "feeds" ? "db002a:3306" : "db001a:3306",
	});
	const once = moveRange(TOPOLOGY, of("shards", [256, 383]), to);
	assert.deepEqual(
		once.shards.map(({ range, primary, generation, weight }) => [
			...[range, primary, generation, weight],
		]),
		[
			[[0, 255], A.primary, 2, undefined],
			[[256, 383], B.primary, 3, undefined],
			[[384, 511], A.primary, 2, undefined],
			[[512, 1_023], B.primary, undefined, 2],
		],
	);
	const next = { ...once, version: 8 };
	const twice = moveRange(next, of("shards", [384, 511]), to);
	assert.deepEqual(
		twice.shards.map(({ range }) => range),
		[
			[0, 255],
			[256, 511],
			[512, 1_023],
		],
	);
	const lookups = moveRange(TOPOLOGY, of("lookups", [0, 15]), to).lookups;
	assert.deepEqual(lookups[0], { range: [0, 15], ...B });
	const home = { primary: A.primary, replica: null };
	const feeds = moveRange(TOPOLOGY, of("feeds", [0, 31]), home).feeds;
	assert.deepEqual(feeds, [
		{ range: [0, 31], primary: A.primary, generation: 2 },
	]);
	assert.throws(() => moveRange(next, of("shards", [256, 511]), to), {
		code: "CONFLICT",
	});
	assert.deepEqual(TOPOLOGY.queues, once.queues);
});

test("a wave switches when operators allow it", () => {
	const at = (time: string) => new Date(`2026-11-24T${time}:00Z`);
	const may = (
		wishes: Partial<typeof DEFAULT_WISHES>,
		time = "12:00",
		over = 0,
	) => forbidden({ ...DEFAULT_WISHES, ...wishes }, "move-1", over, at(time));
	assert.equal(may({}), null);
	assert.match(may({ isPaused: true }) ?? "", /moves resume move-1/);
	assert.match(may({ cutOver: "ask" }) ?? "", /moves cut-over move-1/);
	assert.equal(may({ cutOver: "ask", allowed: 1 }), null);
	assert.match(
		may({ cutOver: "ask", allowed: 1 }, "12:00", 1) ?? "",
		/cut-over/,
	);
	const night = { cutOver: "22:00-04:00" };
	assert.equal(may(night, "23:59"), null);
	assert.equal(may(night, "03:59"), null);
	assert.match(may(night, "04:00") ?? "", /the hours 22:00-04:00 UTC/);
	assert.match(may({ cutOver: "09:00-12:00" }) ?? "", /the hours/);
	assert.ok(!isCutOverWish("25:00-04:00"));
});

test("a pair is as the map has it now: a replica may have taken the place of its primary", () => {
	const moved = {
		name: "db001b:3306",
		url: A.replica,
		replica: A.primary,
	};
	assert.deepEqual(asNow(moved, TOPOLOGY), {
		name: "db001a:3306",
		url: A.primary,
		replica: A.replica,
	});
	const gone = { name: "db009a:3306", url: "mysql://a@db009a", replica: null };
	assert.deepEqual(asNow(gone, TOPOLOGY), gone);
});
