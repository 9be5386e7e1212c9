import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createRateLimit } from "../../../src/server/limits/rateLimit.ts";
import { startToy } from "../../helpers/toyServer.ts";

const limit = () => createRateLimit({ requests: 3, perMs: 60_000 }, null);

suite("an address over its rate limit", () => {
	test("gets 429 in GraphQL's format, with the time to retry", async () => {
		await using toy = await startToy({
			rateLimit: limit(),
			cors: ["https://example.com"],
		});
		const rateLimitOf = ({ headers }: Response) => {
			assert.equal(headers.get("ratelimit-policy"), '"requests";q=3;w=60');
			const [, left, seconds] =
				/^"requests";r=(\d+);t=(\d+)$/.exec(headers.get("ratelimit") ?? "") ??
				[];
			return [Number(left), Number(seconds)];
		};
		// What is left of how many, and when all will be there again.
		for (const [left, seconds] of [
			[2, 20],
			[1, 40],
			[0, 60],
		] as const) {
			const response = await toy.post({ query: "{ hello }" });
			assert.equal(response.status, 200);
			const [remaining, reset = 0] = rateLimitOf(response);
			assert.equal(remaining, left);
			assert.ok(reset > seconds - 10 && reset <= seconds, String(reset));
			assert.equal(response.headers.get("retry-after"), null);
		}
		// Before its body or token is looked at.
		const response = await toy.post("{", {
			authorization: "Bearer none",
			origin: "https://example.com",
		});
		assert.equal(response.status, 429);
		const seconds = Number(response.headers.get("retry-after"));
		// One of the three.
		assert.ok(seconds > 10 && seconds <= 20, String(seconds));
		assert.deepEqual(rateLimitOf(response), [0, seconds]);
		// A page of another origin may read it.
		assert.equal(
			response.headers.get("access-control-allow-origin"),
			"https://example.com",
		);
		assert.match(
			response.headers.get("access-control-expose-headers") ?? "",
			/\bratelimit, ratelimit-policy\b/,
		);
		const { errors } = (await response.json()) as {
			errors: { message: string; extensions: unknown }[];
		};
		assert.match(
			errors[0]?.message ?? "",
			/^Rate limit exceeded: 3 requests from one address in 60 s\. Retry in \d+ s\.$/,
		);
		assert.deepEqual(errors[0]?.extensions, { code: "UNAVAILABLE" });
	});

	test("can still request /health", async () => {
		await using toy = await startToy({ rateLimit: limit() });
		for (let n = 0; n < 6; n++) {
			const { status } = await fetch(`${toy.server.url}/health/ready`);
			assert.equal(status, 200);
		}
		assert.equal((await toy.post({ query: "{ hello }" })).status, 200);
	});

	test("is the address that a trusted proxy names, else the proxy's own", async () => {
		for (const [trustProxy, expected] of [
			["127.0.0.1", 200],
			[true, 200],
			[false, 429],
		] as const) {
			await using toy = await startToy({ rateLimit: limit(), trustProxy });
			let status = 0;
			for (let n = 0; n < 4; n++) {
				const response = await toy.post(
					{ query: "{ hello }" },
					{ "x-forwarded-for": `198.51.100.${n}` },
				);
				status = response.status;
			}
			assert.equal(status, expected);
		}
	});
});

suite("the address of a request", () => {
	test("is what the nearest proxy appended, whatever the client wrote before it", async () => {
		await using toy = await startToy({ rateLimit: limit(), trustProxy: true });
		let status = 0;
		for (let n = 0; n < 4; n++) {
			const response = await toy.post(
				{ query: "{ hello }" },
				{ "x-forwarded-for": `203.0.113.${n}, 198.51.100.7` },
			);
			status = response.status;
		}
		assert.equal(status, 429);
	});
});

suite("a request's id", () => {
	const given = "proxy-7f3a:1";

	test("is the proxy's where its header is configured and has only plain characters", async () => {
		await using toy = await startToy({ requestIdHeader: "x-request-id" });
		const idOf = async (id: string) =>
			(
				await toy.post({ query: "{ hello }" }, { "x-request-id": id })
			).headers.get("x-request-id");
		assert.equal(await idOf(given), given);
		for (const bad of ["a b", '"', "x".repeat(129), "{}"]) {
			assert.match((await idOf(bad)) ?? "", /^[0-9a-f-]{36}$/);
		}
	});

	test("is generated otherwise", async () => {
		await using toy = await startToy();
		const response = await toy.post(
			{ query: "{ hello }" },
			{ "x-request-id": given },
		);
		assert.match(response.headers.get("x-request-id") ?? "", /^[0-9a-f-]{36}$/);
	});
});

suite("a response", () => {
	const name = "a".repeat(5_000);
	const ask = {
		query: "query($n: String) { hello(name: $n) }",
		variables: { n: name },
	};

	test("is compressed for clients that accept it, unless it is small", async () => {
		await using toy = await startToy();
		for (const encoding of ["br", "gzip"]) {
			const response = await toy.post(ask, { "accept-encoding": encoding });
			assert.equal(response.headers.get("content-encoding"), encoding);
			assert.match(response.headers.get("vary") ?? "", /accept-encoding/i);
			assert.deepEqual(await response.json(), {
				data: { hello: `Hello ${name}` },
			});
		}
		const plain = await toy.post(ask, { "accept-encoding": "identity" });
		assert.equal(plain.headers.get("content-encoding"), null);
		const small = await toy.post(
			{ query: "{ hello }" },
			{ "accept-encoding": "gzip" },
		);
		assert.equal(small.headers.get("content-encoding"), null);
	});

	test("is not compressed where compression is off", async () => {
		await using toy = await startToy({ compression: false });
		const response = await toy.post(ask, { "accept-encoding": "gzip" });
		assert.equal(response.headers.get("content-encoding"), null);
	});
});
