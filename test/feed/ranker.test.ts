import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { Worker } from "node:worker_threads";
import { arrange, type FeedViewer } from "../../src/feed/arrange.ts";
import {
	FEED_CHANNELS,
	type RankerFellBack,
} from "../../src/feed/diagnostics.ts";
import { BoundedRanker } from "../../src/feed/ranker.ts";
import type { Id } from "../../src/id/ids.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";

const folder = temporaryFolder();
after(() => folder[Symbol.dispose]());

let files = 0;
async function rankerOf(source: string, timeoutMs = 60_000) {
	const file = join(folder.path, `ranker${++files}.ts`);
	writeFileSync(file, source);
	return BoundedRanker.open(file, { timeoutMs });
}

const VIEWER: FeedViewer = {
	id: "1" as Id,
	now: 0,
	lastLookAt: 0,
	usualScores: {},
	hidden: new Map(),
	rates: [{ sources: ["user"], rate: 1 }],
};
const POOLS = new Map([
	[
		"user",
		["3", "2", "1"].map((pin) => ({
			source: "user",
			item: pin as Id,
			origin: pin as Id,
			via: `9${pin}` as Id,
			score: Number(pin),
			waitingSince: 0,
		})),
	],
]);
const DEFAULT = arrange(POOLS, 2, VIEWER);

async function fallbacksDuring(run: () => Promise<void>) {
	const whys: string[] = [];
	const count = (message: RankerFellBack) => void whys.push(message.why);
	FEED_CHANNELS.rankerFellBack.subscribe(count);
	try {
		await run();
	} finally {
		FEED_CHANNELS.rankerFellBack.unsubscribe(count);
	}
	return whys;
}

describe("a ranker of a file", () => {
	it("arranges what a look adds, and scores for receivers", async () => {
		await using ranker = await rankerOf(
			`export const arrange = async (pools, size) => ({ show: [...pools.values()].flat().map(({ item }) => item).reverse().slice(0, size), drop: ["3"] });
			export const score = (item: { createdAt: number }, via, receivers) => receivers.map((_, at) => item.createdAt + at);`,
		);
		const whys = await fallbacksDuring(async () => {
			assert.deepEqual(await ranker.arrange(POOLS, 2, VIEWER), {
				show: ["1", "2"],
				drop: ["3"],
			});
			const pin = { createdAt: 5 } as Parameters<typeof ranker.score>[0];
			const via = { source: "user", id: "9" as Id } as const;
			assert.deepEqual(
				await ranker.score(pin, via, ["1" as Id, "2" as Id]),
				[5, 6],
			);
		});
		assert.deepEqual(whys, []);
	});

	it("is replaced by the default where it throws or its answer is not usable, and that is counted", async () => {
		for (const [answer, why] of [
			["{ throw new Error() }", "failed"],
			["null", "unusable"],
			['({ show: ["7"] })', "unusable"],
			['({ show: ["1", "1"] })', "unusable"],
			['({ show: ["1"], drop: ["1"] })', "unusable"],
			['({ show: ["1", "2", "3"] })', "unusable"],
		] as const) {
			await using ranker = await rankerOf(
				`export const arrange = () => ${answer};`,
			);
			const whys = await fallbacksDuring(async () => {
				assert.deepEqual(await ranker.arrange(POOLS, 2, VIEWER), DEFAULT);
			});
			assert.deepEqual(whys, [why], answer);
		}
	});

	it("keeps nobody waiting where it never ends: its thread is replaced", async () => {
		await using ranker = await rankerOf(
			"export function arrange() { for (;;); }",
			20,
		);
		const whys = await fallbacksDuring(async () => {
			for (let n = 0; n < 3; n++) {
				assert.deepEqual(await ranker.arrange(POOLS, 2, VIEWER), DEFAULT);
			}
		});
		assert.equal(whys.length, 3);
	});

	it("leaves no thread where it is closed while its thread is replaced", async () => {
		const threads: Worker[] = [];
		const collect = (thread: Worker) => void threads.push(thread);
		process.on("worker", collect);
		try {
			const ranker = await rankerOf(
				"export function arrange() { for (;;); }",
				20,
			);
			await until("the replacement to be begun", async () => {
				await ranker.arrange(POOLS, 2, VIEWER);
				return threads.length === 2;
			});
			await ranker[Symbol.asyncDispose]();
			await until("both threads to end", () =>
				threads.every(({ threadId }) => threadId === -1),
			);
		} finally {
			process.off("worker", collect);
		}
	});

	it("is refused at start where it cannot be loaded or exports no function of a ranker", async () => {
		for (const source of [
			"export const x = 1;",
			"throw new Error('no');",
			"process.exit();",
		]) {
			await assert.rejects(rankerOf(source), { code: "BAD_CONFIG" });
		}
	});
});
