import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { Id } from "../../../src/id/ids.ts";
import { clientAddress } from "../../../src/server/http/address.ts";
import {
	budgetKeyOf,
	createBudget,
} from "../../../src/server/limits/budget.ts";
import { createRateLimit } from "../../../src/server/limits/rateLimit.ts";
import type { TakeResult } from "../../../src/util/tokenBucket.ts";
import {
	ADA,
	startToy,
	type ToyExecute,
	tokens,
} from "../../helpers/toyServer.ts";

const HUNDRED_A_MINUTE = { points: 100, perMs: 60_000 };

function budgetAt(clock: { now: number }) {
	return createBudget(HUNDRED_A_MINUTE, null, () => clock.now);
}

describe("a budget", () => {
	it("starts full, is used up, and refills evenly", async () => {
		const clock = { now: 0 };
		const budget = budgetAt(clock);
		assert.equal(await budget.take("a", 70), null);
		const refused = await budget.take("a", 40);
		assert.deepEqual(refused?.extensions.code, "TOO_EXPENSIVE");
		assert.match(
			refused?.message ?? "",
			/^Budget exceeded: this operation costs 40, and 100 edges and objects may be read in 60 s\. Retry in 6 s\.$/,
		);
		assert.equal(await budget.take("a", 30), null, "cheaper ones still run");
		clock.now += 24_000;
		assert.equal(await budget.take("a", 40), null);
		clock.now += 10 * 60_000;
		assert.equal(await budget.take("a", 100), null);
		assert.notEqual(
			await budget.take("a", 1),
			null,
			"never more than it holds",
		);
	});

	it("is separate for each budget key", async () => {
		const budget = budgetAt({ now: 0 });
		assert.equal(await budget.take("a", 100), null);
		assert.notEqual(await budget.take("a", 1), null);
		assert.equal(await budget.take("b", 100), null);
	});

	it("gets back points that the operation did not use", async () => {
		const budget = budgetAt({ now: 0 });
		assert.equal(await budget.take("a", 100), null);
		budget.adjust("a", 100, 10);
		assert.equal(await budget.take("a", 90), null);
		assert.notEqual(await budget.take("a", 1), null);
	});

	it("loses points for reads beyond the cost, down to empty", async () => {
		const clock = { now: 0 };
		const budget = budgetAt(clock);
		assert.equal(await budget.take("a", 10), null);
		budget.adjust("a", 10, 50);
		assert.notEqual(await budget.take("a", 51), null);
		assert.equal(await budget.take("a", 45), null);
		budget.adjust("a", 45, 10_000);
		await setImmediate();
		assert.notEqual(await budget.take("a", 1), null, "nothing is left");
		// Never below empty: who waits for one point has it.
		clock.now += 600;
		assert.equal(await budget.take("a", 1), null);
	});

	it("is adjusted in a shared bucket, whose levels are rounded", async () => {
		let level = 7.25;
		const budget = createBudget(HUNDRED_A_MINUTE, {
			async take(_filling, _name, points) {
				const waitMs = points > level ? 1 : 0;
				if (waitMs === 0) level -= points;
				return { waitMs, level: level + 0.0004 };
			},
		});
		budget.adjust("a", 1, 100);
		await setImmediate();
		assert.equal(level, 0.25);
	});

	it("takes one point for an operation that reads nothing", async () => {
		const budget = budgetAt({ now: 0 });
		for (let n = 0; n < 100; n++) {
			assert.equal(await budget.take("a", 0), null);
		}
		assert.notEqual(await budget.take("a", 0), null);
	});

	it("uses the shared bucket, and the process's own while the shared one does not answer", async () => {
		let answer: TakeResult | null = { waitMs: 0, level: 5_000 };
		const asked: number[] = [];
		const names = new Set<string>();
		const budget = createBudget(HUNDRED_A_MINUTE, {
			async take(filling, name, points) {
				assert.equal(filling, HUNDRED_A_MINUTE);
				names.add(name);
				asked.push(points);
				return answer;
			},
		});
		assert.equal(await budget.take("viewer 1", 1_000), null);
		answer = { waitMs: 2_500, level: 0 };
		assert.match((await budget.take("viewer 1", 1))?.message ?? "", /in 3 s/);
		answer = null;
		assert.equal(await budget.take("viewer 1", 100), null);
		assert.notEqual(await budget.take("viewer 1", 1), null);
		assert.deepEqual(asked, [1_000, 1, 100, 1]);
		assert.equal(names.size, 1);
		assert.doesNotMatch([...names].join(), /viewer/);
	});
});

