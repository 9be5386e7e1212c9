import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertGone } from "./gone.ts";
import { reservePort } from "./port.ts";
import { environmentOf, sharedServices, startServices } from "./shared.ts";

describe("services", () => {
	test("start in the requested numbers, and all stop", async () => {
		const own = await startServices({ mysql: 2, redis: 1, memcached: 2 });
		const servers = [own.mysql, own.mariadb, own.redis, own.memcached];
		assert.deepEqual(
			servers.map(({ length }) => length),
			[2, 0, 1, 2],
		);
		await own[Symbol.asyncDispose]();
		for (const server of servers.flat()) await assertGone(server);
	});

	test("are those the environment names, which stay running", async () => {
		await using own = await startServices({ mysql: 2, redis: 1, memcached: 1 });
		const environment = environmentOf({
			mysql: own.mysql.map(({ url }) => url),
			mariadb: [],
			redis: own.redis.map(({ url }) => url),
			memcached: own.memcached.map(({ address }) => address),
		});
		assert.deepEqual(Object.keys(environment), [
			"TEST_MYSQL",
			"TEST_REDIS",
			"TEST_MEMCACHED",
		]);
		for (let times = 0; times < 2; times++) {
			await using services = await sharedServices(
				{ mysql: 1, redis: 1, memcached: 1 },
				environment,
			);
			assert.deepEqual(services.mysql, [own.mysql[0]?.url]);
			assert.deepEqual(services.redis, [own.redis[0]?.url]);
			assert.deepEqual(services.memcached, [own.memcached[0]?.address]);
		}
	});

	test("are private ones when the environment names none", async () => {
		const services = await sharedServices({ redis: 1, memcached: 1 }, {});
		const [redis = ""] = services.redis;
		const [memcached = ""] = services.memcached;
		assert.match(redis, /^redis:\/\/127\.0\.0\.1:\d+$/);
		assert.match(memcached, /^127\.0\.0\.1:\d+$/);
		await services[Symbol.asyncDispose]();
		await assert.rejects(
			sharedServices({ redis: 1 }, { TEST_REDIS: redis }),
			/expected a redis to answer/,
		);
	});

	test("are rejected when the environment names too few", async () => {
		await assert.rejects(
			sharedServices({ mysql: 2 }, { TEST_MYSQL: "mysql://a:b@127.0.0.1:1" }),
			{ message: "expected 2 addresses in TEST_MYSQL but got: 1" },
		);
	});

	for (const [kind, setting, scheme] of [
		["mysql", "TEST_MYSQL", "mysql://me:hidden@"],
		["redis", "TEST_REDIS", "redis://:hidden@"],
		["memcached", "TEST_MEMCACHED", ""],
	] as const) {
		test(`are reported without their passwords when they do not answer: ${kind}`, async () => {
			await using reserved = await reservePort();
			const address = `127.0.0.1:${reserved.port}`;
			await assert.rejects(
				sharedServices({ [kind]: 1 }, { [setting]: scheme + address }),
				({ message }: Error) => {
					assert.ok(
						message.startsWith(
							`expected a ${kind} to answer at ${address} but got: `,
						),
						message,
					);
					assert.ok(
						message.endsWith(
							`. Start it, or leave out ${setting} to have one started`,
						),
						message,
					);
					assert.ok(!message.includes("hidden"), message);
					return true;
				},
			);
		});
	}
});
