import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { CorkboardError } from "../../src/errors.ts";
import { checkTopology } from "../../src/topology/check.ts";
import { checkTopologyChange } from "../../src/topology/checkChange.ts";

const GOOD = {
	version: 7,
	shards: [
		{ range: [8, 15], primary: "sqlite:b", open: true },
		{ range: [0, 7], primary: "sqlite:a", replica: "sqlite:a2", open: false },
	],
	lookups: [
		{ range: [0, 3], primary: "sqlite:a" },
		{ range: [4, 15], primary: "sqlite:b" },
	],
};

/** The lines of the BAD_TOPOLOGY error. */
function faultsOf(attempt: () => unknown): string[] {
	try {
		attempt();
	} catch (thrown) {
		if (thrown instanceof CorkboardError && thrown.code === "BAD_TOPOLOGY") {
			return thrown.message.split("\n");
		}
		throw thrown;
	}
	return [];
}

function faultsWith(change: object): string[] {
	return faultsOf(() => checkTopology({ ...GOOD, ...change }));
}

function oneShard(change: object): string[] {
	return faultsWith({
		shards: [{ range: [0, 7], primary: "sqlite:a", open: true, ...change }],
	});
}

suite("checkTopology", () => {
	test("returns the topology with its ranges in ascending order", () => {
		assert.deepEqual(checkTopology(GOOD), {
			version: 7,
			shards: [
				{
					range: [0, 7],
					primary: "sqlite:a",
					replica: "sqlite:a2",
					open: false,
				},
				{ range: [8, 15], primary: "sqlite:b", open: true },
			],
			lookups: [
				{ range: [0, 3], primary: "sqlite:a" },
				{ range: [4, 15], primary: "sqlite:b" },
			],
		});
	});

	test("returns a deeply frozen topology", () => {
		const topology = checkTopology(GOOD);
		assert.throws(() => Object.assign(topology, { version: 8 }), TypeError);
		assert.throws(
			() => Object.assign(topology.shards[0] ?? {}, { open: true }),
			TypeError,
		);
		assert.throws(
			() => (topology.shards[0]?.range as number[] | undefined)?.push(1),
			TypeError,
		);
		assert.throws(() => (topology.lookups as unknown[]).pop(), TypeError);
	});

	test("keeps a valid generation, and rejects one that is not a non-negative integer", () => {
		const range = { range: [0, 7], primary: "sqlite:a", open: true };
		const { shards } = checkTopology({
			...GOOD,
			shards: [{ ...range, generation: 3 }],
		});
		assert.deepEqual(shards, [{ ...range, generation: 3 }]);
		for (const generation of [-1, 1.5, "1", null]) {
			assert.deepEqual(oneShard({ generation }), [
				`shards[0].generation: expected an integer from 0 but got: ${JSON.stringify(generation)}`,
			]);
		}
	});

	test("allows uncovered shards, and the highest shard 65535", () => {
		assert.deepEqual(oneShard({ range: [65_535, 65_535] }), []);
	});

	test("rejects a value that is not a topology", () => {
		assert.deepEqual(
			faultsOf(() => checkTopology(null)),
			["topology: expected a topology but got: null"],
		);
		assert.deepEqual(
			faultsOf(() => checkTopology({})),
			[
				"version: expected a positive integer but got: nothing",
				"shards: expected a list of ranges but got: nothing",
				"lookups: expected a list of ranges but got: nothing",
			],
		);
	});

	test("rejects a version that is not a positive integer", () => {
		for (const version of [0, -1, 1.5, "1", 2 ** 53]) {
			assert.deepEqual(faultsWith({ version }), [
				`version: expected a positive integer but got: ${JSON.stringify(version)}`,
			]);
		}
	});

	test("rejects a shard that does not fit into 16 bits", () => {
		for (const shard of [-1, 65_536, 1.5, "0"]) {
			assert.deepEqual(
				oneShard({ range: [shard, 65_535] })[0],
				`shards[0].range[0]: expected a shard from 0 to 65535 but got: ${JSON.stringify(shard)}`,
			);
		}
	});

	test("rejects a range that ends before it begins", () => {
		assert.deepEqual(oneShard({ range: [5, 4] }), [
			"shards[0].range: expected a first shard that is not after the last but got: [5,4]",
		]);
	});

	test("rejects a range that is not [first, last]", () => {
		assert.deepEqual(oneShard({ range: [1, 2, 3] }), [
			"shards[0].range: expected [first, last] but got: [1,2,3]",
		]);
		assert.deepEqual(oneShard({ range: "0-7" }), [
			'shards[0].range: expected [first, last] but got: "0-7"',
		]);
	});

	test("rejects a URL without a driver, and quotes only its scheme", () => {
		assert.deepEqual(oneShard({ primary: "postgres://me:secret@db/" }), [
			"shards[0].primary: expected sqlite:FOLDER or mysql://[USER:PASSWORD@]HOST:PORT[?ssl-mode=MODE[&ssl-ca=FILE][&password-file=FILE][&failover=lossless]] but got: postgres:",
		]);
		assert.deepEqual(oneShard({ replica: "somewhere" }), [
			"shards[0].replica: expected sqlite:FOLDER or mysql://[USER:PASSWORD@]HOST:PORT[?ssl-mode=MODE[&ssl-ca=FILE][&password-file=FILE][&failover=lossless]] but got: no scheme",
		]);
		assert.deepEqual(oneShard({ primary: "sqlite:" }), [
			"shards[0].primary: expected sqlite:FOLDER or mysql://[USER:PASSWORD@]HOST:PORT[?ssl-mode=MODE[&ssl-ca=FILE][&password-file=FILE][&failover=lossless]] but got: sqlite:",
		]);
		assert.deepEqual(oneShard({ primary: { url: "mysql://me:secret@db/" } }), [
			"shards[0].primary: expected a URL but got: an object",
		]);
	});

	test("rejects a MySQL URL without host, or with a password and no user, or with a malformed part or an option that does not exist", () => {
		for (const primary of [
			"mysql://:secret@db:3306",
			"mysql://me:secret@",
			"mysql://me:secret@db/database",
			"mysql://me:secret@db:99999",
			"mysql:db",
		]) {
			assert.deepEqual(oneShard({ primary }), [
				"shards[0].primary: expected sqlite:FOLDER or mysql://[USER:PASSWORD@]HOST:PORT[?ssl-mode=MODE[&ssl-ca=FILE][&password-file=FILE][&failover=lossless]] but got: mysql:",
			]);
		}
		assert.deepEqual(oneShard({ primary: "mysql://me:secret@db?tls=on" }), [
			'shards[0].primary: expected sqlite:FOLDER or mysql://[USER:PASSWORD@]HOST:PORT[?ssl-mode=MODE[&ssl-ca=FILE][&password-file=FILE][&failover=lossless]] but got: mysql: it has "tls", which does not exist: its options are ssl-mode, ssl-ca, password-file, failover',
		]);
	});

	test("rejects hosts of two kinds, names the first of each, and quotes no password", () => {
		assert.deepEqual(
			faultsOf(() =>
				checkTopology({
					version: 1,
					shards: [
						{ range: [0, 1], primary: "mysql://me:secret@a", open: true },
						{ range: [2, 3], primary: "mysql://me:secret@b", open: true },
					],
					lookups: [{ range: [0, 3], primary: "sqlite:data" }],
				}),
			),
			[
				"lookups[0].primary: expected mysql:, as shards[0].primary, because all hosts of a topology are of one kind, but got: sqlite:",
			],
		);
	});

	test("rejects overlapping ranges", () => {
		assert.deepEqual(
			faultsWith({
				shards: [
					{ range: [0, 9], primary: "sqlite:a", open: true },
					{ range: [20, 29], primary: "sqlite:a", open: true },
					{ range: [2, 3], primary: "sqlite:b", open: true },
					{ range: [9, 20], primary: "sqlite:c", open: true },
				],
			}),
			[
				"shards[2].range: expected no overlap but got: 2 to 3, which shards[0].range has too",
				"shards[3].range: expected no overlap but got: 9 to 9, which shards[0].range has too",
				"shards[1].range: expected no overlap but got: 20 to 20, which shards[3].range has too",
			],
		);
		assert.deepEqual(
			faultsWith({
				lookups: [
					{ range: [0, 3], primary: "sqlite:a" },
					{ range: [3, 4], primary: "sqlite:a" },
				],
			}),
			[
				"lookups[1].range: expected no overlap but got: 3 to 3, which lookups[0].range has too",
			],
		);
	});

	test("rejects mod shards that no range covers", () => {
		assert.deepEqual(
			faultsWith({
				lookups: [
					{ range: [6, 7], primary: "sqlite:a" },
					{ range: [1, 3], primary: "sqlite:a" },
				],
			}),
			[
				"lookups[1].range: expected no gap but got: none for 0 to 0",
				"lookups[0].range: expected no gap but got: none for 4 to 5",
			],
		);
		assert.deepEqual(faultsWith({ lookups: [] }), [
			"lookups: expected ranges from 0 on but got: none",
		]);
	});

	test("keeps the ranges of queue shards, in ascending order, and allows numbers between to be missing", () => {
		const queues = [
			{ range: [8, 9], primary: "sqlite:b", drain: true },
			{ range: [0, 3], primary: "sqlite:a" },
		];
		assert.deepEqual(checkTopology({ ...GOOD, queues }).queues, [
			queues[1],
			queues[0],
		]);
		assert.equal("queues" in checkTopology(GOOD), false);
	});

	test("keeps the ranges of pool shards, and rejects a number of them that is no power of two, gaps, and pools without queues", () => {
		const at = (first: number, last: number) => ({
			range: [first, last],
			primary: GOOD.shards[0]?.primary,
		});
		const queues = [at(0, 0)];
		const pools = [at(2, 3), at(0, 1)];
		assert.deepEqual(checkTopology({ ...GOOD, queues, pools }).pools, [
			pools[1],
			pools[0],
		]);
		assert.deepEqual(faultsWith({ queues, pools: [at(0, 2)] }), [
			"pools: expected a power of two as the number of pool shards but got: 3",
		]);
		assert.deepEqual(faultsWith({ queues, pools: [at(1, 1)] }), [
			"pools[0].range: expected no gap but got: none for 0 to 0",
		]);
		assert.deepEqual(faultsWith({ pools: [at(0, 0)] }), [
			"pools: expected queues too, whose jobs fill pools, but got: none",
		]);
	});

	test("rejects queue shards that overlap, are on hosts of another kind, or whose drain is neither true nor false", () => {
		const at = (range: readonly number[], more = {}) => ({
			range,
			primary: "sqlite:a",
			...more,
		});
		assert.deepEqual(faultsWith({ queues: [at([0, 3]), at([3, 4])] }), [
			"queues[1].range: expected no overlap but got: 3 to 3, which queues[0].range has too",
		]);
		assert.deepEqual(faultsWith({ queues: [at([0, 3], { drain: 1 })] }), [
			"queues[0].drain: expected true or false but got: 1",
		]);
		assert.deepEqual(
			faultsWith({ queues: [at([0, 3], { primary: "mysql://a@b:1" })] }),
			[
				"queues[0].primary: expected sqlite:, as shards[0].primary, because all hosts of a topology are of one kind, but got: mysql:",
			],
		);
	});

	test("keeps the ranges of feeds in ascending order, and rejects those that overlap, have no shard, or whose generation is no number", () => {
		const at = (first: number, last: number, more = {}) => ({
			range: [first, last],
			primary: "sqlite:a",
			...more,
		});
		const feeds = [at(4, 5, { generation: 1 }), at(0, 3)];
		const good = checkTopology({ ...GOOD, feeds });
		assert.deepEqual(good.feeds, feeds.toReversed());
		assert.deepEqual(
			faultsWith({ feeds: [at(0, 3), at(3, 4), at(60_000, 60_000)] }),
			[
				"feeds[1].range: expected no overlap but got: 3 to 3, which feeds[0].range has too",
				'feeds[2].range: expected shards of "shards" but got: 60000',
			],
		);
		assert.deepEqual(faultsWith({ feeds: [at(0, 3, { generation: "1" })] }), [
			'feeds[0].generation: expected an integer from 0 but got: "1"',
		]);
	});

	test("rejects a change that moves feed lists between databases, or their primary without a higher generation", () => {
		const at = (
			first: number,
			last: number,
			primary: string,
			generation = 0,
		) => [{ range: [first, last], primary, generation }];
		const next = (version: number, feeds: readonly object[]) =>
			checkTopology({ ...GOOD, version: GOOD.version + version, feeds });
		const old = next(0, at(0, 3, "sqlite:a"));
		const faults = (feeds: readonly object[]) =>
			faultsOf(() => checkTopologyChange(old, next(1, feeds)));
		assert.deepEqual(faults(at(0, 3, "sqlite:b", 1)), []);
		assert.deepEqual(faults(at(0, 3, "sqlite:b")), [
			"feeds: expected a higher generation with another primary but got: the same one for 0 to 3",
		]);
		assert.deepEqual(faults(at(1, 4, "sqlite:a")), [
			"feeds: expected all shards that were there but got: none of 0",
			"feeds: expected only shards that are new, because feed lists of others are with their shard, but got: 4",
		]);
	});

	test("rejects a topology without an open range", () => {
		assert.deepEqual(oneShard({ open: false }), [
			"shards: expected an open range but got: none",
		]);
		assert.deepEqual(faultsWith({ shards: [] }), [
			"shards: expected an open range but got: none",
		]);
	});

	test("rejects an unknown field, such as a misspelled replica", () => {
		assert.deepEqual(oneShard({ replcia: "sqlite:b" }), [
			'shards[0]: expected only range, primary, replica, open, weight, generation but got: "replcia"',
		]);
	});

	test("reports all problems at once", () => {
		assert.deepEqual(
			faultsOf(() =>
				checkTopology({
					version: 0,
					shards: [
						{ range: [0, 70_000], primary: "sqlite:a", open: false },
						{ range: [1, 3], primary: "redis:", open: false },
						{ range: [3, 4], primary: "sqlite:a", open: false },
						7,
					],
					lookups: [{ range: [1, 1], primary: "sqlite:a" }],
				}),
			),
			[
				"version: expected a positive integer but got: 0",
				"shards[0].range[1]: expected a shard from 0 to 65535 but got: 70000",
				"shards[1].primary: expected sqlite:FOLDER or mysql://[USER:PASSWORD@]HOST:PORT[?ssl-mode=MODE[&ssl-ca=FILE][&password-file=FILE][&failover=lossless]] but got: redis:",
				"shards[3]: expected a range and its hosts but got: 7",
				"shards[2].range: expected no overlap but got: 3 to 3, which shards[1].range has too",
				"lookups[0].range: expected no gap but got: none for 0 to 0",
			],
		);
	});
});

