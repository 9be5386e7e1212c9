import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
	type KeyServer,
	placingOf,
	serverLists,
	spread,
} from "../../src/cache/serverList.ts";
import { withChanges } from "../../src/topology/caches.ts";
import { checkTopology } from "../../src/topology/check.ts";
import { checkTopologyChange } from "../../src/topology/checkChange.ts";
import {
	changesBetween,
	describeChange,
} from "../../src/topology/describeChange.ts";
import type {
	CacheServers,
	FleetCaches,
	Topology,
} from "../../src/topology/types.ts";

const NONE = { memcached: [], redis: null };
const urls = (...numbers: readonly number[]) =>
	numbers.map((n) => `redis://cache${n}:6379`);
const caches = (...numbers: readonly number[]): CacheServers => ({
	objects: [],
	lists: urls(...numbers),
});
const KEYS = Array.from({ length: 4_096 }, (_, key) => key);

function placesIn(servers: FleetCaches): readonly KeyServer[] {
	const [list] = serverLists(servers, NONE, "lists");
	assert.ok(list);
	const placing = placingOf(list);
	return KEYS.map((key) => placing(key) as KeyServer);
}

const nameOf = ({ id, since }: KeyServer) => `${id} ${since}`;

describe("the servers of a list", () => {
	it("have about as many keys each, and each server that joins takes only its share", () => {
		const three = placesIn(caches(1, 2, 3));
		const four = placesIn(withChanges(caches(1, 2, 3), caches(1, 2, 3, 4), 7));
		for (const [, group] of Map.groupBy(four, ({ id }) => id)) {
			assert.ok(Math.abs(group.length - 1_024) < 120, `${group.length}`);
		}
		const moved = KEYS.filter(
			(key) =>
				nameOf(three[key] as KeyServer) !== nameOf(four[key] as KeyServer),
		);
		assert.ok(Math.abs(moved.length - 1_024) < 120, `${moved.length}`);
		assert.ok(moved.every((key) => four[key]?.id === urls(4)[0]));
	});

	it("never have a key under a name that it had before it was elsewhere", () => {
		let now = caches(1, 2, 3);
		const had = KEYS.map((): string[] => []);
		const lists = [
			[1, 2, 3, 4],
			[1, 2, 3],
			[2, 3],
			[1, 2, 3],
			[2, 4],
			[1, 2, 3],
		];
		for (const [nth, numbers] of lists.entries()) {
			for (const [key, place] of placesIn(now).entries()) {
				const names = had[key] as string[];
				const name = nameOf(place);
				if (names.at(-1) === name) continue;
				assert.ok(!names.includes(name), `${key}: ${name} after ${names}`);
				names.push(name);
			}
			now = withChanges(now, caches(...numbers), 2 + 2 * nth);
		}
		assert.ok(had.some((names) => names.length > 4));
	});

	it("have about as many channels each", () => {
		const [list] = serverLists(caches(1, 2, 3), NONE, "lists");
		assert.ok(list);
		const counts = [...Map.groupBy(spread(list, 32), (id) => id).values()].map(
			({ length }) => length,
		);
		assert.deepEqual(counts.toSorted(), [10, 11, 11]);
	});
});

describe("caches of a map", () => {
	const map = (version: number, of?: FleetCaches): Topology =>
		checkTopology({
			version,
			shards: [{ range: [0, 3], primary: "mysql://u:p@db1:3306", open: true }],
			lookups: [{ range: [0, 3], primary: "mysql://u:p@db1:3306" }],
			...(of && { caches: of }),
		});

	it("are refused with what was expected, and without their passwords", () => {
		const faults: readonly (readonly [unknown, RegExp])[] = [
			[{ objects: [], lists: [] }, /caches\.lists: expected a Redis/],
			[{ objects: [], lists: ["redis://:secret@"] }, /it must look like redis/],
			[{ objects: ["cache1:11211"], lists: urls(1) }, /memcached:\/\/cache1/],
			[
				{ objects: ["memcached://me:secret%@cache1"], lists: urls(1) },
				/written as %25/,
			],
			[{ objects: [], lists: [...urls(1), "redis://cache1"] }, /there twice/],
			[
				{ objects: [], lists: urls(1), more: 1 },
				/expected only objects, lists/,
			],
			[{ objects: [], lists: urls(1), changed: { a: 1 } }, /caches\.changed/],
		];
		for (const [of, message] of faults) {
			assert.throws(
				() => map(1, of as FleetCaches),
				(error: Error) => {
					assert.match(error.message, message);
					assert.doesNotMatch(error.message, /secret/);
					return true;
				},
			);
		}
	});

	it("change by way of next alone, and may be taken back", () => {
		const now = caches(1, 2);
		const next = withChanges(now, caches(1, 2, 3), 2);
		const allowed: readonly (readonly [
			FleetCaches | undefined,
			FleetCaches,
		])[] = [
			[now, now],
			[now, { ...now, next }],
			[{ ...now, next }, next],
			[{ ...now, next }, now],
			[now, { ...now, lists: urls(2, 1) }],
			[now, { ...now, lists: ["redis://:new@cache1:6379", ...urls(2)] }],
			[
				undefined,
				{ objects: [], lists: [], next: withChanges(caches(), caches(1), 2) },
			],
		];
		for (const [old, to] of allowed) {
			checkTopologyChange(map(1, old), map(2, to));
		}
		const refused: readonly (readonly [
			FleetCaches | undefined,
			FleetCaches | undefined,
		])[] = [
			[now, caches(1, 2, 3)],
			[undefined, caches(1)],
			[now, undefined],
			[now, { ...now, next: caches(1, 2, 3) }],
			[{ ...now, next }, caches(1, 2, 3, 4)],
		];
		for (const [old, to] of refused) {
			assert.throws(
				() => checkTopologyChange(map(1, old), map(2, to)),
				/caches: expected/,
			);
		}
	});

	it("are in the differences of two versions, without passwords", () => {
		const now = { objects: [], lists: ["redis://:secret@cache1:6379"] };
		const next = withChanges(now, caches(1, 2), 2);
		const lines = changesBetween(map(1, now), map(2, { ...now, next }));
		assert.deepEqual(lines.map(describeChange), [
			"caches.lists   cache1:6379 → cache1:6379, next cache1:6379 cache2:6379",
		]);
	});
});
