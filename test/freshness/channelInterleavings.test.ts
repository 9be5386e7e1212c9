import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type {
	RedisConnections,
	SubscriptionConnection,
} from "../../src/cache/redis/redisConnections.ts";
import {
	channelName,
	type InvalidationMessage,
} from "../../src/freshness/channel/invalidationMessage.ts";
import { InvalidationPublisher } from "../../src/freshness/channel/invalidationPublisher.ts";
import { InvalidationSubscriber } from "../../src/freshness/channel/invalidationSubscriber.ts";
import type { Numbers } from "../../src/freshness/channel/redisChannels.ts";
import { channelOfKey } from "../../src/freshness/publishedKeys.ts";
import { seededRandom } from "../../src/util/random.ts";

const RUNS = ["a", "b"].map((letter) => letter.repeat(40));
const CHANNEL = channelOfKey("l 0") as number;
/** All on one channel. */
const KEYS = Array.from({ length: 4_000 }, (_, n) => `l ${n}`).filter(
	(key) => channelOfKey(key) === CHANNEL,
);

/**
 * Redis as the protocol knows it, in memory: it numbers, sends in order, and may
 * lose numbers, messages and connections. What it sends waits until it is taken.
 */
class FakeRedis implements Pick<RedisConnections, "forSubscription"> {
	run = RUNS[0] as string;
	number = 1_000_000;
	/** What was sent over the subscription that is open: a message, or a PONG. */
	readonly sent: (() => void)[] = [];
	/** When it begins to send the messages of a new subscription. */
	subscribing: Promise<void> = Promise.resolve();
	#isSubscribed = false;
	#lost: ((error: unknown) => void) | null = null;
	#receive: (name: string, text: string) => void = () => {};

	publish(keys: InvalidationMessage["keys"], isDelivered: boolean): void {
		this.number++;
		const text = `${this.run} ${this.number} other ${JSON.stringify(keys)}`;
		const receive = this.#receive;
		if (isDelivered && this.#isSubscribed)
			this.sent.push(() => receive(channelName(CHANNEL), text));
	}

	ask(): Numbers {
		return {
			run: this.run,
			askedAt: performance.now(),
			byChannel: new Map([[CHANNEL, this.number]]),
		};
	}

	/** It begins anew at random: where nobody has been, above or below. */
	loseNumbers(at: number): void {
		this.number = at;
	}

	cut(): void {
		this.sent.length = 0;
		this.#lost?.(new Error("It was cut."));
		this.#lost = null;
	}

	forSubscription(lost: (error: unknown) => void): SubscriptionConnection {
		this.#lost = lost;
		this.#isSubscribed = false;
		this.sent.length = 0;
		return {
			runId: Promise.resolve(this.run),
			knownRunId: this.run,
			sendNow() {},
			close: () => {
				this.sent.length = 0;
			},
			client: {
				on: (
					event: string,
					listener: (a: string, b: string, c: string) => void,
				) => {
					if (event === "message") {
						this.#receive = (name, text) => listener(name, text, "");
					}
				},
				subscribe: async () => {
					await this.subscribing;
					this.#isSubscribed = true;
				},
				unsubscribe: async () => {},
				ping: () =>
					new Promise<void>((resolve) => void this.sent.push(resolve)),
			},
		};
	}
}

/** All promises that can settle without anything else. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** docs/consistency.md "Freshness by protocol". */
describe("a subscriber that has a proof", () => {
	it("has received all that was published before it asked, or dropped it, however messages are lost", async () => {
		let missed = 0;
		let proofs = 0;
		for (let seed = 1; seed <= 300; seed++) {
			const random = seededRandom(seed);
			const happens = (probability: number) => random.chance(probability);
			const redis = new FakeRedis();
			/** What Redis has taken. */
			const taken: string[] = [];
			/** What the subscriber knows to be changed. */
			const known = new Set<string>();
			const dropAll = () => {
				for (const key of taken) known.add(key);
			};
			let isLive = false;
			const subscriber = new InvalidationSubscriber({
				redis,
				channels: new Set([CHANNEL]),
				me: "me",
				ask: async () => (happens(0.1) ? null : redis.ask()),
				onInvalidations(keys) {
					for (const key of keys) known.add(key);
				},
				onLost() {
					isLive = false;
				},
				onRestored() {
					isLive = true;
					dropAll();
				},
				onMissed() {
					missed++;
					dropAll();
				},
			});
			const publisher = new InvalidationPublisher({
				isOwn: (channel) => channel === CHANNEL,
				maxPendingKeys: 1_000,
				maxAgeMs: 60_000,
				async send(messages) {
					if (happens(0.1)) return false;
					const isUnknown = happens(0.2);
					for (const { keys } of messages) {
						if (isUnknown && happens(0.5)) return false;
						redis.publish(keys, !happens(0.1));
						if (keys !== "all") taken.push(...keys);
					}
					return !isUnknown;
				},
			});
			for (let step = 0; step < 60; step++) {
				if (happens(0.5)) await publisher.publish([KEYS[step] as string]);
				else await publisher.sendPending(1_000);
				if (happens(0.02)) redis.loseNumbers(random.integer(1, 1e9));
				if (happens(0.02)) redis.cut();
				if (happens(0.02)) {
					redis.run = RUNS[step % 2] as string;
					redis.loseNumbers(random.integer(1, 1e9));
					redis.cut();
				}
				// Messages are read late, and while a question is on its way.
				while (redis.sent.length > 0 && happens(0.3)) redis.sent.shift()?.();
				if (!happens(0.4)) continue;
				const before = [...taken];
				void subscriber.beat();
				await settled();
				if (!isLive || happens(0.5)) continue;
				while (redis.sent.length > 0) {
					redis.sent.shift()?.();
					await settled();
				}
				if (!isLive) continue;
				void subscriber.beat();
				await settled();
				const asked = redis.sent.length > 0;
				while (redis.sent.length > 0) {
					redis.sent.shift()?.();
					await settled();
				}
				if (!isLive || !asked) continue;
				proofs++;
				for (const key of before) {
					assert.ok(known.has(key), `seed ${seed}, step ${step}: ${key}`);
				}
			}
			subscriber[Symbol.dispose]();
		}
		assert.ok(missed > 100, `only ${missed} gaps`);
		assert.ok(proofs > 500, `only ${proofs} proofs`);
	});

	it("misses nothing of what was published between its first question and its subscription", async () => {
		const redis = new FakeRedis();
		const subscribing = Promise.withResolvers<void>();
		redis.subscribing = subscribing.promise;
		const questions: PromiseWithResolvers<Numbers>[] = [];
		const events: string[] = [];
		using subscriber = new InvalidationSubscriber({
			redis,
			channels: new Set([CHANNEL]),
			me: "me",
			ask: () => {
				const question = Promise.withResolvers<Numbers>();
				questions.push(question);
				return question.promise;
			},
			onInvalidations: (keys) => events.push(...keys),
			onLost: () => events.push("lost"),
			onRestored: () => events.push("restored"),
			onMissed: () => events.push("missed"),
		});
		void subscriber.beat();
		const before = redis.ask();
		redis.publish(["l 0"], true);
		subscribing.resolve();
		await settled();
		for (const answer of [before, redis.ask()]) {
			questions.shift()?.resolve(answer);
			await settled();
			for (const take of redis.sent.splice(0)) take();
			await settled();
		}
		assert.equal(questions.length, 0);
		assert.deepEqual(events, ["lost", "restored"]);
	});
});
