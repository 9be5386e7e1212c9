import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createConnection } from "mysql2/promise";
import pinsApp from "../../pins/app.ts";
import { openCorkboard } from "../../src/app/openCorkboard.ts";
import { readConfig } from "../../src/config/config.ts";
import {
	type DeliveryPass,
	OUTBOX_CHANNELS,
} from "../../src/graph/outbox/diagnostics.ts";
import { OutboxWorker } from "../../src/graph/outbox/outboxWorker.ts";
import { WritePipeline } from "../../src/graph/write/pipeline.ts";
import { type Id, packId } from "../../src/id/ids.ts";
import { type PendingEntry, PRESENT } from "../../src/storage/rows.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";
import { type Fleet, openProcess, type Process, startFleet } from "./fleet.ts";

/** More than a page of the outbox worker. */
const TO_DEAD_HOST = 300;
/** The worker leaves younger entries to their writes. Milliseconds. */
const GRACE_MS = 3_000;

describe("outbox entries for a host that does not answer", () => {
	let fleet: Fleet;
	let process: Process;
	before(async () => {
		fleet = await startFleet({ mysql: 2 });
		process = await openProcess(fleet.addresses, {
			limits: { connectMs: 500 },
		});
	});
	after(async () => {
		await process?.[Symbol.asyncDispose]();
		await fleet?.[Symbol.asyncDispose]();
	});

	const pin = (shard: number, local: number): Id =>
		packId({ shard, type: 1, local });

	/** An entry of shard 0 with one edge on another shard. */
	async function enqueue(shard: number, local: number): Promise<void> {
		await process.storage.transact({
			shard: 0,
			decide: () => ({
				result: null,
				outboxEntry: {
					edges: [
						{
							mapping: "repin",
							from: pin(shard, local),
							to: pin(0, local),
							state: PRESENT,
							version: 1,
							sequence: 1,
						},
					],
				},
			}),
		});
	}

	async function outbox(): Promise<readonly PendingEntry[]> {
		const entries: PendingEntry[] = [];
		for await (const page of process.storage.walk("outbox", 0)) {
			entries.push(...page);
		}
		return entries;
	}

	it("hold up no entry for another host, record the reason but no attempt of their own, and are delivered when the host is back", async () => {
		for (let local = 1; local <= TO_DEAD_HOST; local++) await enqueue(2, local);
		await enqueue(1, 1);
		const [dead] = fleet.mysql.slice(1);
		await dead?.kill();
		await sleep(GRACE_MS + 500);

		const passes: DeliveryPass[] = [];
		const note = (pass: unknown) => void passes.push(pass as DeliveryPass);
		OUTBOX_CHANNELS.deliveryPass.subscribe(note);
		await using worker = new OutboxWorker(new WritePipeline(process.store));
		assert.ok(worker);
		try {
			await until("a delivery pass", () => passes.length > 0, 30_000);
			assert.deepEqual(
				[passes[0]?.delivered, passes[0]?.undelivered],
				[1, TO_DEAD_HOST],
			);
			const key = { from: pin(1, 1), to: pin(0, 1) };
			const mapping = process.mapping("repin");
			const [edge] = await process.storage.read("edges", [{ ...key, mapping }]);
			assert.equal((edge as { state: number }).state, PRESENT);

			const entries = await outbox();
			assert.equal(entries.length, TO_DEAD_HOST);
			for (const { attempts, nextAttemptAt, writtenAt, lastError } of entries) {
				assert.equal(attempts, 0, "given back, not attempted in vain");
				assert.ok(nextAttemptAt > writtenAt);
				assert.match(String(lastError), /^UNAVAILABLE( [\w.:]+)+$/);
			}
		} finally {
			OUTBOX_CHANNELS.deliveryPass.unsubscribe(note);
		}
		await dead?.restart();
		await until(
			"all entries to be delivered",
			async () => (await outbox()).length === 0,
			90_000,
		);
	});

	it("do not delay the start", async () => {
		using folder = temporaryFolder();
		const file = join(folder.path, "topology.json");
		writeFileSync(file, JSON.stringify(fleet.addresses.topology));
		const config = readConfig({
			CORKBOARD_TOPOLOGY: file,
			CORKBOARD_SECRET: "of the tests of the outbox 32 bytes or more",
			CORKBOARD_LOG: "silent",
		});
		const startMs = async () => {
			const startedAt = performance.now();
			const corkboard = await openCorkboard(pinsApp, config);
			const ms = performance.now() - startedAt;
			await corkboard[Symbol.asyncDispose]();
			return ms;
		};
		const usualMs = await startMs();
		await enqueue(2, TO_DEAD_HOST + 1);
		// Old enough that no write can be at work on it any more.
		const connection = await createConnection(fleet.mysql[0]?.url ?? "");
		await connection.query(
			"UPDATE corkboard.outbox SET ts = ts - 60000000, next_attempt_at = 0",
		);
		await connection.end();
		const [, silent] = fleet.mysql;
		// It accepts connections and answers nothing: a write that waits for it waits for a deadline.
		silent?.pause();
		try {
			const opening = startMs();
			const first = await Promise.race([
				opening,
				sleep(usualMs + 60_000, undefined, { ref: false }),
			]);
			assert.ok(first !== undefined);
			const deadlineMs = 2_000;
			assert.ok(
				first < usualMs * 3 + deadlineMs,
				`${first} ms, ${usualMs} ms without the entry`,
			);
		} finally {
			silent?.resume();
		}
	});
});
