import type { MysqlTransaction } from "../../storage/mysql/driver/commitProtocol.ts";
import type { Row } from "../../storage/mysql/driver/mysql2Connection.ts";
import type { Sql } from "../../storage/mysql/driver/mysqlConnection.ts";
import type { LocalId } from "../jobId.ts";
import {
	type Expired,
	type ExpireOptions,
	type Held,
	type JobChange,
	type JobKey,
	STATE,
} from "../jobStore.ts";
import {
	afterChange,
	afterExpiry,
	type JobRow,
	type JobTransition,
} from "../jobTransitions.ts";
import { firstsOf } from "./acks.ts";
import { type QueueCall, transact } from "./queueCall.ts";
import { byBucket, byClaim, localOf, rowOf } from "./rows.ts";
import {
	deleteKeys,
	expiredClaims,
	insertKeys,
	jobsById,
	lockQueue,
	type QueueTables,
	removeJob,
	renewClaims,
	stillHeld,
	writeStep,
} from "./statements.ts";

/** A statement for each bucket and token, which commits by itself: renewals hold no locks while they wait for others. */
export async function renewAll(
	{ shard, tables, options }: QueueCall,
	claims: readonly Held[],
	claimMs: number,
): Promise<readonly Held[]> {
	const held = new Set<LocalId>();
	for (const some of byClaim(claims)) {
		const until = (await shard.clock.now(shard.number)) + claimMs * 1_000;
		const { affectedRows } = await shard.host.run(
			renewClaims(tables, some, until),
			options,
		);
		if (affectedRows === some.length) {
			for (const { local } of some) held.add(local);
			continue;
		}
		const rows = await shard.host.rows(stillHeld(tables, some), options);
		for (const [local] of rows) held.add(localOf(local));
	}
	return claims.filter(({ local }) => held.has(local));
}

/** Most often there is nothing to do, which a read without locks finds out. */
export async function expireClaims(
	call: QueueCall,
	{ bucket, limit, delayMs }: ExpireOptions,
): Promise<Expired> {
	const { shard, tables, options } = call;
	const some = await shard.host.rows(
		expiredClaims(
			tables,
			bucket,
			await shard.clock.now(shard.number),
			1,
			false,
		),
		options,
	);
	if (some.length === 0) return { again: 0, failed: 0 };
	return transact(call, async (statements, now) => {
		const [, found] = await statements.together([
			lockQueue(tables),
			expiredClaims(tables, bucket, now, limit, true),
		]);
		const rows = (found as readonly Row[]).map(rowOf);
		const steps = rows.map((row) => ({
			row,
			step: afterExpiry(row, delayMs(row.attempts), now),
		}));
		const again = steps.filter(
			({ step }) => step.state === STATE.pending,
		).length;
		const value = { again, failed: rows.length - again };
		if (rows.length === 0) return { value, commit: false };
		return {
			last: [...stepsOf(tables, steps)],
			valueOf: () => value,
			commit: true,
		};
	});
}

export function changeJobs(
	call: QueueCall,
	jobs: readonly JobKey[],
	to: JobChange,
): Promise<number> {
	const { tables } = call;
	if (jobs.length === 0) return Promise.resolve(0);
	return transact(call, async (statements, now) => {
		await statements.rows(lockQueue(tables));
		const rows = await lockJobs(statements, tables, jobs);
		if (to.kind === "remove") {
			const some = rows.filter(({ state }) => state !== STATE.running);
			const pending = some.filter(({ state }) => state === STATE.pending);
			return {
				last: [
					...deleteKeys(tables, pending),
					...some.map((row) => removeJob(tables, row)),
				],
				valueOf: () => some.length,
				commit: true,
			};
		}
		const steps = rows.flatMap((row) => {
			const step = afterChange(row, to, now);
			return step === null ? [] : [{ row, step }];
		});
		return {
			last: [...stepsOf(tables, steps)],
			valueOf: () => steps.length,
			commit: true,
		};
	});
}

/** Reads jobs by their hints, then those that were not there wherever they are. A locked job is being claimed or acknowledged: it is skipped. */
async function lockJobs(
	statements: MysqlTransaction,
	tables: QueueTables,
	jobs: readonly JobKey[],
): Promise<readonly JobRow[]> {
	const hinted = await statements.together(
		byBucket(jobs).map(([bucket, some]) =>
			jobsById(tables, some, { bucket, locked: "free" }),
		),
	);
	const rows = (hinted as readonly (readonly Row[])[]).flat().map(rowOf);
	const found = new Set(rows.map(({ local }) => local));
	const missing = jobs.filter(({ local }) => !found.has(local));
	if (missing.length === 0) return rows;
	const others = await statements.rows(
		jobsById(tables, missing, { locked: "free" }),
	);
	return [...rows, ...others.map(rowOf)];
}

function* stepsOf(
	tables: QueueTables,
	steps: readonly { readonly row: JobRow; readonly step: JobTransition }[],
): Generator<Sql> {
	const keyed = steps.flatMap(({ row, step }) =>
		row.key !== null && step.state === STATE.pending
			? [{ local: row.local, key: row.key }]
			: [],
	);
	const firsts = firstsOf(keyed);
	if (firsts.length > 0) yield insertKeys(tables, firsts);
	for (const { row, step } of steps) yield writeStep(tables, row, step, {});
}
