import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { RedisConnections } from "../../../src/cache/redis/redisConnections.ts";
import { openRedisTokenBuckets } from "../../../src/cache/redis/redisTokenBuckets.ts";
import { createBudget } from "../../../src/server/limits/budget.ts";
import { createRateLimit } from "../../../src/server/limits/rateLimit.ts";
import { timed } from "../../helpers/timing.ts";
import {
	ADA,
	startToy,
	type Toy,
	type ToyExecute,
	tokens,
} from "../../helpers/toyServer.ts";
import { until } from "../../helpers/until.ts";
import { startRedis } from "../../services/redis.ts";
import type { Server } from "../../services/server.ts";

/** An hour: nothing fills again while a test runs. */
const PER_MS = 3_600_000;
const POINTS = 100;
const REQUESTS = 5;
const COST = 60;

/** A budget for one operation, and not for two. */
const execute: ToyExecute = async ({ costMeter: meter }) => {
	const refused = await meter.admit(COST);
	if (refused !== null) return { errors: [refused] };
	meter.recordReads(COST);
	return { data: { hello: "there" } };
};

interface Limited extends AsyncDisposable {
	ask(headers?: Readonly<Record<string, string>>): Promise<Response>;
}

/** As `serve` wires it, with a connection of its own. */
async function startLimited(
	redis: Server,
	limits: "budget" | "requests",
	deadlineMs?: number,
): Promise<Limited> {
	await using stack = new AsyncDisposableStack();
	const shared = stack.use(
		openRedisTokenBuckets({
			redis: new RedisConnections(redis.url),
			...(deadlineMs && { deadlineMs }),
		}),
	);
	const toy: Toy = stack.use(
		await startToy(
			limits === "budget"
				? {
						execute,
						budget: createBudget({ points: POINTS, perMs: PER_MS }, shared),
					}
				: {
						rateLimit: createRateLimit(
							{ requests: REQUESTS, perMs: PER_MS },
							shared,
						),
					},
		),
	);
	const owned = stack.move();
	return {
		ask: (headers) => toy.post({ query: "{ hello }" }, headers),
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}

async function statuses(
	{ ask }: Limited,
	times: number,
	headers?: Readonly<Record<string, string>>,
): Promise<number[]> {
	const seen: number[] = [];
	for (let n = 0; n < times; n++) seen.push((await ask(headers)).status);
	return seen;
}

async function rejection(
	response: Response,
): Promise<{ status: number; code: unknown; seconds: number }> {
	const { errors } = (await response.json()) as {
		errors: { extensions: { code: unknown } }[];
	};
	return {
		status: response.status,
		code: errors[0]?.extensions.code,
		seconds: Number(response.headers.get("retry-after")),
	};
}

/** What is left of a limit, as the response says. */
function left({ headers }: Response): string | undefined {
	return /;r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1];
}

describe("two servers with one Redis", () => {
	let redis: Server;
	before(async () => {
		redis = await startRedis();
	});
	after(() => redis.stop());

	/** For what is not about the deadline, on a machine that runs much else. */
	const deadlineMs = 5_000;

	it("share the budget of a viewer, and of nobody else", async () => {
		await using one = await startLimited(redis, "budget", deadlineMs);
		await using other = await startLimited(redis, "budget", deadlineMs);
		const ada = { authorization: `Bearer ${await tokens.sign(ADA)}` };
		assert.deepEqual(await statuses(one, 1, ada), [200]);
		const { seconds, ...error } = await rejection(await other.ask(ada));
		assert.deepEqual(error, { status: 429, code: "TOO_EXPENSIVE" });
		// 20 of 100 points short, of which there are 100 an hour.
		assert.ok(seconds > 600 && seconds <= 720, String(seconds));
		assert.deepEqual(await statuses(other, 1), [200], "an anonymous visitor");
	});

	it("share the rate limit of an address", async () => {
		await using one = await startLimited(redis, "requests", deadlineMs);
		await using other = await startLimited(redis, "requests", deadlineMs);
		assert.deepEqual(await statuses(one, 3), [200, 200, 200]);
		const fourth = await other.ask();
		assert.equal(fourth.status, 200);
		assert.equal(left(fourth), "1");
		assert.deepEqual(await statuses(one, 1), [200]);
		for (const server of [one, other]) {
			const response = await server.ask();
			assert.equal(left(response), "0");
			const { seconds, ...error } = await rejection(response);
			assert.deepEqual(error, { status: 429, code: "UNAVAILABLE" });
			// One of five.
			assert.ok(seconds > 600 && seconds <= 720, String(seconds));
		}
	});

	it("count an address's budget and its requests separately", async () => {
		const filling = { points: 1, perMs: PER_MS };
		await using shared = openRedisTokenBuckets({
			redis: new RedisConnections(redis.url),
			deadlineMs,
		});
		await using toy = await startToy({
			execute: async ({ costMeter: meter }) => {
				const refused = await meter.admit(1);
				return refused ? { errors: [refused] } : { data: { hello: "there" } };
			},
			budget: createBudget(filling, shared),
			rateLimit: createRateLimit({ requests: 1, perMs: PER_MS }, shared),
		});
		assert.equal((await toy.post({ query: "{ hello }" })).status, 200);
	});

	for (const [how, silence, deadline] of [
		["is killed", (own: Server) => own.kill(), deadlineMs],
		["hangs", async (own: Server) => own.pause(), 1_000],
	] as const) {
		it(`continue within a second when it ${how}, and each counts by itself`, async () => {
			await using own = await startRedis();
			const start = (limits: "budget" | "requests") =>
				startLimited(own, limits, deadline);
			await using oneBudget = await start("budget");
			await using otherBudget = await start("budget");
			await using one = await start("requests");
			await using other = await start("requests");
			await Promise.all(
				[oneBudget, otherBudget, one, other].map((server) => server.ask()),
			);
			await silence(own);
			const { result: seen, ownMs } = await timed(() =>
				Promise.all([
					...[oneBudget, otherBudget].map((server) => statuses(server, 2)),
					...[one, other].map((server) => statuses(server, REQUESTS + 1)),
				]),
			);
			const requests = [...Array<number>(REQUESTS).fill(200), 429];
			assert.deepEqual(seen, [[200, 429], [200, 429], requests, requests]);
			// The first of each waits for its deadline, the breaker answers the rest.
			assert.ok(ownMs < 4_000, `${ownMs} ms`);
		});
	}

	it("share their counts again when it is back", async () => {
		await using own = await startRedis();
		await using one = await startLimited(own, "requests", deadlineMs);
		await using other = await startLimited(own, "requests", deadlineMs);
		await own.kill();
		for (const server of [one, other]) {
			assert.equal((await statuses(server, REQUESTS + 1)).at(-1), 429);
		}
		await own.restart();
		// What each has left of its own is nothing, so what passes is Redis'.
		for (const [server, remaining] of [
			[one, "4"],
			[other, "3"],
		] as const) {
			await until("an answer", async () => {
				const response = await server.ask();
				if (response.status !== 200) return false;
				assert.equal(left(response), remaining);
				return true;
			});
		}
	});
});
