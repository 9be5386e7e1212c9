import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { parse } from "graphql";
import {
	createDocuments,
	type SharedTexts,
} from "../../../src/server/documents/documents.ts";
import { sha256 } from "./serving.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
const MAX_TEXT = 64 * 1024;

function storing({
	shared = null,
	now,
}: {
	readonly shared?: SharedTexts | null;
	readonly now?: () => number;
} = {}) {
	return createDocuments({
		mode: "off",
		files: null,
		shared,
		log: { warn: () => {} },
		...(now ? { now } : {}),
	});
}

/** Of this many characters, and unlike those of other numbers. */
function textOf(number: number, length: number): string {
	return `{ a${number}: hello }`.padEnd(length);
}

suite("registered texts", () => {
	test("are kept for a day, in the process and where processes share them", async () => {
		let time = 0;
		const given: unknown[] = [];
		const documents = storing({
			now: () => time,
			shared: {
				get: async () => null,
				set: async (...args) => void given.push(args),
			},
		});
		const text = textOf(1, 10);
		const hash = sha256(text);
		await documents.texts.set(`apq:${hash}`, text);
		assert.deepEqual(given, [[`c1.document.${hash}`, text, DAY_MS]]);
		time = DAY_MS - 1;
		assert.equal(await documents.texts.get(`apq:${hash}`), text);
		time = DAY_MS;
		assert.equal(await documents.has(hash), false);
	});

	test("from another process are also kept for a day at most", async () => {
		let time = 0;
		const text = textOf(1, 10);
		let asked = 0;
		const documents = storing({
			now: () => time,
			shared: {
				get: async () => (asked++ === 0 ? text : null),
				set: async () => {},
			},
		});
		for (const [at, isHere] of [
			[0, true],
			[DAY_MS - 1, true],
			[DAY_MS, false],
		] as const) {
			time = at;
			assert.equal(await documents.has(sha256(text)), isHere, `at ${at}`);
		}
		assert.equal(asked, 2);
	});

	test("of more than 64 Ki characters are kept neither in the process nor in the shared store", async () => {
		let shares = 0;
		const documents = storing({
			shared: { get: async () => null, set: async () => void shares++ },
		});
		for (const [length, isKept] of [
			[MAX_TEXT, true],
			[MAX_TEXT + 1, false],
		] as const) {
			const text = textOf(length, length);
			await documents.texts.set(sha256(text), text);
			assert.equal(await documents.has(sha256(text)), isKept, `${length}`);
		}
		assert.equal(shares, 1);
	});

	test("take at most 8 Mi characters: the least recently used are evicted first", async () => {
		const documents = storing();
		const count = (8 * 1024 * 1024) / MAX_TEXT;
		const texts = Array.from({ length: count }, (_, n) => textOf(n, MAX_TEXT));
		for (const text of texts) await documents.texts.set(sha256(text), text);
		const kept = await Promise.all(
			texts.map((text) => documents.has(sha256(text))),
		);
		// Each weighs 100 more for its key.
		assert.deepEqual(
			kept,
			texts.map((_, n) => n > 0),
		);
	});
});

test("parsed documents of no file take at most 1 Mi characters of text: the least recently used are evicted first", async () => {
	const documents = storing();
	const count = (1024 * 1024) / MAX_TEXT;
	const texts = Array.from({ length: count }, (_, n) => textOf(n, MAX_TEXT));
	for (const text of texts) {
		await documents.parsed.set(sha256(text), parse(text));
	}
	const kept = await Promise.all(
		texts.map(
			async (text) => (await documents.parsed.get(sha256(text))) !== undefined,
		),
	);
	assert.deepEqual(
		kept,
		texts.map((_, n) => n > 0),
	);
});
