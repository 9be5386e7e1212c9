import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CorkboardError } from "../../../src/errors.ts";
import {
	HostBreakers,
	HostSkipped,
	unreachedHost,
} from "../../../src/graph/outbox/hostBreakers.ts";
import { invalidationFailed } from "../../../src/graph/outbox/writer.ts";

const failure = (kind: string, host = "db1:3306") =>
	new CorkboardError("UNAVAILABLE", undefined, { details: { kind, host } });

describe("the breaker of a destination", () => {
	it("skips a host that did not answer until its pause is over, which doubles up to eight seconds", () => {
		let now = 0;
		const breakers = new HostBreakers(() => now);
		breakers.check("db1:3306");
		const pauses: number[] = [];
		for (let n = 0; n < 7; n++) {
			breakers.failed("db1:3306", failure("timeout"));
			const began = now;
			for (;;) {
				try {
					breakers.check("db1:3306");
					break;
				} catch (error) {
					assert.ok(error instanceof HostSkipped);
					now += 100;
				}
			}
			pauses.push(now - began);
		}
		assert.deepEqual(pauses, [500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
		breakers.check("db2:3306");
		breakers.succeeded("db1:3306");
		assert.ok(!breakers.isOpen("db1:3306"));
		breakers.check("db1:3306", false);
	});

	it("tries a cache again after two seconds at most", () => {
		let now = 0;
		const breakers = new HostBreakers(() => now);
		for (let n = 0; n < 9; n++) {
			breakers.failed("cache:11211", invalidationFailed("cache:11211"));
		}
		now += 1_999;
		assert.throws(() => breakers.check("cache:11211"), HostSkipped);
		now += 1;
		breakers.check("cache:11211");
	});

	it("lets one probe at a time through, and only after the pause", () => {
		let now = 0;
		const breakers = new HostBreakers(() => now);
		assert.ok(!breakers.startProbe("db1:3306"), "nothing to probe");
		breakers.failed("db1:3306", failure("connectionLost"));
		assert.ok(!breakers.startProbe("db1:3306"), "too early");
		now += 500;
		assert.ok(breakers.startProbe("db1:3306"));
		assert.ok(!breakers.startProbe("db1:3306"), "one is under way");
		assert.throws(() => breakers.check("db1:3306", false), HostSkipped);
		breakers.check("db1:3306", true);
		breakers.failed("db1:3306", failure("connectionLost"));
		now += 1_000;
		assert.ok(!breakers.startProbe("db1:3306"), "it has not ended");
		breakers.endProbe("db1:3306");
		assert.ok(breakers.startProbe("db1:3306"));
	});

	it("is opened by failures to reach the host, not by what the host answered", () => {
		const breakers = new HostBreakers(() => 0);
		for (const kind of ["conflict", "constraint", "failed", "skipped"]) {
			breakers.failed("db1:3306", failure(kind));
			assert.equal(unreachedHost(failure(kind)), null);
		}
		breakers.failed("db1:3306", new Error("any"));
		assert.ok(!breakers.isOpen("db1:3306"));
		for (const kind of ["connectionLost", "timeout", "poolExhausted"]) {
			assert.equal(unreachedHost(failure(kind)), "db1:3306");
		}
		assert.equal(unreachedHost(invalidationFailed()), "shared caches");
		assert.equal(unreachedHost(new HostSkipped("db7:1", 5)), "db7:1");
	});
});
