import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SharedCall } from "../../src/util/sharedCall.ts";

function held() {
	const { promise, resolve, reject } = Promise.withResolvers<string>();
	const call = new SharedCall<string>();
	const { signal } = call;
	signal.addEventListener("abort", () => reject(signal.reason));
	call.settleWith(promise);
	return { call, resolve, signal };
}

describe("a call that several wait for", () => {
	it("goes on for the others when one gives up, who gets its own reason at once", async () => {
		const { call, resolve, signal } = held();
		const [one, other] = [new AbortController(), new AbortController()];
		const [first, second, third] = [
			call.wait(one.signal),
			call.wait(other.signal),
			call.wait(),
		];
		one.abort(new Error("one left"));
		await assert.rejects(first, /one left/);
		other.abort(new Error("the other left"));
		await assert.rejects(second, /the other left/);
		assert.equal(signal.aborted, false);
		assert.equal(call.isAbandoned, false);
		resolve("result");
		assert.equal(await third, "result");
	});

	it("ends when nobody waits any more, and is not to be joined then", async () => {
		const { call, signal } = held();
		const [one, other] = [new AbortController(), new AbortController()];
		const waits = [call.wait(one.signal), call.wait(other.signal)];
		const settled = Promise.allSettled(waits);
		one.abort(new Error("one left"));
		other.abort(new Error("the other left"));
		assert.equal(call.isAbandoned, true);
		assert.equal(signal.aborted, true);
		const reasons = (await settled).map(
			(result) => result.status === "rejected" && String(result.reason),
		);
		assert.deepEqual(reasons, ["Error: one left", "Error: the other left"]);
	});

	it("is not ended by one who has given up before", async () => {
		const { call, resolve } = held();
		const late = call.wait(AbortSignal.abort(new Error("gone")));
		await assert.rejects(late, /gone/);
		const other = call.wait(new AbortController().signal);
		resolve("result");
		assert.equal(await other, "result");
	});

	it("fails for all who wait, also where it has failed at once", async () => {
		const call = new SharedCall<string>();
		call.settleWith(Promise.reject(new Error("no host")));
		await assert.rejects(call.wait(), /no host/);
		await assert.rejects(call.wait(new AbortController().signal), /no host/);
	});
});
