import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { TOPOLOGY_CHANNELS } from "../../src/topology/diagnostics.ts";
import {
	type ConfirmedTopology,
	moment,
	WriteGuard,
} from "../../src/topology/guards/writeGuard.ts";
import type { Topology } from "../../src/topology/types.ts";
import { until } from "../helpers/until.ts";

const OLD = "10.0.0.1:3306";
const NEW = "10.0.0.2:3306";
/** On a slow machine no call is paused for so long by itself. Milliseconds. */
const NEVER_MS = 3_600_000;

function topology(version: number, host: string): Topology {
	const primary = `mysql://u:p@${host}`;
	return {
		version,
		shards: [{ range: [0, 3], primary, open: true }],
		lookups: [{ range: [0, 3], primary }],
	};
}

/** A store whose answer the test says. */
class Source implements ConfirmedTopology {
	topology = topology(1, OLD);
	confirmed = moment();
	stored = this.topology;
	answers = true;
	looks = 0;

	async look(): Promise<void> {
		const began = moment();
		this.looks++;
		await sleep(1);
		if (!this.answers) return;
		this.topology = this.stored;
		this.confirmed = began;
	}

	/** As if it had been confirmed so long ago. */
	age(ms: number): void {
		const { at, wall } = moment();
		this.confirmed = { at: at - ms, wall: wall - ms };
	}
}

/** The process is paused, as under SIGSTOP. */
function standStill(ms: number): void {
	Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe("a write", () => {
	test("asks no store while the topology was confirmed lately, and is refused on a host that is no primary", () => {
		const source = new Source();
		using guard = new WriteGuard(source, {
			freshMs: NEVER_MS,
			pausedMs: NEVER_MS,
		});
		guard.begin();
		assert.equal(guard.refusal(OLD), null);
		assert.match(String(guard.refusal(NEW)), /names no such primary/);
	});

	test("waits for the store where the topology was confirmed long ago, and is refused where a newer one names another primary", async () => {
		const source = new Source();
		using guard = new WriteGuard(source, { pausedMs: NEVER_MS });
		source.stored = topology(2, NEW);
		source.age(60_000);
		// A machine that stalls lets a look take longer than it is waited for.
		await until("the newer version is noticed", async () => {
			return (await guard.refusal(OLD)) !== null;
		});
		assert.equal(await guard.refusal(NEW), null);
	});

	test("goes on without the store where that does not answer, and waits for it once", async () => {
		const source = new Source();
		using guard = new WriteGuard(source, { pausedMs: NEVER_MS });
		source.answers = false;
		source.age(60_000);
		assert.equal(await guard.refusal(OLD), null);
		assert.ok(source.looks > 1);
		const { looks } = source;
		assert.equal(await guard.refusal(OLD), null);
		assert.ok(source.looks <= looks + 1);
		// It is back, and the next look finds it out.
		source.answers = true;
		source.stored = topology(2, NEW);
		await until("the newer version is noticed", async () => {
			return (await guard.refusal(OLD)) !== null;
		});
	});

	test("of a process that was paused is refused until the store has answered", async () => {
		const source = new Source();
		using guard = new WriteGuard(source, {
			freshMs: NEVER_MS,
			pausedMs: 200,
		});
		source.answers = false;
		standStill(300);
		assert.match(String(await guard.refusal(OLD)), /does not answer/);
		source.answers = true;
		await until("it may write", async () => {
			return (await guard.refusal(OLD)) === null;
		});
	});

	test("to a host that was down is refused until the store has answered, and to others it is not", async () => {
		const source = new Source();
		using guard = new WriteGuard(source, {
			freshMs: NEVER_MS,
			pausedMs: NEVER_MS,
		});
		source.answers = false;
		for (const state of ["down", "up"] as const) {
			TOPOLOGY_CHANNELS.databaseHost.publish({ host: OLD, state });
		}
		assert.match(String(await guard.refusal(OLD)), /does not answer/);
		source.stored = topology(2, NEW);
		source.answers = true;
		await until("the newer version is noticed", async () =>
			/Version 2/.test(String(await guard.refusal(OLD))),
		);
		assert.equal(await guard.refusal(NEW), null);
	});
});
