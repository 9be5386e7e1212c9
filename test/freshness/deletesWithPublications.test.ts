import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import type { SharedCache } from "../../src/cache/sharedCache.ts";
import type { ChangedKeys } from "../../src/freshness/changedKeys.ts";
import { createInvalidator } from "../../src/freshness/invalidator.ts";
import type { DroppingCaches } from "../../src/freshness/processCaches.ts";
import type { Id } from "../../src/id/ids.ts";
import type { Mapping } from "../../src/model/types.ts";
import { nextTurn } from "../helpers/busy.ts";

const mapping = { name: "likePin" } as Mapping;
const like = (from: string): ChangedKeys => ({
	lists: [{ mapping, from: from as Id }],
});

describe("a publication of heads that were deleted", () => {
	/** What was sent, and what a cache in the process dropped. */
	let sent: string[];
	/** Whether Redis, or memcached, acknowledges a delete. */
	let deleted: PromiseWithResolvers<boolean>;
	beforeEach(() => {
		sent = [];
		deleted = Promise.withResolvers();
	});

	function invalidator({ isOneRedis = true } = {}) {
		const cacheOf = (layer: string) =>
			({
				layer,
				hostOf: () => layer,
				delete(keys: readonly string[]) {
					sent.push(`${layer} delete ${keys.join(", ")}`);
					return deleted.promise;
				},
			}) as unknown as SharedCache;
		const publish = async (keys: readonly string[]) => {
			sent.push(`publish ${keys.join(", ")}`);
			return true;
		};
		const local = {
			objects: { invalidate: () => {} },
			heads: { invalidate: (_: string, from: string) => drop(from) },
			lookups: {},
		} as unknown as DroppingCaches;
		const drop = (from: string) => sent.push(`drop ${from}`);
		return createInvalidator(local, {
			objects: cacheOf("memcached"),
			heads: cacheOf("redis"),
			publish,
			publishBehindDeletes: () => (isOneRedis ? publish : null),
			untilPublished: async () => true,
			generationOf: () => 1,
		}).invalidator;
	}

	test("goes with the delete to the one Redis, and those of writes that come together go together", async () => {
		const { invalidate } = invalidator();
		const first = invalidate(like("1"));
		const second = invalidate(like("2"));
		await nextTurn();
		const both = [
			"redis delete 1.likePin.1, 1.likePin.2",
			"publish h likePin 1, h likePin 2",
		];
		assert.deepEqual(sent, ["drop 1", "drop 2", ...both]);
		deleted.resolve(true);
		assert.deepEqual(await Promise.all([first, second]), [true, true]);
		// A read that began before the delete may have ended meanwhile.
		assert.deepEqual(sent.slice(4), ["drop 1", "drop 2"]);
	});

	test("is sent again, as one of heads that may be there, if the delete is not acknowledged", async () => {
		const invalidated = invalidator().invalidate(like("1"));
		deleted.resolve(false);
		assert.equal(await invalidated, false);
		assert.deepEqual(sent.slice(-3), [
			"publish h likePin 1",
			"drop 1",
			"publish !h likePin 1",
		]);
	});

	for (const [what, options, changed] of [
		["lists and channels are on several Redis", { isOneRedis: false }, {}],
		["memcached has to delete as well", {}, { objects: ["3" as Id] }],
	] as const) {
		test(`waits for the acknowledgement if ${what}`, async () => {
			const { invalidate } = invalidator(options);
			const invalidated = invalidate({ ...like("1"), ...changed });
			await nextTurn();
			const isPublished = () => sent.some((one) => one.startsWith("publish"));
			assert.equal(isPublished(), false);
			deleted.resolve(true);
			assert.equal(await invalidated, true);
			assert.ok(isPublished());
		});
	}
});
