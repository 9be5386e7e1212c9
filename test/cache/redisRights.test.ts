import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { openRedisCache } from "../../src/cache/redis/redisCache.ts";
import { RedisConnections } from "../../src/cache/redis/redisConnections.ts";
import {
	aclRules,
	COMMANDS,
	missingRules,
} from "../../src/cache/redis/redisRights.ts";
import { openRedisTexts } from "../../src/cache/redis/redisTexts.ts";
import { openRedisTokenBuckets } from "../../src/cache/redis/redisTokenBuckets.ts";
import { cacheProblems, inspectCaches } from "../../src/fleet/inspectCaches.ts";
import { RedisChannels } from "../../src/freshness/channel/redisChannels.ts";
import { openRedisHints } from "../../src/queue/redisHints.ts";
import { until } from "../helpers/until.ts";
import { ask } from "../services/ask.ts";
import { startRedis } from "../services/redis.ts";
import type { Server } from "../services/server.ts";
import { sharedCacheTests } from "../suites/sharedCache.ts";

const deadlineMs = 5_000;
const SOURCE = join(import.meta.dirname, "../../src");

describe("a user of Redis with exactly the rights that are printed", () => {
	let server: Server;
	let url: string;
	before(async () => {
		server = await startRedis();
		await say(`ACL SETUSER app on >pw ${aclRules().join(" ")}`);
		url = server.url.replace("redis://", "redis://app:pw@");
	});
	after(() => server.stop());

	async function say(line: string): Promise<void> {
		assert.match(await ask(server, line, /\r\n$/), /^\+OK/, line);
	}

	async function missing(): Promise<readonly string[] | null> {
		using commands = new RedisConnections(url).forCommands({ deadlineMs });
		return await commands.call("stats", 0, ({ client, withRunId }) =>
			withRunId(() => missingRules(client)),
		);
	}

	sharedCacheTests({
		port: () => server.port,
		startSmall: () =>
			startRedis({
				args: ["--maxmemory", "4mb", "--maxmemory-policy", "allkeys-lru"],
			}),
		open: ({ port = server.port, leaseSeconds, ttlSeconds, ...given } = {}) => {
			const login = port === server.port ? "app:pw@" : "";
			return openRedisCache({
				redis: new RedisConnections(`redis://${login}127.0.0.1:${port}`),
				...(given.deadlineMs !== undefined && { deadlineMs: given.deadlineMs }),
				...(leaseSeconds !== undefined && { leaseMs: leaseSeconds * 1_000 }),
				...(ttlSeconds !== undefined && { ttlMs: ttlSeconds * 1_000 }),
			});
		},
	});

	test("lacks nothing: limits, documents, invalidations, hints and who leads work", async () => {
		assert.deepEqual(await missing(), []);
		const redis = new RedisConnections(url);
		await using buckets = openRedisTokenBuckets({ redis, deadlineMs });
		const limit = { points: 10, perMs: 1_000 };
		assert.equal((await buckets.take(limit, "anna", 3))?.waitMs, 0);
		await using texts = openRedisTexts({ redis, deadlineMs });
		await texts.set("c1.document.a", "{ viewer }", 10_000);
		assert.equal(await texts.get("c1.document.a"), "{ viewer }");
		using commands = redis.forCommands({ deadlineMs });
		const channels = new RedisChannels([0], commands);
		const listener = redis.forSubscription(() => {});
		await listener.runId;
		await listener.client.subscribe("corkboard.changed.3.0");
		assert.ok(await channels.publish([{ channel: 0, keys: ["o 1"] }]));
		assert.ok(await channels.ask());
		listener.close();
		const hints: string[] = [];
		await using sender = openRedisHints({ redis, onHint: () => {} });
		await using receiver = openRedisHints({
			redis: new RedisConnections(url),
			onHint: (hint) => hints.push(hint),
		});
		using _ = { [Symbol.dispose]: receiver.listen(["q"]) };
		await until("a hint", () => {
			sender.publish("q", "1.2");
			return hints.length > 0;
		});
		await until("the lease", () =>
			sender.leads(["q"], { name: "rotation", ms: 1_000 }),
		);
	});

	test("finds which of them are missing, once they are", async () => {
		await say("ACL SETUSER app -hincrby resetkeys ~c2.* ~c1.usage.*");
		const lacking = [
			"+hincrby",
			"~c1.document.*",
			"~b1.*",
			"~corkboard.changed.3",
			"~corkboard.jobs.leader.3",
		];
		assert.deepEqual(await missing(), lacking);
		const [problem = ""] = cacheProblems(
			await inspectCaches({ memcached: [], redis: url }, undefined, {
				until: performance.now() + 20_000,
			}),
		);
		assert.ok(problem.includes(lacking.join(" ")), problem);
		await say(`ACL SETUSER app ${aclRules().join(" ")}`);
		assert.deepEqual(await missing(), []);
	});

	test("may run each command that a script of ours calls", () => {
		const called = globSync("**/*.ts", { cwd: SOURCE }).flatMap((file) =>
			[
				...readFileSync(join(SOURCE, file), "utf8").matchAll(
					/redis\.call\('([A-Z]+)'(?:, '(NUMSUB)')?/g,
				),
			].map(([, command = "", sub]) =>
				[command, ...(sub ? [sub] : [])].join("|").toLowerCase(),
			),
		);
		assert.ok(called.length > 20);
		assert.deepEqual(
			called.filter((command) => !COMMANDS.includes(command)),
			[],
		);
	});
});