describe("the budget key", () => {
	const of = (ip: string, viewer: string | null = null) =>
		budgetKeyOf(viewer as Id | null, () =>
			clientAddress({ socket: { remoteAddress: ip } } as IncomingMessage, null),
		);

	it("is the viewer, from any address", () => {
		assert.equal(of("192.0.2.1", ADA), of("192.0.2.2", ADA));
	});

	it("is an IPv4 address, or the /64 of an IPv6 address", () => {
		assert.notEqual(of("192.0.2.1"), of("192.0.2.2"));
		assert.equal(of("2001:db8:1:2::1"), of("2001:DB8:1:2:ffff:0:0:9"));
		assert.notEqual(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
		assert.equal(of("2001:db8::"), of("2001:db8::5"));
		assert.notEqual(of("::ffff:192.0.2.1"), of("::ffff:192.0.2.2"));
		assert.equal(of("::ffff:192.0.2.1"), of("192.0.2.1"));
		assert.equal(of("::ffff:c000:201"), of("192.0.2.1"));
		assert.equal(of("fe80::1%eth0"), of("fe80::2%eth1"));
		assert.equal(of("64:ff9b::192.0.2.1"), of("64:ff9b::192.0.2.2"));
		assert.equal(of("::1"), of("0:0:0:0:0:0:0:2"));
		assert.notEqual(of("1::"), of("::1"));
	});
});

describe("a server with a budget", () => {
	const executing =
		(cost: number, actual: number): ToyExecute =>
		async ({ costMeter: meter }) => {
			const refused = await meter.admit(cost);
			if (refused !== null) return { errors: [refused] };
			meter.recordReads(actual);
			return { data: { hello: "there" } };
		};

	it("responds with 429, Retry-After and TOO_EXPENSIVE, and no data", async () => {
		await using toy = await startToy({
			execute: executing(80, 80),
			budget: createBudget(HUNDRED_A_MINUTE, null),
		});
		const ask = (headers: Record<string, string> = {}) =>
			toy.post(
				{ query: "{ hello }" },
				{ accept: "application/graphql-response+json", ...headers },
			);
		const answered = await ask();
		assert.equal(answered.status, 200);
		assert.equal(
			answered.headers.get("ratelimit-policy"),
			'"budget";q=100;w=60;qu="cost"',
		);
		assert.match(
			answered.headers.get("ratelimit") ?? "",
			/^"budget";r=20;t=48$/,
		);
		const refused = await ask();
		assert.match(
			refused.headers.get("ratelimit") ?? "",
			/^"budget";r=0;t=3\d$/,
		);
		assert.equal(refused.status, 429);
		assert.match(refused.headers.get("retry-after") ?? "", /^3\d$/);
		const { errors, ...rest } = (await refused.json()) as {
			errors: { extensions: unknown }[];
		};
		assert.deepEqual(rest, {});
		assert.deepEqual(errors[0]?.extensions, { code: "TOO_EXPENSIVE" });
		// Nobody else's.
		const known = { authorization: `Bearer ${await tokens.sign(ADA)}` };
		assert.equal((await ask(known)).status, 200);
		assert.equal((await ask(known)).status, 429);
	});

	it("says beside the rate limit what is left once unused points are back", async () => {
		await using toy = await startToy({
			execute: executing(80, 30),
			budget: createBudget(HUNDRED_A_MINUTE, null),
			rateLimit: createRateLimit({ requests: 5, perMs: 60_000 }, null),
		});
		const { headers } = await toy.post({ query: "{ hello }" });
		assert.equal(
			headers.get("ratelimit-policy"),
			'"requests";q=5;w=60, "budget";q=100;w=60;qu="cost"',
		);
		assert.match(
			headers.get("ratelimit") ?? "",
			/^"requests";r=4;t=12, "budget";r=70;t=18$/,
		);
	});

	it("ignores an address that the client names itself", async () => {
		for (const [trustProxy, second] of [
			[false, 429],
			[true, 200],
		] as const) {
			await using toy = await startToy({
				trustProxy,
				execute: executing(80, 80),
				budget: createBudget(HUNDRED_A_MINUTE, null),
			});
			const ask = (from: string) =>
				toy.post({ query: "{ hello }" }, { "x-forwarded-for": from });
			assert.equal((await ask("192.0.2.1")).status, 200);
			assert.equal((await ask("192.0.2.2")).status, second);
		}
	});

	it("reports requested and actual cost to a client that asks for it", async () => {
		await using toy = await startToy({ execute: executing(80, 7) });
		const ask = async (headers: Record<string, string>) =>
			(
				(await (await toy.post({ query: "{ hello }" }, headers)).json()) as {
					extensions?: unknown;
				}
			).extensions;
		assert.deepEqual(await ask({ "corkboard-cost": "1" }), {
			cost: { requested: 80, actual: 7 },
		});
		assert.equal(await ask({}), undefined);
	});
});
