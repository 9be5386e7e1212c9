import {
	type InvalidationChannel,
	openInvalidationChannel,
} from "../../src/cache/invalidationChannel.ts";
import { LocalCache } from "../../src/cache/localCache.ts";
import { RedisConnections } from "../../src/cache/redisConnections.ts";
import { until } from "./until.ts";

/** A process with its channel, and what it was told. */
export function openProcess(
	port: number,
	name = "",
	{ user = "", deadlineMs = 2_000 } = {},
) {
	const told: string[] = [];
	const cache = new LocalCache<string>({
		weigh: (value) => value.length,
		maxWeight: 1_000_000,
		// Nothing ages: what is forgotten is so because the channel said so.
		now: () => 0,
	});
	const channel: InvalidationChannel = openInvalidationChannel({
		redis: new RedisConnections(
			`redis://${user && `${user}:x@`}127.0.0.1:${port}`,
		),
		deadlineMs,
		onInvalidations: (keys) => {
			told.push(`keys ${keys}`);
			for (const key of keys) cache.invalidate(key);
		},
		onLost: () => {
			told.push("lost");
			cache.bypass(true);
		},
		onRestored: () => {
			told.push("restored");
			cache.bypass(false);
		},
	});
	return {
		told,
		cache,
		channel,
		/** The value of `a`, which is `value` by now. */
		read: async (value: string) =>
			(await cache.read(["a"], async () => [value]))[0],
		restored: () =>
			until(`${name} to hear itself`, () => told.at(-1) === "restored"),
		lost: () => until(`${name} to be lost`, () => told.at(-1) === "lost"),
		[Symbol.asyncDispose]: () => channel[Symbol.asyncDispose](),
	};
}
