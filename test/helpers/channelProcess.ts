import { KeptEntries } from "../../src/cache/keptEntries.ts";
import { RedisConnections } from "../../src/cache/redis/redisConnections.ts";
import {
	type InvalidationChannel,
	openInvalidationChannel,
} from "../../src/freshness/channel/invalidationChannel.ts";
import type { InvalidationMessage } from "../../src/freshness/channel/invalidationMessage.ts";
import { channelOfKey } from "../../src/freshness/publishedKeys.ts";
import { TextCache } from "./textCache.ts";
import { until } from "./until.ts";

/** Published keys, of lookups: each on a channel of its own. */
export const A = "l a";
export const B = "l b";

/** The local cache and the channel of one process, and the events that the channel reported. */
export function openProcess(
	port: number,
	name = "",
	{
		user = "",
		deadlineMs = 2_000,
		receives,
		redisOf,
	}: {
		readonly user?: string;
		readonly deadlineMs?: number;
		readonly receives?: (message: InvalidationMessage) => boolean;
		readonly redisOf?: (channel: number) => RedisConnections;
	} = {},
) {
	const events: string[] = [];
	const redis = new RedisConnections(
		`redis://${user && `${user}:x@`}127.0.0.1:${port}`,
	);
	const cache = new TextCache({
		kept: new KeptEntries(1_000_000),
		// Nothing ages: what is forgotten is so because the channel said so.
		now: () => 0,
		channelOf: (key) => channelOfKey(key) ?? 0,
		isOverdue: () => channel.isOverdue,
		untilProven: () => channel.untilProven(),
	});
	const channel: InvalidationChannel = openInvalidationChannel({
		homesOf: (channel) => [redisOf?.(channel) ?? redis],
		deadlineMs,
		onInvalidations: (keys) => {
			events.push(`keys ${keys}`);
			for (const key of keys) cache.invalidateText(key);
		},
		...(receives && { receives }),
		onMissed: (channels) => {
			events.push("missed");
			cache.invalidateChannels(channels);
		},
		onLost: (channels) => {
			events.push("lost");
			cache.bypass(channels, true);
		},
		onRestored: (channels) => {
			events.push("restored");
			cache.bypass(channels, false);
		},
	});
	return {
		events,
		cache,
		redis,
		channel,
		/** The value of `key`, which is `value` by now. */
		read: async (value: string, key = A) =>
			(await cache.readTexts([key], async () => [value]))[0],
		restored: () =>
			until(`${name} to have a proof`, () => events.at(-1) === "restored"),
		lost: () => until(`${name} to be lost`, () => events.at(-1) === "lost"),
		[Symbol.asyncDispose]: () => channel[Symbol.asyncDispose](),
	};
}
