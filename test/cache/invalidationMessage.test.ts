import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
	decodeMessage,
	splitKeys,
} from "../../src/freshness/channel/invalidationMessage.ts";

const RUN = "0123456789abcdef0123456789abcdef01234567";
const message = (keys: unknown) => `${RUN} 5 me ${JSON.stringify(keys)}`;

describe("an invalidation message", () => {
	test("decodes to what Redis put together, whatever characters its keys have", () => {
		const keys = ["o 241294492511762325", 'l email "ä b"@example.com\n\u0000'];
		for (const some of [keys, "all"]) {
			assert.deepEqual(decodeMessage(message(some)), {
				run: RUN,
				number: 5,
				from: "me",
				keys: some,
			});
		}
	});

	test("holds at most a hundred keys and 64 Ki characters", () => {
		const keys = (count: number, letter: string) =>
			Array.from({ length: count }, (_, at) => `${at}`.padEnd(500, letter));
		assert.equal(splitKeys(keys(100, "x")).length, 1);
		assert.equal(splitKeys(keys(101, "x")).length, 2);
		const escaped = keys(101, "\u0000");
		const messages = splitKeys(escaped).map(message);
		assert.deepEqual(
			messages.flatMap((text) => decodeMessage(text)?.keys),
			escaped,
		);
		assert.ok(messages.every(({ length }) => length <= 64 * 1024));
	});

	const strangers = [
		"",
		"PING",
		"null",
		RUN,
		`${RUN} 5 me`,
		`${RUN} 5 ["o 1"]`,
		`${RUN} me ["o 1"]`,
		`${RUN} -5 me ["o 1"]`,
		`${RUN} 1.5 me ["o 1"]`,
		`${RUN.slice(1)} 5 me ["o 1"]`,
		` ${message(["o 1"])}`,
		`${message(["o 1"])}x`,
		message(null),
		message({}),
		message([]),
		message("o 1"),
		message(["o 1", 2]),
		message(["x".repeat(501)]),
		message(new Array(101).fill("a")),
		`${RUN} 5 me ${" ".repeat(64 * 1024)}["o 1"]`,
		'{"v":2,"from":"me","series":0,"base":0,"number":1,"keys":["o 1"]}',
	];
	for (const text of strangers) {
		test(`is not ${text.trim().slice(0, 70) || "nothing"}`, () => {
			assert.equal(decodeMessage(text), null);
		});
	}
});
