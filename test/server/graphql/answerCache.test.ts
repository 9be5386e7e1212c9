// Runs in a process of its own: it measures the heap.
import assert from "node:assert/strict";
import { describe, suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { KeptEntries } from "../../../src/cache/keptEntries.ts";
import type { Id } from "../../../src/id/ids.ts";
import {
	createDocuments,
	type Documents,
} from "../../../src/server/documents/documents.ts";
import {
	AnswerCache,
	type KeptAnswer,
} from "../../../src/server/graphql/answerCache.ts";
import { keptBody, newBody } from "../../../src/server/graphql/body.ts";
import type { Reuse } from "../../../src/server/graphql/operation.ts";
import type { Budget } from "../../../src/server/limits/budget.ts";
import { heldBytes, isCollected } from "../../helpers/heldBytes.ts";
import {
	ADA,
	executeToy,
	GONE,
	startToy,
	type ToyExecute,
	tokens,
} from "../../helpers/toyServer.ts";
import { until } from "../../helpers/until.ts";
import { sha256 } from "../documents/serving.ts";

const VALID: Reuse = {
	isValid: () => true,
	isFor: null,
	reads: 0,
	bytes: 0,
};

const anyDocument = () =>
	createDocuments({
		mode: "off",
		files: null,
		shared: null,
		log: { warn() {} },
	});

const answerTo = ({ revision }: Pick<Documents, "revision">): KeptAnswer => ({
	reuse: VALID,
	cost: 0,
	revision,
	sha256: "",
	operationName: null,
	uses: null,
	hasText: true,
	dependsOnViewer: true,
	body: newBody("{}"),
});

suite("the cache of answers", () => {
	test("counts requests too, so that long ones do not exceed its size", () => {
		const cache = new AnswerCache(new KeptEntries(100_000));
		const documents = anyDocument();
		const answer = answerTo(documents);
		const keys = Array.from({ length: 200 }, (_, n) => {
			const key = cache.keyOf(null, false, `${n} ${"a".repeat(4_000)}`);
			assert.ok(key !== null);
			return key;
		});
		for (const key of keys) cache.set(key, answer);
		const kept = keys.filter((key) => cache.get(key, documents) !== null);
		assert.ok(kept.length > 5, `${kept.length}`);
		assert.ok(kept.length * 4_000 < 100_000, `${kept.length}`);
	});

	test("gives a shared answer to those whom it is for, and others their own", () => {
		const cache = new AnswerCache(new KeptEntries(100_000));
		const documents = anyDocument();
		const answerWith = (text: string, isFor: Reuse["isFor"]) => ({
			...answerTo(documents),
			reuse: { ...VALID, isFor },
			body: newBody(text),
		});
		const keyOf = (viewer: Id | null) => {
			const key = cache.keyOf(viewer, false, "{ board }");
			assert.ok(key !== null);
			return key;
		};
		const found = (viewer: Id | null) =>
			String(cache.get(keyOf(viewer), documents)?.body.content);
		const shared = answerWith("shared", (viewer) => viewer !== ADA);
		cache.set(keyOf(GONE), shared);
		assert.equal(found(GONE), "shared");
		assert.equal(found(null), "shared");
		assert.equal(found(ADA), "undefined");
		cache.set(keyOf(ADA), answerWith("own", null));
		assert.equal(found(ADA), "own");
		assert.equal(found(GONE), "shared");
	});

	test("takes as much of its memory as answers serve of the requests", () => {
		const cache = new AnswerCache(new KeptEntries(100_000));
		const documents = anyDocument();
		const answer = answerTo(documents);
		const keyOf = (n: number) => {
			// All weigh the same.
			const key = cache.keyOf(null, false, `${1_000 + n}`);
			assert.ok(key !== null);
			return key;
		};
		const fill = () => {
			for (let n = 0; n < 200; n++) cache.set(keyOf(n), answer);
			return cache.level().bytes;
		};
		const whole = fill();
		const ask = (count: number, n: number) => {
			for (let at = 0; at < count; at++) cache.get(keyOf(n), documents);
		};
		ask(60_000, -1);
		assert.ok(fill() <= 12_500, `${fill()} of ${whole}`);
		cache.set(keyOf(0), answer);
		ask(60_000, 0);
		assert.equal(fill(), whole);
	});

	test("records once in sixteen what was one viewer's alone the last time", () => {
		const cache = new AnswerCache(new KeptEntries(100_000));
		const documents = anyDocument();
		const keyOf = (viewer: number) => {
			const key = cache.keyOf(String(viewer) as Id, false, "{ viewer }");
			assert.ok(key !== null);
			return key;
		};
		assert.equal(cache.isWorthKeeping(keyOf(1)), false);
		assert.equal(cache.isWorthKeeping(keyOf(2)), true);
		const answer = answerTo(documents);
		cache.set(keyOf(2), answer);
		let recorded = 0;
		for (let viewer = 3; viewer < 35; viewer++) {
			if (!cache.isWorthKeeping(keyOf(viewer))) continue;
			recorded++;
			cache.set(keyOf(viewer), answer);
		}
		assert.equal(recorded, 2);
		assert.equal(cache.isWorthKeeping(keyOf(3)), true, "a viewer who repeats");
	});

	test("keeps of a body its own bytes, and not what they are a part of", () => {
		for (const text of ["{}", '{"data":"Ådá"}']) {
			const { content } = keptBody(newBody(text));
			assert.equal(String(content), text);
			if (typeof content === "string") continue;
			assert.equal(content.buffer.byteLength, content.length);
		}
	});

	test("keeps no document in memory", async () => {
		const documents = anyDocument();
		let definition: WeakRef<object> | undefined;
		const execute: ToyExecute = async (operation) => {
			const [first] = operation.document.definitions;
			definition ??= first && new WeakRef(first);
			assert.equal(await operation.costMeter.admit(1), null);
			return { ...(await executeToy(operation)), reuse: VALID };
		};
		await using toy = await startToy({
			execute,
			documents,
			answersIn: new KeptEntries(1_000_000),
		});
		const query = "query Named { hello }";
		for (let n = 0; n < 6; n++) await (await toy.post({ query })).text();
		assert.equal(await reusedBy(toy.server.url), 3);
		assert.ok(definition !== undefined);
		await documents.parsed.delete(sha256(query));
		assert.ok(await isCollected(definition));
	});

	test("keeps the name of an operation without the text around it", () => {
		const documents = anyDocument();
		const bytes = heldBytes(100, () => {
			const cache = new AnswerCache(new KeptEntries(100_000));
			const text = `query TheNameOfAnOperation { ${"x".repeat(20_000)} }`;
			cache.set(
				{ viewer: null, request: "POST", own: "anonymous POST" },
				{
					reuse: VALID,
					cost: 0,
					revision: documents.revision,
					sha256: "",
					uses: null,
					operationName: Buffer.from(text).toString().slice(6, 26),
					hasText: false,
					dependsOnViewer: true,
					body: newBody("{}"),
				},
			);
			return cache;
		});
		assert.ok(bytes < 10_000, `${bytes} bytes`);
	});

	describe("once a change has ended the answer", () => {
		/** A toy whose answer names who asked and what was read, and has been kept; operations wait until they are released. */
		async function startHeld() {
			const held = { name: "before", runs: 0 };
			let released = Promise.withResolvers<void>();
			released.resolve();
			const toy = await startToy({
				execute: async ({ viewer, costMeter }) => {
					assert.equal(await costMeter.admit(1), null);
					const read = held.name;
					held.runs++;
					await released.promise;
					return {
						data: { hello: `${read} for ${viewer ?? "nobody"}` },
						reuse: {
							...VALID,
							isValid: () => held.name === read,
							isFor: (other) => other === viewer,
						},
					};
				},
				answersIn: new KeptEntries(1_000_000),
			});
			const ask = async (token?: string) => {
				const response = await toy.post(
					{ query: "{ hello }" },
					token === undefined ? {} : { authorization: `Bearer ${token}` },
				);
				const { data } = (await response.json()) as { data: { hello: string } };
				return data.hello;
			};
			for (let n = 0; n < 4; n++) await ask();
			assert.equal(held.runs, 3);
			return {
				held,
				ask,
				end(name: string) {
					Object.assign(held, { name, runs: 0 });
					released = Promise.withResolvers();
				},
				release: () => released.resolve(),
				[Symbol.asyncDispose]: () => toy[Symbol.asyncDispose](),
			};
		}

		test("one request reads it again, and those that come meanwhile get its answer", async () => {
			await using world = await startHeld();
			const { held, ask, end, release } = world;
			// On a busy machine they may have waited as long as they do.
			for (let tries = 1; ; tries++) {
				const began = performance.now();
				end(`after ${tries}`);
				const all = [ask()];
				await until("the first to read", () => held.runs === 1);
				all.push(ask(), ask(), ask());
				await sleep(10);
				release();
				const answers = new Set(await Promise.all(all));
				assert.deepEqual([...answers], [`after ${tries} for nobody`]);
				if (held.runs === 1) break;
				const tookMs = performance.now() - began;
				assert.ok(tookMs > 40 && tries < 20, `${held.runs} in ${tookMs} ms`);
			}
		});

		test("those who came after another change get that one, and who may not share it an answer of their own", async () => {
			await using world = await startHeld();
			const { held, ask, end, release } = world;
			end("after");
			const first = ask();
			await until("the first to read", () => held.runs === 1);
			held.name = "later";
			const others = [ask(), ask(await tokens.sign(ADA))];
			await sleep(10);
			release();
			assert.equal(await first, "after for nobody");
			assert.deepEqual(await Promise.all(others), [
				"later for nobody",
				`later for ${ADA}`,
			]);
		});

		test("nobody waits long for one that takes long", async () => {
			await using world = await startHeld();
			const { held, ask, end, release } = world;
			end("after");
			const first = ask();
			await until("the first to read", () => held.runs === 1);
			const second = ask();
			await until("the second to read by itself", () => held.runs === 2);
			release();
			assert.equal(await first, await second);
		});
	});

	for (const change of ["write", "block"] as const)
		test(`is asked again once the budget was waited for, after a ${change}`, async () => {
			let name = "before";
			const execute: ToyExecute = async () => {
				const read = name;
				return {
					data: { hello: read },
					reuse: {
						...VALID,
						isValid: () => change === "block" || name === read,
						isFor: () => change === "write" || name === read,
					},
				};
			};
			let taken = () => {};
			let charged = 0;
			const budget: Budget = {
				async take(_key, cost) {
					charged += Math.max(1, cost);
					taken();
					return null;
				},
				adjust(_key, cost, read) {
					charged += Math.max(1, read) - Math.max(1, cost);
				},
			};
			await using toy = await startToy({
				execute: async (operation) => {
					assert.equal(await operation.costMeter.admit(7), null);
					const answer = await execute(operation);
					operation.costMeter.recordReads(7);
					return answer;
				},
				budget,
				answersIn: new KeptEntries(1_000_000),
			});
			const ask = async () => (await toy.post({ query: "{ hello }" })).text();
			for (let n = 0; n < 5; n++) {
				assert.equal(await ask(), '{"data":{"hello":"before"}}\n');
			}
			assert.equal(await reusedBy(toy.server.url), 2);
			taken = () => {
				name = "after";
			};
			charged = 0;
			assert.equal(await ask(), '{"data":{"hello":"after"}}\n');
			// An operation that reads nothing costs one.
			assert.equal(charged, 8);
		});
});

async function reusedBy(url: string): Promise<number> {
	const response = await fetch(`${url}/health/ready?verbose`);
	const { requests } = (await response.json()) as {
		requests: { reused: number };
	};
	return requests.reused;
}
