import { RedisConnections } from "../../src/cache/redisConnections.ts";
import {
	type InvalidationChannel,
	openInvalidationChannel,
} from "../../src/freshness/invalidationChannel.ts";
import type { InvalidationMessage } from "../../src/freshness/invalidationMessage.ts";
import { TextCache } from "./textCache.ts";
import { until } from "./until.ts";

/** The local cache and the channel of one process, and the events that the channel reported. */
export function openProcess(
	port: number,
	name = "",
	{
		user = "",
		deadlineMs = 2_000,
		receives,
	}: {
		readonly user?: string;
		readonly deadlineMs?: number;
		readonly receives?: (message: InvalidationMessage) => boolean;
	} = {},
) {
	const events: string[] = [];
	const cache = new TextCache({
		maxWeight: 1_000_000,
		// Nothing ages: what is forgotten is so because the channel said so.
		now: () => 0,
		isOverdue: () => channel.isOverdue,
		untilProven: () => channel.untilProven(),
	});
	const redis = new RedisConnections(
		`redis://${user && `${user}:x@`}127.0.0.1:${port}`,
	);
	const channel: InvalidationChannel = openInvalidationChannel({
		redis,
		deadlineMs,
		onInvalidations: (keys) => {
			events.push(`keys ${keys}`);
			for (const key of keys) cache.invalidateText(key);
		},
		...(receives && { receives }),
		onMissed: () => {
			events.push("missed");
			cache.invalidateAll();
		},
		onLost: () => {
			events.push("lost");
			cache.bypass(true);
		},
		onRestored: () => {
			events.push("restored");
			cache.bypass(false);
		},
	});
	return {
		events,
		cache,
		redis,
		channel,
		/** The value of `a`, which is `value` by now. */
		read: async (value: string) =>
			(await cache.readTexts(["a"], async () => [value]))[0],
		restored: () =>
			until(
				`${name} to receive its own heartbeat`,
				() => events.at(-1) === "restored",
			),
		lost: () => until(`${name} to be lost`, () => events.at(-1) === "lost"),
		[Symbol.asyncDispose]: () => channel[Symbol.asyncDispose](),
	};
}
