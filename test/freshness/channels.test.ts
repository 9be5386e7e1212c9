import assert from "node:assert/strict";
import { test } from "node:test";
import { channelOfId, channelOfWord } from "../../src/freshness/channels.ts";
import { packId } from "../../src/id/ids.ts";
import { splitId } from "../../src/id/idWords.ts";

test("an id has one channel, by its digits and by its upper word", () => {
	const words = new Uint32Array(2);
	for (const shard of [0, 1, 2, 63, 64, 511, 4_095, 65_535]) {
		for (const type of [1, 1_023]) {
			for (const local of [1, 2 ** 36 - 1]) {
				const id = packId({ shard, type, local });
				assert.ok(splitId(id, words));
				assert.equal(channelOfWord(id, words[0] as number), channelOfId(id));
			}
		}
	}
});
