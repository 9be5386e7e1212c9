import type { Write } from "../../storage/statements/dialect.ts";
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
import {
	expiredClaims,
	heldClaims,
	renewClaims,
} from "../statements/claims.ts";
import type { QueueTables } from "../statements/dialect.ts";
import { findJobs, removeJob, writeTransition } from "../statements/jobs.ts";
import { deleteKeys } from "../statements/keys.ts";
import { lockQueue } from "../statements/queues.ts";
import { byBucket, byClaim } from "../statements/rows.ts";
import { takeKeysBack } from "./acks.ts";
import {
	type Decision,
	type InTransaction,
	type QueueCall,
	read,
	readLocked,
} from "./queueCall.ts";

/** A statement for each bucket and token, which commits by itself: renewals hold no locks while they wait for others. */
export async function renewAll(
	call: QueueCall,
	claims: readonly Held[],
	claimMs: number,
): Promise<readonly Held[]> {
	const { tables } = call;
	const held = new Set<LocalId>();
	for (const some of byClaim(claims)) {
		const until = (await call.now()) + claimMs * 1_000;
		const changed = await call.write(renewClaims(tables, some, until));
		const renewed =
			changed === some.length
				? some.map(({ local }) => local)
				: await call.select(heldClaims(tables, some));
		for (const local of renewed) held.add(local);
	}
	return claims.filter(({ local }) => held.has(local));
}

/** Most often there is nothing to do, which a read without locks finds out. */
export async function expireClaims(
	call: QueueCall,
	{ bucket, limit, delayMs }: ExpireOptions,
): Promise<Expired> {
	const { tables } = call;
	const range =
		bucket === undefined ? {} : { buckets: [bucket, bucket] as const };
	const any = expiredClaims(tables, range, await call.now(), { limit: 1 });
	if ((await call.select(any)).length === 0) return { again: 0, failed: 0 };
	return call.transact(function* (now): InTransaction<Decision<Expired>> {
		const expired = { limit, isLocked: true };
		const rows = yield* readLocked(
			tables,
			expiredClaims(tables, range, now, expired),
		);
		const transitions = rows.map((row) => ({
			row,
			next: afterExpiry(row, delayMs(row.attempts), now),
		}));
		const again = transitions.filter(
			({ next }) => next.state === STATE.pending,
		).length;
		const value = { again, failed: rows.length - again };
		return {
			value,
			last: rows.length === 0 ? null : writeTransitions(tables, transitions),
		};
	});
}

export async function changeJobs(
	call: QueueCall,
	jobs: readonly JobKey[],
	to: JobChange,
): Promise<number> {
	const { tables } = call;
	if (jobs.length === 0) return 0;
	return call.transact(function* (now): InTransaction<Decision<number>> {
		yield* read(tables, lockQueue(tables));
		const rows = yield* lockJobs(tables, jobs);
		if (to.kind === "remove") {
			const some = rows.filter(({ state }) => state !== STATE.running);
			const pending = some.filter(({ state }) => state === STATE.pending);
			return {
				value: some.length,
				last: [
					...deleteKeys(tables, pending),
					...some.map((row) => removeJob(tables, row)),
				],
			};
		}
		const transitions = rows.flatMap((row) => {
			const next = afterChange(row, to, now);
			return next === null ? [] : [{ row, next }];
		});
		return {
			value: transitions.length,
			last: writeTransitions(tables, transitions),
		};
	});
}

/** Reads jobs by their hints, then those that were not there wherever they are. A locked job is being claimed or acknowledged: it is skipped. */
function* lockJobs(
	tables: QueueTables,
	jobs: readonly JobKey[],
): InTransaction<readonly JobRow[]> {
	const hinted = yield* read(
		tables,
		...byBucket(jobs).map(([bucket, some]) =>
			findJobs(tables, some, { bucket, locked: "free" }),
		),
	);
	const rows = hinted.map(({ head }) => head);
	const found = new Set(rows.map(({ local }) => local));
	const missing = jobs.filter(({ local }) => !found.has(local));
	if (missing.length === 0) return rows;
	const others = yield* read(
		tables,
		findJobs(tables, missing, { locked: "free" }),
	);
	return [...rows, ...others.map(({ head }) => head)];
}

function writeTransitions(
	tables: QueueTables,
	transitions: readonly {
		readonly row: JobRow;
		readonly next: JobTransition;
	}[],
): readonly Write[] {
	return [
		...takeKeysBack(tables, transitions),
		...transitions.map(({ row, next }) =>
			writeTransition(tables, row, next, {}),
		),
	];
}
