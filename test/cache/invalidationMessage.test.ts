import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
	decodeMessage,
	encodeHeartbeat,
	encodeKeys,
	splitKeys,
} from "../../src/freshness/invalidationMessage.ts";

const NUMBER = { from: "me", series: 1, base: 2, number: 5 } as const;

describe("an invalidation message", () => {
	test("decodes to what was encoded, whatever characters its keys have", () => {
		const keys = ["o 241294492511762325", 'l email "ä b"@example.com\n\u0000'];
		for (const some of [keys, "all"] as const) {
			assert.deepEqual(decodeMessage(encodeKeys(NUMBER, some)), {
				...NUMBER,
				keys: some,
			});
		}
		assert.deepEqual(decodeMessage(encodeHeartbeat(NUMBER, 12.5)), {
			...NUMBER,
			keys: [],
			sentAt: 12.5,
		});
	});

	test("has the text that other versions of the program understand, or empty their caches for", () => {
		assert.equal(
			encodeKeys(NUMBER, ["o 1"]),
			'{"v":2,"from":"me","series":1,"base":2,"number":5,"keys":["o 1"]}',
		);
		assert.equal(
			encodeHeartbeat(NUMBER, 7),
			'{"v":2,"from":"me","series":1,"base":2,"number":5,"keys":[],"sentAt":7}',
		);
	});

	test("holds at most a hundred keys and 64 Ki characters", () => {
		const keys = (count: number, letter: string) =>
			Array.from({ length: count }, (_, at) => `${at}`.padEnd(500, letter));
		assert.equal(splitKeys(keys(100, "x")).length, 1);
		assert.equal(splitKeys(keys(101, "x")).length, 2);
		const escaped = keys(101, "\u0000");
		const messages = splitKeys(escaped).map((some) => encodeKeys(NUMBER, some));
		assert.deepEqual(
			messages.flatMap((message) => decodeMessage(message)?.keys),
			escaped,
		);
		assert.ok(messages.every((message) => message.length <= 64 * 1024));
	});

	const rest = '"series":0,"base":0,"number":1';
	const strangers = [
		"",
		"PING",
		"null",
		"[]",
		`{"v":2,"from":"me",${rest}}`,
		`{"v":2,"from":"me",${rest},"keys":[]}`,
		`{"v":2,"from":"me",${rest},"keys":[],"sentAt":"7"}`,
		`{"v":2,"from":"me",${rest},"keys":["o 1"],"sentAt":7}`,
		`{"v":2,${rest},"keys":[],"sentAt":7}`,
		`{"v":1,"from":"me",${rest},"keys":[],"sentAt":7}`,
		`{"v":"2","from":"me",${rest},"keys":[],"sentAt":7}`,
		`{"v":2,"from":7,${rest},"keys":[],"sentAt":7}`,
		`{"v":2,"from":"me",${rest},"keys":{}}`,
		`{"v":2,"from":"me",${rest},"keys":"o 1"}`,
		`{"v":2,"from":"me",${rest},"keys":["o 1",2]}`,
		`{"v":2,"from":"me",${rest},"keys":[],"sentAt":7,"more":1}`,
		`{"v":2,"from":"me",${rest},"keys":["${"x".repeat(501)}"]}`,
		'{"v":2,"from":"me","keys":["o 1"]}',
		'{"v":2,"from":"me","series":0,"base":0,"number":1.5,"keys":["o 1"]}',
		'{"v":2,"from":"me","series":-1,"base":0,"number":1,"keys":["o 1"]}',
		'{"v":2,"from":"me","series":0,"base":2,"number":1,"keys":[],"sentAt":7}',
		'{"v":2,"from":"me","series":0,"base":1,"number":1,"keys":["o 1"]}',
		JSON.stringify({
			...{ v: 2, series: 0, base: 0, number: 1 },
			from: "me",
			keys: new Array(101).fill("a"),
		}),
		`${" ".repeat(64 * 1024)}{"v":2,"from":"me",${rest},"keys":[],"sentAt":7}`,
	];
	for (const text of strangers) {
		test(`is not ${text.trim().slice(0, 70) || "nothing"}`, () => {
			assert.equal(decodeMessage(text), null);
		});
	}
});
