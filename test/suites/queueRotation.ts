import assert from "node:assert/strict";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { createConnection } from "mysql2/promise";
import {
	QUEUE_CHANNELS,
	type QueueRotation,
} from "../../src/queue/diagnostics.ts";
import { newClaim, newLocalId } from "../../src/queue/jobId.ts";
import { keepOf, rotate } from "../../src/queue/rotation.ts";
import {
	isRefused,
	ROTATION_STEPS,
	type Span,
} from "../../src/queue/rotationStore.ts";
import { DEFAULT_SETTINGS } from "../../src/queue/settings.ts";
import { ask } from "../helpers/mysqlStorage.ts";
import { startProgram } from "../helpers/program.ts";
import {
	AT,
	JOBS,
	openRotationWorld,
	QUEUE,
	type RotationWorld,
} from "../helpers/rotationWorld.ts";
import { until } from "../helpers/until.ts";
import type { Server } from "../services/server.ts";

const CHILD = join(import.meta.dirname, "../queue/rotationChild.ts");

/** Without those of SQLite. */
const STEPS = ROTATION_STEPS.filter(
	(step) => !/finished jobs|pages/.test(step),
);

/** Rotation on a server with partitions: nothing that is to be kept is lost, whatever happens beside it. */
export async function queueRotationSuite(
	name: string,
	server: Server,
): Promise<void> {
	const world = await openRotationWorld(server.url);
	const { store } = world;
	await store.createTables();
	await store.put(0, { name: QUEUE, settings: {}, version: 1 });
	describe(`rotation on ${name}`, () => {
		after(() => world[Symbol.asyncDispose]());

		test("gives back the disk of finished jobs, and keeps the others", async () => {
			const bucket = (await world.hour()) - 50;
			await world.addSpan(bucket);
			const live = await world.fill(
				bucket,
				{
					succeeded: 4_000,
					pending: 3,
					failed: 2,
				},
				2_000,
			);
			const full = await world.fileBytes();
			const shown = await store.diskBytes(AT);
			assert.ok(shown !== null && shown >= full, `${shown} ${full}`);
			await untilRotated(world);
			const after = await world.fileBytes();
			assert.ok(full - after > 8_000_000, `${full} ${after}`);
			assert.deepEqual(await statesOf(world, live), {
				stored: 5,
				once: true,
				out: [],
			});
			await clear(server);
		});

		test("loses no job whose process is killed after any of its statements, and another one goes on", async () => {
			const hour = await world.hour();
			const live: string[] = [];
			// A process each: on the second product only if the first one's statements differ from its own.
			const steps =
				name === "MySQL"
					? STEPS
					: STEPS.filter((step) => /made|exchanged|locked|dropped/.test(step));
			for (const step of steps) {
				for (const back of [42, 41, 40]) await world.addSpan(hour - back);
				for (const back of [42, 40]) {
					const filling = { succeeded: 20, pending: 2, running: 1, failed: 1 };
					live.push(...(await world.fill(hour - back, filling)));
				}
				const hours = Math.max(...(await world.partitions())) - hour + 1;
				const child = startProgram([server.url, step, String(hours)], {
					command: [process.execPath, CHILD],
				});
				const { signal, err } = await child.ended;
				assert.equal(signal, "SIGKILL", `${step}: ${err}`);
				// It begins with what the one before has left.
			}
			// The jobs that run keep their span.
			await ask(server, `UPDATE ${JOBS} SET state = 0 WHERE state = 1`);
			await untilRotated(world);
			assert.deepEqual(await statesOf(world, live), {
				stored: live.length,
				once: true,
				out: [],
			});
			const others = (await world.jobs()).filter(({ state }) => state === 2);
			assert.deepEqual(others, []);
			await clear(server);
		});

		test("keeps a job that is committed after the look; to look and then DROP PARTITION loses it", async () => {
			const bucket = (await world.hour()) - 30;
			for (const way of ["rotation", "drop"] as const) {
				await world.addSpan(bucket);
				await world.fill(bucket, { succeeded: 10 });
				const late = await insertLate(server, bucket);
				// Nothing that is to be kept has been committed.
				const looked = await spanOf(world, bucket);
				assert.equal(looked.pending, 0);
				const tried = untilTried(server);
				const rotated =
					way === "rotation"
						? untilAccepted(async () =>
								store.giveBack(AT, looked, await keepNow()),
							)
						: ask(server, `ALTER TABLE ${JOBS} DROP PARTITION h${bucket}`);
				await tried;
				await late.commit();
				await rotated;
				const { stored } = await statesOf(world, [late.id]);
				assert.equal(stored, way === "rotation" ? 1 : 0, way);
				await clear(server);
			}
		});

		test("drops no empty partition that gets a job before it is locked", async () => {
			const bucket = (await world.hour()) - 59;
			await untilRotated(world);
			await world.addSpan(bucket);
			const late = await insertLate(server, bucket);
			const tried = untilTried(server);
			const dropped = untilAccepted(() => store.dropEmpty(AT));
			await tried;
			await late.commit();
			await dropped;
			assert.equal((await statesOf(world, [late.id])).stored, 1);
			await clear(server);
		});

		test("changes nothing while another session uses the table, and says so", async () => {
			const bucket = (await world.hour()) - 40;
			await world.addSpan(bucket);
			await world.fill(bucket, { succeeded: 5 });
			const dump = await createConnection({ uri: server.url });
			await dump.query("START TRANSACTION WITH CONSISTENT SNAPSHOT");
			await dump.query(`SELECT COUNT(*) FROM ${JOBS}`);
			const stalls: number[] = [];
			const listen = (step: QueueRotation) => {
				if (step.kind === "step" && step.stallMs !== null) {
					stalls.push(step.stallMs);
				}
			};
			QUEUE_CHANNELS.queueRotation.subscribe(listen);
			const looked = await spanOf(world, bucket);
			const outcome = await store.giveBack(AT, looked, await keepNow());
			QUEUE_CHANNELS.queueRotation.unsubscribe(listen);
			assert.match(
				isRefused(outcome) ? outcome.refused : "not refused",
				name === "MySQL" ? /a dump or an open transaction/ : /kept using/,
			);
			// MySQL was asked first; MariaDB's statement did not wait.
			assert.equal(stalls.length, name === "MySQL" ? 0 : 1);
			assert.deepEqual(await world.outTables(), []);
			assert.equal((await world.jobs()).length, 5);
			await dump.query("ROLLBACK");
			dump.destroy();
			await untilRotated(world);
			assert.equal((await world.jobs()).length, 0);
		});

		test("is done by one process at a time", async () => {
			const holder = await createConnection({ uri: server.url });
			await holder.query("DO GET_LOCK('rotate queue00000.work', 10)");
			const outcome = await store.dropEmpty(AT);
			holder.destroy();
			assert.deepEqual(outcome, {
				refused: "another process rotates the queue",
				isUnderWay: true,
			});
		});

		test("applies what a worker says of a job that is swapped out", async () => {
			const bucket = (await world.hour()) - 40;
			for (const back of [42, 40]) await world.addSpan(bucket + 40 - back);
			await world.fill(bucket - 2, { pending: 1 });
			await world.fill(bucket, { pending: 3 });
			const claim = newClaim();
			const { claimed } = await store.ackAndClaim(AT, {
				claim: {
					bucket,
					priority: 1,
					floor: 0,
					limit: 3,
					claim,
					claimMs: 3_600_000,
				},
			});
			assert.equal(claimed.length, 3);
			const hours = Math.max(...(await world.partitions())) - bucket - 39;
			const child = startProgram(
				[server.url, "exchanged partition", String(hours)],
				{ command: [process.execPath, CHILD] },
			);
			const { signal, err } = await child.ended;
			assert.equal(signal, "SIGKILL", err);
			assert.equal((await world.outTables()).length, 1);
			const [first, second, third] = claimed;
			if (!first || !second || !third) throw new TypeError("three jobs");
			const { acked } = await store.ackAndClaim(AT, {
				acks: [
					{ ...first, kind: "succeed" },
					{ ...second, kind: "release", delayMs: 0 },
				],
			});
			assert.deepEqual(acked, ["done", "done"]);
			assert.deepEqual(await store.renew(AT, [third], 60_000), [third]);
			const found = await store.find(AT, claimed);
			assert.deepEqual(
				found.map((job) => job?.state),
				["succeeded", "pending", "running"],
			);
			await untilRotated(world);
			assert.deepEqual(await world.outTables(), []);
			await clear(server);
		});

		test("rounds of a queue are taken once in their time, and count refusals", async () => {
			const round = await store.takeRound(AT, 3_600_000);
			assert.ok(round);
			assert.deepEqual(
				{ ...round, now: 0 },
				{ now: 0, refusals: 0, refusedSince: null, changesAt: 0 },
			);
			assert.equal(await store.takeRound(AT, 3_600_000), null);
			const ended = { ...round, refusals: 2, refusedSince: 5, changesAt: 9 };
			await store.endRound(AT, ended);
			await ask(server, "UPDATE queue00000.rotations SET next_at = 0");
			const next = await store.takeRound(AT, 3_600_000);
			assert.deepEqual({ ...next, now: 0 }, { ...ended, now: 0 });
		});

		async function keepNow() {
			return keepOf(await store.now(0), DEFAULT_SETTINGS);
		}
	});
}

