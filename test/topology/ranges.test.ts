import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { checkTopology } from "../../src/topology/check.ts";
import { parseHostUrl } from "../../src/topology/hostUrl.ts";
import {
	embeddedTopology,
	readTopology,
} from "../../src/topology/parseTopology.ts";
import {
	changedShards,
	generationOf,
	hostOf,
	modShards,
	openShards,
	parseShardRanges,
	rangeOf,
	shardsOf,
} from "../../src/topology/ranges.ts";

const FLEET = checkTopology({
	version: 1,
	shards: [
		{ range: [40, 65_535], primary: "sqlite:d", open: false },
		{ range: [0, 0], primary: "sqlite:a", open: true, generation: 2 },
		{ range: [1, 9], primary: "sqlite:b", open: false },
		{ range: [20, 22], primary: "sqlite:c", open: true },
	],
	lookups: [
		{ range: [2, 4], primary: "sqlite:b" },
		{ range: [0, 1], primary: "sqlite:a" },
	],
});

suite("topology ranges", () => {
	test("hostOf returns the host of each shard, and null outside all ranges", () => {
		for (const [shard, host] of [
			[0, "sqlite:a"],
			[1, "sqlite:b"],
			[9, "sqlite:b"],
			[10, null],
			[19, null],
			[20, "sqlite:c"],
			[22, "sqlite:c"],
			[23, null],
			[39, null],
			[40, "sqlite:d"],
			[65_535, "sqlite:d"],
		] as const) {
			assert.equal(hostOf(FLEET, shard), host, `shard ${shard}`);
		}
	});

	test("rangeOf returns the same range as a linear search", () => {
		for (let shard = 0; shard < 100; shard++) {
			const seen = FLEET.shards.find(
				({ range: [first, last] }) => first <= shard && shard <= last,
			);
			assert.equal(rangeOf(FLEET, shard), seen ?? null, `shard ${shard}`);
		}
	});

	test("generationOf returns a shard's generation, by default 0", () => {
		assert.equal(generationOf(FLEET, 0), 2);
		assert.equal(generationOf(FLEET, 1), 0);
		assert.equal(generationOf(FLEET, 10), 0);
	});

	test("modShards counts the mod shards of the lookups", () => {
		assert.equal(modShards(FLEET), 5);
	});

	test("shardsOf lists all shards of ranges, openShards those open for new users", () => {
		assert.deepEqual(openShards(FLEET), [0, 20, 21, 22]);
		assert.deepEqual(shardsOf(FLEET.lookups), [0, 1, 2, 3, 4]);
	});

	test("parseShardRanges reads shards and ranges of them, and nothing else", () => {
		assert.deepEqual(parseShardRanges("7,0-2,1"), [0, 1, 2, 7]);
		for (const text of ["", "a", "3-1", "1-", "0,,1", "65536", "-1", "1-2-3"]) {
			assert.equal(parseShardRanges(text), null, text);
		}
	});

	test("changedShards are those with another primary or generation, and new ones; a changed password moves nothing", () => {
		const version = (
			shards: readonly [number, number, string, number][],
			lookups: readonly [number, number, string][],
		) =>
			checkTopology({
				version: 1,
				shards: shards.map(([first, last, primary, generation]) => ({
					range: [first, last],
					primary,
					open: true,
					generation,
				})),
				lookups: lookups.map(([first, last, primary]) => ({
					range: [first, last],
					primary,
				})),
			});
		const changed = changedShards(
			version(
				[
					[0, 3, "mysql://u:old@a", 0],
					[4, 5, "mysql://u:p@b", 0],
				],
				[[0, 2, "mysql://u:p@a"]],
			),
			version(
				[
					[0, 0, "mysql://u:new@a", 0],
					[1, 1, "mysql://u:new@a", 1],
					[2, 3, "mysql://u:p@c", 1],
					[4, 7, "mysql://u:p@b", 0],
				],
				[
					[0, 1, "mysql://u:p@a"],
					[2, 2, "mysql://u:p@c"],
				],
			),
		);
		assert.deepEqual([...changed.shards], [1, 2, 3, 6, 7]);
		assert.deepEqual([...changed.modShards], [2]);
	});
});

suite("the embedded topology", () => {
	test("has 16 open shards, 16 mod shards and one queue shard in one folder by default", () => {
		const range = [0, 15];
		assert.deepEqual(embeddedTopology("data"), {
			version: 1,
			shards: [{ range, primary: "sqlite:data", open: true }],
			lookups: [{ range, primary: "sqlite:data" }],
			queues: [{ range: [0, 0], primary: "sqlite:data" }],
		});
	});

	test("has the requested number of shards and mod shards", () => {
		const topology = embeddedTopology("data", 3);
		assert.deepEqual(openShards(topology), [0, 1, 2]);
		assert.equal(modShards(topology), 3);
	});

	test("is rejected without a folder, without shards or with more than 65536", () => {
		assert.throws(() => embeddedTopology("data", 0), { code: "BAD_TOPOLOGY" });
		assert.throws(() => embeddedTopology("data", 65_537), {
			code: "BAD_TOPOLOGY",
		});
		assert.throws(() => embeddedTopology(""), { code: "BAD_TOPOLOGY" });
	});
});

suite("parseHostUrl", () => {
	test("reads the folder of a sqlite URL, whatever characters it contains", () => {
		assert.deepEqual(parseHostUrl("sqlite:/var/a: b"), {
			scheme: "sqlite",
			folder: "/var/a: b",
		});
	});

	test("returns null for an unknown scheme or an incomplete URL", () => {
		for (const url of ["mysql://", "sqlite:", "SQLITE:a", "data", ""]) {
			assert.equal(parseHostUrl(url), null, url);
		}
	});
});

suite("readTopology", () => {
	const folder = mkdtempSync(join(tmpdir(), "corkboard-topology-"));
	const path = join(folder, "topology.json");
	test.after(() => rmSync(folder, { recursive: true }));

	test("returns the checked topology of a file", () => {
		writeFileSync(path, JSON.stringify(FLEET));
		assert.deepEqual(readTopology(path), FLEET);
	});

	test("rejects a bad file, and puts its path before each problem", () => {
		writeFileSync(path, '{"version": 0, "shards": [], "lookups": []}');
		assert.throws(() => readTopology(path), {
			code: "BAD_TOPOLOGY",
			message: [
				"version: expected a positive integer but got: 0",
				"lookups: expected ranges from 0 on but got: none",
				"shards: expected an open range but got: none",
			]
				.map((line) => `${path}: ${line}`)
				.join("\n"),
		});
	});

	test("rejects a bad file without quoting its content", () => {
		writeFileSync(path, '{"primary": mysql://app:hunter2@db1}');
		assert.throws(() => readTopology(path), {
			message: `${path}: expected JSON but got: something else`,
		});
		writeFileSync(path, '{"version": 1, "shards": "hunter2" "lookups"}');
		assert.throws(() => readTopology(path), {
			message: `${path}: expected JSON but got: something else at position 35 (line 1 column 36)`,
		});
	});

	test("rejects a truncated, empty or missing file", () => {
		writeFileSync(path, '{"version": 1, "sha');
		assert.throws(() => readTopology(path), {
			code: "BAD_TOPOLOGY",
			message: /topology\.json: .*JSON/,
		});
		writeFileSync(path, "");
		assert.throws(() => readTopology(path), {
			message: `${path}: expected JSON but got: nothing`,
		});
		assert.throws(() => readTopology(join(folder, "none.json")), {
			code: "BAD_TOPOLOGY",
			message: /none\.json: ENOENT/,
		});
	});
});