suite("checkTopologyChange", () => {
	const old = checkTopology(GOOD);
	const changed = (change: object) =>
		faultsOf(() =>
			checkTopologyChange(old, checkTopology({ ...GOOD, ...change })),
		);

	test("allows a newer version to move, split, add, open and close ranges", () => {
		assert.deepEqual(
			changed({
				version: 8,
				shards: [
					{ range: [0, 3], primary: "sqlite:c", open: false, generation: 1 },
					{ range: [4, 7], primary: "sqlite:b", open: false, generation: 1 },
					{ range: [8, 15], primary: "sqlite:b", open: false },
					{ range: [16, 31], primary: "sqlite:d", open: true },
				],
				lookups: [{ range: [0, 15], primary: "sqlite:c" }],
			}),
			[],
		);
	});

	test("rejects another primary without a higher generation", () => {
		assert.deepEqual(
			changed({
				version: 8,
				shards: [
					{ range: [0, 3], primary: "sqlite:a2", open: false },
					{ range: [4, 7], primary: "sqlite:a", open: false },
					{ range: [8, 14], primary: "sqlite:b", open: true },
					{ range: [15, 15], primary: "sqlite:c", open: true },
				],
			}),
			[
				"shards: expected a higher generation with another primary but got: the same one for 0 to 3, 15",
			],
		);
	});

	test("rejects a lower generation, with the same or another primary", () => {
		const risen = checkTopology({
			...GOOD,
			shards: GOOD.shards.map((range) => ({ ...range, generation: 2 })),
		});
		const fallen = checkTopology({
			...GOOD,
			version: 8,
			shards: [
				{ range: [0, 7], primary: "sqlite:a2", open: false, generation: 1 },
				{ range: [8, 15], primary: "sqlite:b", open: true },
			],
		});
		assert.deepEqual(
			faultsOf(() => checkTopologyChange(risen, fallen)),
			[
				"shards: expected generations that do not fall but got: a lower one for 0 to 15",
			],
		);
	});

	test("allows another password without a higher generation", () => {
		const fleet = (version: number, password: string) => {
			const primary = `mysql://app:${password}@db1:3306`;
			return checkTopology({
				version,
				shards: [{ range: [0, 7], primary, open: true }],
				lookups: [{ range: [0, 0], primary }],
			});
		};
		assert.deepEqual(
			faultsOf(() => checkTopologyChange(fleet(1, "old"), fleet(2, "new"))),
			[],
		);
	});

	test("allows the same topology again", () => {
		assert.deepEqual(changed({}), []);
	});

	test("rejects an older version", () => {
		assert.deepEqual(changed({ version: 6 }), [
			"version: expected 7 or later but got: 6",
		]);
	});

	test("rejects a different topology with the same version", () => {
		assert.deepEqual(
			changed({ lookups: [{ range: [0, 15], primary: "sqlite:c" }] }),
			[
				"version: expected a version after 7 for another map but got: the same version",
			],
		);
	});

	test("rejects another number of pool shards", () => {
		const primary = GOOD.shards[0]?.primary;
		const queues = [{ range: [0, 0], primary }];
		const before = checkTopology({
			...GOOD,
			queues,
			pools: [{ range: [0, 1], primary }],
		});
		assert.throws(
			() =>
				checkTopologyChange(
					before,
					checkTopology({
						...before,
						version: before.version + 1,
						pools: [{ range: [0, 3], primary }],
					}),
				),
			{
				message:
					"pools: expected 2 pool shards, as when they were made, but got: 4",
			},
		);
	});

	test("rejects removed queue shards, unless they were drained in the version before", () => {
		const primary = "sqlite:a";
		const before = {
			...GOOD,
			queues: [
				{ range: [0, 3], primary },
				{ range: [4, 7], primary, drain: true },
			],
		};
		const next = (queues: readonly object[]) =>
			faultsOf(() =>
				checkTopologyChange(
					checkTopology(before),
					checkTopology({ ...before, version: 8, queues }),
				),
			);
		assert.deepEqual(next([{ range: [0, 3], primary }]), []);
		assert.deepEqual(next([{ range: [0, 9], primary: "sqlite:b" }]), []);
		assert.deepEqual(next([{ range: [1, 2], primary }]), [
			'queues: expected all queue shards that were there without "drain": true but got: none of 0, 3',
		]);
	});

	test("rejects removed shards and a different number of mod shards", () => {
		assert.deepEqual(
			changed({
				version: 8,
				shards: [
					{ range: [0, 3], primary: "sqlite:a", open: true },
					{ range: [5, 7], primary: "sqlite:a", open: true },
					{ range: [8, 12], primary: "sqlite:b", open: true },
				],
				lookups: [{ range: [0, 31], primary: "sqlite:a" }],
			}),
			[
				"shards: expected all shards that were there but got: none of 4, 13 to 15",
				"lookups: expected 16 mod shards, as when the fleet was made, but got: 32",
			],
		);
	});
});