async function spanOf(world: RotationWorld, bucket: number): Promise<Span> {
	const keep = keepOf(await world.store.now(0), DEFAULT_SETTINGS);
	const spans = await world.store.spans(AT, keep);
	const span = spans.find((one) => one.bucket === bucket);
	if (span === undefined) throw new Error(`no span ${bucket}`);
	return span;
}

/** Rounds until nothing is left to do. */
async function untilRotated(world: RotationWorld): Promise<void> {
	await until("a round that leaves nothing to do", async () => {
		const { refused, spans } = await rotate(world.store, AT, DEFAULT_SETTINGS);
		return (
			refused === null &&
			spans.every(({ decision }) => !/give back|finish|move on/.test(decision))
		);
	});
}

/** A round may be refused for a moment: by the session of a process that was just killed, or by the server's own work. */
async function untilAccepted(call: () => Promise<object>): Promise<void> {
	await until("no refusal", async () => !isRefused(await call()));
}

/** Resolves when a statement waits for the table, or a change of it was refused. */
async function untilTried(server: Server): Promise<void> {
	let isRefused = false;
	const listen = (step: QueueRotation) => {
		if (step.kind === "step" && !step.isDone) isRefused = true;
	};
	QUEUE_CHANNELS.queueRotation.subscribe(listen);
	try {
		await until("the table to be waited for", async () => {
			const waiting = await ask(
				server,
				`SELECT 1 FROM information_schema.processlist
					WHERE state LIKE '%metadata lock%'`,
			);
			return isRefused || waiting.length > 0;
		});
	} finally {
		QUEUE_CHANNELS.queueRotation.unsubscribe(listen);
	}
}

/** A client that chose its bucket long ago and has not committed. */
async function insertLate(server: Server, bucket: number) {
	const id = newLocalId();
	const connection = await createConnection({ uri: server.url });
	await connection.query("START TRANSACTION");
	await connection.query(
		`INSERT INTO ${JOBS} VALUES (x'${id}', ${bucket}, 0, 1, 1, 0, 0, 2, 1, NULL, '', 'late')`,
	);
	return {
		id,
		async commit() {
			await connection.query("COMMIT");
			connection.destroy();
		},
	};
}

/** How many of these jobs are stored, whether each is once, and what is still swapped out. */
async function statesOf(world: RotationWorld, ids: readonly string[]) {
	const wanted = new Set(ids);
	const found = (await world.jobs()).filter(({ id }) => wanted.has(id));
	const distinct = new Set(found.map(({ id }) => id));
	return {
		stored: distinct.size,
		once: distinct.size === found.length,
		out: await world.outTables(),
	};
}

async function clear(server: Server): Promise<void> {
	await ask(server, `DELETE FROM ${JOBS}`);
}
