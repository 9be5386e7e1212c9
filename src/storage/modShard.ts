import { hash } from "node:crypto";

/**
 * The mod shard of a key: md5 of the key, modulo the number of mod shards
 * ("Sharding Pinterest", section "Mod shard"). The digest is read as one
 * big-endian 128-bit number, so up to 65,536 shards get an even share.
 * Example: md5("1.2.3.4") mod 4096 = 1537.
 */
export function modShard(key: string, modShards: number): number {
	if (
		!Number.isInteger(modShards) ||
		modShards < 1 ||
		modShards > MAX_MOD_SHARDS
	) {
		throw new RangeError(
			`The number of mod shards must be from 1 to ${MAX_MOD_SHARDS}, got ${modShards}.`,
		);
	}
	const digest = hash("md5", key, "buffer");
	let rest = 0;
	// Long division by 32-bit words: at most 2^16 times 2^32, which is exact in a double.
	for (let offset = 0; offset < 16; offset += 4) {
		rest = (rest * 2 ** 32 + digest.readUInt32BE(offset)) % modShards;
	}
	return rest;
}

const MAX_MOD_SHARDS = 2 ** 16;
