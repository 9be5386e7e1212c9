import assert from "node:assert/strict";
import { test } from "node:test";
import { modShard } from "../../src/storage/modShard.ts";

test("a key's mod shard is its md5 modulo the number of mod shards", () => {
	// md5("1.2.3.4") = 6465ec74397c9126916786bbcd6d7601
	assert.equal(modShard("1.2.3.4", 4096), 1537);
	assert.equal(modShard("1.2.3.4", 1), 0);
	assert.equal(modShard("1.2.3.4", 65_536), 0x7601);
});

test("a mod shard depends on the whole digest, not only on its last bits", () => {
	for (const modShards of [3, 1_000, 4_099, 65_535]) {
		assert.equal(
			modShard("1.2.3.4", modShards),
			Number(0x6465ec74397c9126916786bbcd6d7601n % BigInt(modShards)),
		);
	}
});

test("a key is hashed as UTF-8", () => {
	// md5("日本") = 4dbed2e657457884e67137d3514119b3
	assert.equal(modShard("日本", 65_536), 0x19b3);
});

test("an invalid number of mod shards is rejected", () => {
	for (const modShards of [0, -1, 1.5, 65_537, Number.NaN]) {
		assert.throws(() => modShard("key", modShards), {
			name: "RangeError",
			message: `The number of mod shards must be from 1 to 65536, got ${modShards}.`,
		});
	}
});
