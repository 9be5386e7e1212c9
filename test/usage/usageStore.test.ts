import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { RedisConnections } from "../../src/cache/redis/redisConnections.ts";
import { openRedisUsage, readRedisUsage } from "../../src/usage/redisUsage.ts";
import { openUsageFiles, readUsageFiles } from "../../src/usage/usageFile.ts";
import {
	DAY_MS,
	dayOf,
	lastDays,
	OTHER,
	type UsageBatch,
	type UsageDay,
	type UsageLimits,
	type UsageStore,
} from "../../src/usage/usageStore.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { startRedis } from "../services/redis.ts";

const NOW = Date.now();
const TODAY = dayOf(NOW);
const KEPT = 3;
const DEADLINE_MS = 10_000;

interface Place extends AsyncDisposable {
	open(limits?: UsageLimits): UsageStore;
	read(): Promise<readonly UsageDay[]>;
}

const warnings: string[] = [];
const log = {
	warn: (_: object, message: string) => void warnings.push(message),
};

async function redisPlace(): Promise<Place> {
	const server = await startRedis();
	return {
		open: (limits) =>
			openRedisUsage({
				redis: new RedisConnections(server.url),
				days: KEPT,
				log,
				deadlineMs: DEADLINE_MS,
				...(limits && { limits }),
			}),
		read: () =>
			readRedisUsage(new RedisConnections(server.url), lastDays(KEPT, NOW)),
		[Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
	};
}

async function filesPlace(): Promise<Place> {
	const folder = temporaryFolder();
	return {
		open: (limits) =>
			openUsageFiles({
				folder: folder.path,
				days: KEPT,
				log,
				...(limits && { limits }),
			}),
		read: () => readUsageFiles(folder.path, lastDays(KEPT, NOW)),
		async [Symbol.asyncDispose]() {
			folder[Symbol.dispose]();
		},
	};
}

let number = 0;
function batch(given: Partial<UsageBatch> = {}): UsageBatch {
	return {
		number: ++number,
		day: TODAY,
		at: new Date(NOW).toISOString(),
		documents: [],
		others: [],
		...given,
	};
}

const home = (client: string, count: number) => ({
	client,
	key: `${"a".repeat(64)} Home`,
	coordinates: ["Query.pins", "Pin.title"],
	count,
});

/** Counts as plain objects. */
function plain(day: UsageDay | undefined) {
	assert.ok(day);
	const counts = (all: UsageDay["requests"]) =>
		Object.fromEntries(
			[...all].map(([client, own]) => [client, Object.fromEntries(own)]),
		);
	return { requests: counts(day.requests), fields: counts(day.fields) };
}

for (const [name, openPlace] of [
	["Redis", redisPlace],
	["a data folder", filesPlace],
] as const) {
	describe(`usage in ${name}`, () => {
		test("adds up over batches, restarts and clients, with what documents use", async () => {
			await using place = await openPlace();
			assert.deepEqual(await place.read(), []);
			{
				await using store = place.open();
				assert.ok(
					await store.add(
						batch({ documents: [home("web", 3), home("ios", 1)] }),
					),
				);
				assert.ok(await store.add(batch({ documents: [home("web", 4)] })));
			}
			await using store = place.open();
			const others = [
				{
					client: "constructor",
					requests: 2,
					coordinates: [["Query.pins", 2]] as const,
				},
			];
			assert.ok(
				await store.add(batch({ documents: [home("web", 1)], others })),
			);
			const [day, ...more] = await place.read();
			assert.deepEqual(more, []);
			const { key, coordinates } = home("", 0);
			assert.deepEqual(plain(day), {
				requests: {
					web: { [key]: 8 },
					ios: { [key]: 1 },
					constructor: { [OTHER]: 2 },
				},
				fields: { constructor: { "Query.pins": 2 } },
			});
			assert.deepEqual([...(day?.documents ?? [])], [[key, coordinates]]);
			assert.equal(day?.since, new Date(NOW).toISOString());
		});

		test("records a day without requests, and keeps days apart", async () => {
			await using place = await openPlace();
			await using store = place.open();
			const yesterday = dayOf(NOW - DAY_MS);
			await store.add(batch({ day: yesterday }));
			await store.add(batch({ documents: [home("web", 1)] }));
			const days = await place.read();
			assert.deepEqual(
				days.map(({ day, requests }) => [day, requests.size]),
				[
					[yesterday, 0],
					[TODAY, 1],
				],
			);
		});

		test("counts what is beyond its limits for other clients and documents, with the fields", async () => {
			await using place = await openPlace();
			await using store = place.open({ entries: 3, documentBytes: 100 });
			const second = {
				client: "web",
				key: "b".repeat(64),
				coordinates: ["Query.pins", "Pin.link"],
				count: 5,
			};
			await store.add(batch({ documents: [home("web", 1), second] }));
			await store.add(batch({ documents: [home("tv", 2), home("web", 2)] }));
			const [day] = await place.read();
			const { key } = home("", 0);
			const { requests, fields } = plain(day);
			const total = (counts: Record<string, Record<string, number>>) =>
				Object.values(counts)
					.flatMap((own) => Object.values(own))
					.reduce((sum, count) => sum + count, 0);
			assert.equal(total(requests), 10);
			assert.equal(requests.web?.[key], 3);
			assert.equal(requests.web?.[OTHER], 5);
			assert.equal(requests[OTHER]?.[key], 2);
			assert.equal(requests.tv, undefined);
			assert.equal(total(fields), 10);
			assert.deepEqual([...(day?.documents.keys() ?? [])], [key]);
		});

		test("is bounded though documents that use nothing of the schema come without end", async () => {
			await using place = await openPlace();
			const documentBytes = 1_000;
			await using store = place.open({ entries: 3, documentBytes });
			const documents = Array.from({ length: 40 }, (_, n) => ({
				client: "web",
				key: String(n).padStart(64, "0"),
				coordinates: [],
				count: 1,
			}));
			await store.add(batch({ documents: documents.slice(0, 20) }));
			await store.add(batch({ documents: documents.slice(20) }));
			const [day] = await place.read();
			const names = Object.values(plain(day).requests).flatMap(Object.keys);
			assert.equal(day?.documents.size, 15);
			// There is one for each document it keeps, and some for the others together.
			assert.ok(names.length <= 17, String(names.length));
		});
	});
}

describe("usage in Redis", () => {
	test("of several processes adds up, and a batch whose answer was lost counts once", async () => {
		await using place = await redisPlace();
		await using one = place.open();
		await using other = place.open();
		const sent = batch({ documents: [home("web", 1)] });
		await Promise.all([one.add(sent), other.add(sent)]);
		await one.add(sent);
		const [day] = await place.read();
		assert.deepEqual(plain(day).requests, { web: { [home("", 0).key]: 2 } });
	});

	test("expires with its day", async () => {
		await using server = await startRedis();
		const redis = new RedisConnections(server.url);
		await using store = openRedisUsage({ redis, days: KEPT, log });
		await store.add(batch({ documents: [home("web", 1)] }));
		using commands = redis.forCommands({ deadlineMs: DEADLINE_MS });
		const replies = await commands.call("get", 1, ({ client }) =>
			client
				.pipeline([
					["pttl", `c1.usage.${TODAY}`],
					["pttl", `c1.usage.${TODAY}.documents`],
				])
				.exec(),
		);
		for (const [, ttl] of replies ?? []) {
			assert.ok(
				Number(ttl) > KEPT * DAY_MS && Number(ttl) <= (KEPT + 1) * DAY_MS,
			);
		}
		assert.equal(replies?.length, 2);
	});

	test("is not stored while Redis is full or gone, and no call fails", async () => {
		await using server = await startRedis({
			args: ["--maxmemory", "1", "--maxmemory-policy", "noeviction"],
		});
		const redis = new RedisConnections(server.url);
		await using store = openRedisUsage({
			redis,
			days: KEPT,
			log,
			deadlineMs: DEADLINE_MS,
		});
		assert.equal(
			await store.add(batch({ documents: [home("web", 1)] })),
			false,
		);
		assert.equal(warnings.at(-1), "usage not stored");
		await server.kill();
		assert.equal(
			await store.add(batch({ documents: [home("web", 1)] })),
			false,
		);
		await assert.rejects(readRedisUsage(redis, [TODAY], DEADLINE_MS), {
			code: "UNAVAILABLE",
		});
	});
});

describe("usage in a data folder", () => {
	test("drops days older than the limit", async () => {
		using folder = temporaryFolder();
		await using store = openUsageFiles({
			folder: folder.path,
			days: KEPT,
			log,
		});
		for (const ago of [4, 2]) {
			await store.add(batch({ day: dayOf(NOW - ago * DAY_MS) }));
		}
		await store.add(batch());
		assert.deepEqual(readdirSync(join(folder.path, "usage")), [
			`${dayOf(NOW - 2 * DAY_MS)}.json`,
			`${TODAY}.json`,
		]);
	});

	test("puts a damaged file aside to count on, and does not take it for no usage", async () => {
		using folder = temporaryFolder();
		const file = join(folder.path, "usage", `${TODAY}.json`);
		const open = () => openUsageFiles({ folder: folder.path, days: KEPT, log });
		{
			await using store = open();
			await store.add(batch({ documents: [home("web", 1)] }));
		}
		writeFileSync(file, readFileSync(file, "utf8").slice(0, 40));
		await assert.rejects(readUsageFiles(folder.path, [TODAY]), {
			code: "BAD_DATA",
		});
		await using store = open();
		assert.ok(await store.add(batch({ documents: [home("web", 2)] })));
		assert.ok(warnings.includes("usage file damaged"));
		const [day] = await readUsageFiles(folder.path, [TODAY]);
		assert.deepEqual(plain(day).requests, { web: { [home("", 0).key]: 2 } });
	});
});
