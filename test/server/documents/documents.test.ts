import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { parse } from "graphql";
import {
	createDocuments,
	type SharedTexts,
} from "../../../src/server/documents/documents.ts";
import { isCollected } from "../../helpers/heldBytes.ts";
import { executeToy, startToy } from "../../helpers/toyServer.ts";
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

/** A document of this many characters, which differs from those of other numbers. */
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
		for (let n = 0; n < 2; n++) {
			await documents.parsed.set(sha256(text), parse(text));
		}
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

suite("a document of no file", () => {
	test("that comes once leaves nothing in memory, whether or not its text is registered", async () => {
		const parsed: WeakRef<object>[] = [];
		const documents = storing();
		await using toy = await startToy({
			documents,
			execute(operation) {
				parsed.push(new WeakRef(operation.document));
				return executeToy(operation);
			},
		});
		const once = "query Once { hello }";
		await (await toy.post({ query: once })).text();
		const registered = "query Registered { hello }";
		const sha256Hash = sha256(registered);
		const extensions = { persistedQuery: { version: 1, sha256Hash } };
		await (await toy.post({ query: registered, extensions })).text();
		assert.equal(parsed.length, 2);
		for (const ref of parsed) assert.ok(await isCollected(ref));
		assert.equal(documents.runnableByText(once), null);
		assert.equal(await documents.texts.get(sha256Hash), registered);
	});

	test("that came twice is known, by its text and by its hash", async () => {
		const documents = storing();
		const text = "{ hello }";
		const hash = sha256(text);
		await documents.texts.set(`apq:${hash}`, text);
		await documents.parsed.set(`schema:${hash}`, parse(text));
		assert.equal(documents.runnable(hash), null);
		assert.equal(documents.runnableByText(text), null);
		const document = parse(text);
		await documents.parsed.set(`schema:${hash}`, document);
		assert.equal(documents.runnable(hash)?.document, document);
		assert.equal(documents.runnableByText(text)?.document, document);
	});

	test("that comes twice at once is known to the third request, as one that comes twice in turn", async () => {
		const documents = storing();
		await using toy = await startToy({ documents });
		const ask = async (query: string) => {
			const response = await toy.post({ query });
			assert.deepEqual(await response.json(), { data: { hello: "Hello you" } });
		};
		await Promise.all([ask("query A { hello }"), ask("query A { hello }")]);
		await ask("query B { hello }");
		assert.equal(documents.runnableByText("query B { hello }"), null);
		await ask("query B { hello }");
		for (const name of ["A", "B"]) await ask(`query ${name} { hello }`);
		const response = await fetch(`${toy.server.url}/health/ready?verbose`);
		const { requests } = (await response.json()) as { requests: object };
		assert.deepEqual(requests, { short: 2, reused: 0, long: 4 });
	});
});
