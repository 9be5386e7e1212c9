import { createHash } from "node:crypto";

/**
 * The mod shard a key lives on, by the article's rule: md5 of the key, modulo
 * the number of mod shards ("Sharding Pinterest", "Mod shard"). The digest is
 * read as one 128-bit number, big end first, so any number of shards up to
 * 65,536 gets an even share. md5("1.2.3.4") mod 4096 = 1537.
 */
export function modShard(key: string, modShards: number): number {
	if (
		!Number.isInteger(modShards) ||
		modShards < 1 ||
		modShards > MAX_MOD_SHARDS
	) {
		throw new RangeError(
			`the number of mod shards must be from 1 to ${MAX_MOD_SHARDS} but got: ${modShards}`,
		);
	}
	const digest = createHash("md5").update(key, "utf8").digest();
	let rest = 0;
	// Word by word as in long division: at most 2^16 times 2^32, exact in a double.
	for (let offset = 0; offset < 16; offset += 4) {
		rest = (rest * 2 ** 32 + digest.readUInt32BE(offset)) % modShards;
	}
	return rest;
}

const MAX_MOD_SHARDS = 2 ** 16;
