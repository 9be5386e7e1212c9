import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { z } from "zod";
import {
	GiveUp,
	job,
	Later,
	type RunningJob,
	type StartedJob,
} from "../../src/queue/job.ts";

interface Body {
	readonly name: string;
	readonly times: number;
}

const schema = z.object({ name: z.string(), times: z.number().default(1) });

function started(body: string): StartedJob {
	return {
		id: "hello.0.1.x",
		body,
		attempt: 2,
		allowed: 3,
		signal: AbortSignal.abort(),
		checkpoint: async () => {},
	};
}

function recording(version?: number) {
	const runs: RunningJob<Body, z.input<typeof schema>>[] = [];
	const hello = job({
		queue: "hello",
		body: schema,
		...(version !== undefined && { version }),
		async run(running) {
			runs.push(running);
		},
	});
	return { hello, runs };
}

describe("job", () => {
	test("a handler gets the body as its schema returns it, and which attempt it is", async () => {
		const { hello, runs } = recording();
		await hello.start(started(hello.encode({ name: "Ada" })), undefined);
		assert.deepEqual(runs[0]?.body, { name: "Ada", times: 1 });
		assert.equal(runs[0]?.attempt, 2);
		assert.equal(runs[0]?.fence, 2);
		assert.equal(runs[0]?.allowed, 3);
	});

	test("an enqueue with a body that the schema refuses names the field and not its value", () => {
		const { hello } = recording();
		const name = 4711 as unknown as string;
		assert.throws(() => hello.encode({ name }), {
			code: "BAD_USER_INPUT",
			message: /^The body of a job of hello is not valid: name: (?!.*4711)/,
		});
	});

	for (const body of ["{", "7", "[]", "null", '{"name":7}']) {
		test(`a stored body ${body} is given up, and its handler does not run`, async () => {
			const { hello, runs } = recording();
			await assert.rejects(hello.start(started(body), undefined), GiveUp);
			assert.equal(runs.length, 0);
		});
	}

	test("a body of a newer version is left to a newer worker, and one of an older version is run", async () => {
		const newer = recording(2).hello.encode({ name: "Ada" });
		const { hello, runs } = recording();
		await assert.rejects(hello.start(started(newer), undefined), Later);
		assert.equal(runs.length, 0);
		const two = recording(2);
		await two.hello.start(started(hello.encode({ name: "Bo" })), undefined);
		await two.hello.start(started(newer), undefined);
		assert.deepEqual(
			two.runs.map(({ body }) => body.name),
			["Bo", "Ada"],
		);
	});

	test("a checkpoint stores a body that the schema accepts, with its version", async () => {
		const stored: unknown[] = [];
		const counted = job({
			queue: "counted",
			body: schema,
			version: 3,
			async run({ checkpoint }) {
				await checkpoint({ body: { name: "Bo", times: 2 }, note: "half" });
				await checkpoint({ body: { name: 1 as unknown as string } });
			},
		});
		const running = counted.start(
			{
				...started('{"name":"Ada"}'),
				checkpoint: async (change) => void stored.push(change),
			},
			undefined,
		);
		await assert.rejects(running, { code: "BAD_USER_INPUT" });
		assert.deepEqual(stored, [
			{ body: '{"name":"Bo","times":2,"$version":3}', note: "half" },
		]);
	});

	test("options and delays out of range are refused", () => {
		const make = (change: object) => () =>
			job({ queue: "hello", body: schema, run: async () => {}, ...change });
		assert.throws(make({ queue: "Hello" }), TypeError);
		assert.throws(make({ queue: "a b" }), TypeError);
		assert.throws(make({ attempts: 0 }), TypeError);
		assert.throws(make({ claimMs: 10 }), TypeError);
		assert.throws(make({ maxRunMs: Number.NaN }), TypeError);
		assert.throws(() => new Later(Number.NaN), TypeError);
		assert.throws(() => new Later(-1), TypeError);
	});
});
