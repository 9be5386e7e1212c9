import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { seededRandom } from "../../src/demo/random.ts";
import {
	decodeMessage,
	type InvalidationMessage,
} from "../../src/freshness/invalidationMessage.ts";
import { InvalidationPublisher } from "../../src/freshness/invalidationPublisher.ts";
import { ReceivedNumbers } from "../../src/freshness/receivedNumbers.ts";

const keys = (number: number, from = "one", series = 0, base = 0) => ({
	...{ from, series, base, number },
	keys: ["a"],
});
const heartbeat = (number: number, from = "one", series = 0, base = 0) => ({
	...{ from, series, base, number },
	keys: [],
	sentAt: 1,
});

/** Whether each message shows that some before it were missed. */
function gaps(
	messages: readonly InvalidationMessage[],
	received = new ReceivedNumbers(),
): readonly boolean[] {
	return messages.map((message) => received.isBehindGap(message));
}

/** docs/consistency.md "Freshness by protocol". */
describe("the numbers of a publisher's messages", () => {
	it("show nothing where all of them arrive", () => {
		assert.deepEqual(
			gaps([heartbeat(0), keys(1), keys(2), heartbeat(2), keys(3)]),
			[false, false, false, false, false],
		);
	});

	it("show a lost message at the next one, or at the next heartbeat", () => {
		assert.deepEqual(gaps([keys(1), keys(3), keys(4)]), [false, true, false]);
		assert.deepEqual(gaps([keys(1), heartbeat(2), heartbeat(2), keys(3)]), [
			false,
			true,
			false,
			false,
		]);
	});

	it("show nothing where a message arrives twice", () => {
		assert.deepEqual(
			gaps([keys(1), keys(1), keys(2), keys(1), heartbeat(2), keys(3)]),
			[false, false, false, false, false, false],
		);
	});

	it("show a gap once where messages arrive out of order", () => {
		assert.deepEqual(gaps([keys(1), keys(3), keys(2), keys(4)]), [
			false,
			true,
			false,
			false,
		]);
	});

	it("of two publishers are counted apart", () => {
		assert.deepEqual(
			gaps([
				keys(1, "one"),
				keys(1, "two"),
				keys(2, "two"),
				heartbeat(1, "one"),
				heartbeat(3, "two"),
				keys(2, "one"),
			]),
			[false, false, false, false, true, false],
		);
	});

	it("begin again where a publisher was restarted, as another one", () => {
		assert.deepEqual(
			gaps([keys(1), keys(2), heartbeat(0, "again"), keys(1, "again")]),
			[false, false, false, false],
		);
	});

	it("show a gap where an unknown publisher has published", () => {
		assert.deepEqual(gaps([heartbeat(7), keys(8)]), [true, false]);
		assert.deepEqual(gaps([keys(2)]), [true]);
		assert.deepEqual(gaps([keys(8, "one", 1, 7)]), [true]);
		assert.deepEqual(gaps([keys(1)]), [false]);
	});

	it("show nothing where a series repeats what Redis may not have taken", () => {
		// 3 was sent and is unknown: it arrived, or it did not.
		for (const before of [
			[keys(1), keys(2)],
			[keys(1), keys(2), keys(3)],
		]) {
			assert.deepEqual(
				gaps([...before, keys(3, "one", 1, 2), keys(4, "one", 1, 2)]).slice(-2),
				[false, false],
			);
		}
	});

	it("show a gap where a message of a series is lost whose number was received in the one before", () => {
		assert.deepEqual(
			gaps([
				...[keys(1), keys(2), keys(3)],
				...[heartbeat(2, "one", 1, 2), heartbeat(3, "one", 1, 2)],
			]),
			[false, false, false, false, true],
		);
	});

	it("show a gap where what Redis took before the series was not received, or a whole series may be missing", () => {
		assert.deepEqual(gaps([keys(1), keys(3, "one", 1, 2)]), [false, true]);
		assert.deepEqual(gaps([keys(1), keys(2), heartbeat(2, "one", 2, 2)]), [
			false,
			false,
			true,
		]);
	});

	it("of a series that is over show nothing", () => {
		assert.deepEqual(
			gaps([keys(1), keys(2, "one", 1, 1), keys(7), heartbeat(2, "one", 1, 1)]),
			[false, false, false, false],
		);
	});

	it("of more publishers than are kept count as unknown", () => {
		const received = new ReceivedNumbers(2);
		const all = ["one", "two", "three"].map((from) => keys(1, from));
		assert.deepEqual(gaps(all, received), [false, false, false]);
		assert.deepEqual(gaps([heartbeat(1, "one")], received), [true]);
	});

	/**
	 * A publisher whose link to Redis fails now and then, and a subscriber to whom
	 * messages are lost, repeated and late. After a heartbeat that arrives it has
	 * received all keys that were published before, or knows that it missed some.
	 */
	it("show a subscriber that it missed something, however messages are lost", async () => {
		let missed = 0;
		for (let seed = 1; seed <= 300; seed++) {
			const random = seededRandom(seed);
			const happens = (probability: number) => random.chance(probability);
			const received = new ReceivedNumbers();
			const published: string[] = [];
			/** What the subscriber received since it last emptied its cache, and what was published before that. */
			const known = new Set<string>();
			const late: string[] = [];
			const arrive = (text: string) => {
				const message = decodeMessage(text) as InvalidationMessage;
				if (received.isBehindGap(message)) {
					missed++;
					for (const key of published) known.add(key);
				}
				for (const key of message.keys) known.add(key);
			};
			const transport = (text: string) => {
				if (happens(0.1)) return;
				if (happens(0.1)) late.push(text);
				else arrive(text);
				if (happens(0.1)) late.push(text);
				while (late.length > 0 && happens(0.2)) arrive(late.shift() as string);
			};
			const publisher = new InvalidationPublisher({
				from: "me",
				maxPendingKeys: 1_000,
				maxAgeMs: 60_000,
				async send(messages) {
					if (happens(0.1)) return "refused";
					const isCut = happens(0.2);
					for (const message of messages) {
						if (isCut && happens(0.5)) return "unknown";
						transport(message);
					}
					return isCut ? "unknown" : "taken";
				},
			});
			for (let step = 0; step < 60; step++) {
				if (happens(0.5)) {
					published.push(`${step}`);
					await publisher.publish([`${step}`]);
					continue;
				}
				await publisher.sendPending(1_000);
				arrive(publisher.heartbeat(0));
				for (const key of published) {
					const isTaken = await publisher.untilPublished([key], 0);
					if (isTaken) assert.ok(known.has(key), `seed ${seed}, step ${step}`);
				}
			}
		}
		assert.ok(missed > 100, `only ${missed} gaps`);
	});
});
