import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
	decodeMessage,
	encodeHeartbeat,
	encodeInvalidateAll,
	encodeMessages,
} from "../../src/cache/invalidationMessage.ts";

describe("an invalidation message", () => {
	test("decodes to what was encoded, whatever characters its keys have", () => {
		const keys = ["o 241294492511762325", 'l email "ä b"@example.com\n\u0000'];
		const [message, ...more] = encodeMessages("me", keys) ?? [];
		assert.deepEqual(more, []);
		assert.deepEqual(decodeMessage(message ?? ""), { from: "me", keys });
		assert.deepEqual(decodeMessage(encodeHeartbeat("me", 12.5)), {
			from: "me",
			keys: [],
			sentAt: 12.5,
		});
		assert.deepEqual(decodeMessage(encodeInvalidateAll("me")), {
			from: "me",
			keys: "all",
		});
	});

	test("has the text that other versions of the program understand or ignore", () => {
		assert.deepEqual(encodeMessages("me", ["o 1"]), [
			'{"v":1,"from":"me","keys":["o 1"]}',
		]);
		assert.equal(encodeInvalidateAll("me"), '{"v":1,"from":"me","keys":"all"}');
		assert.equal(
			encodeHeartbeat("me", 7),
			'{"v":1,"from":"me","keys":[],"sentAt":7}',
		);
	});

	test("holds at most a hundred keys and 64 Ki characters", () => {
		const keys = (count: number, letter: string) =>
			Array.from({ length: count }, (_, at) => `${at}`.padEnd(500, letter));
		assert.equal(encodeMessages("me", keys(100, "x"))?.length, 1);
		assert.equal(encodeMessages("me", keys(101, "x"))?.length, 2);
		const escaped = keys(101, "\u0000");
		const messages = encodeMessages("me", escaped) ?? [];
		assert.deepEqual(
			messages.flatMap((message) => decodeMessage(message)?.keys),
			escaped,
		);
		assert.ok(messages.every((message) => message.length <= 64 * 1024));
		assert.equal(encodeMessages("me", ["x".repeat(501)]), null);
	});

	const strangers = [
		"",
		"PING",
		"null",
		"[]",
		'{"v":1,"from":"me"}',
		'{"v":1,"from":"me","keys":[]}',
		'{"v":1,"from":"me","keys":[],"sentAt":"7"}',
		'{"v":1,"from":"me","keys":["o 1"],"sentAt":7}',
		'{"v":1,"keys":[],"sentAt":7}',
		'{"v":2,"from":"me","keys":[],"sentAt":7}',
		'{"v":"1","from":"me","keys":[],"sentAt":7}',
		'{"v":1,"from":7,"keys":[],"sentAt":7}',
		'{"v":1,"from":"me","keys":{}}',
		'{"v":1,"from":"me","keys":"o 1"}',
		'{"v":1,"from":"me","keys":["o 1",2]}',
		'{"v":1,"from":"me","keys":[],"sentAt":7,"more":1}',
		`{"v":1,"from":"me","keys":["${"x".repeat(501)}"]}`,
		JSON.stringify({ v: 1, from: "me", keys: new Array(101).fill("a") }),
		`${" ".repeat(64 * 1024)}{"v":1,"from":"me","keys":[],"sentAt":7}`,
	];
	for (const text of strangers) {
		test(`is not ${text.trim().slice(0, 60) || "nothing"}`, () => {
			assert.equal(decodeMessage(text), null);
		});
	}
});
