import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { archiveUnlisted } from "../../graph/write/archive.ts";
import { unlistedOwner } from "../../graph/write/archiveJobs.ts";
import {
	isPurged,
	PURGE_QUEUE,
	purgeableBefore,
	purgeBatch,
} from "../../graph/write/purge.ts";
import { type EnqueuesJobs, job } from "../../queue/job.ts";
import { objectId } from "./bodies.ts";
import type { GraphContext } from "./graphContext.ts";

/** Between two batches that deleted something: requests come first. */
const PAUSE_MS = 50;
/** Batches that delete nothing, between two checkpoints. */
const CHECKPOINT_EVERY = 100;

/** Plans come once a day. */
const EVERY_MS = 24 * 3_600_000;
/** It reads objects, not only edges, so each day it does so on other shards. */
const UNLISTED_EVERY_DAYS = 7;
/** When the first plan is made: a worker that starts has other things to do. */
const FIRST_MS = 10 * 60_000;
const SPREAD_MS = 3_600_000;
const PLAN_KEY = "plan";
/** Between two tries to enqueue the first one. */
const AGAIN_MS = 60_000;

const body = z.object({
	/** Absent: the job is the plan of a day, which enqueues a job for each shard. */
	shard: z.int().nonnegative().optional(),
	/** Whether to delete, of the lists it comes by, objects whose owner is gone and does not list them. */
	unlisted: z.boolean().optional(),
	/** The mapping and the edge to continue with. */
	mapping: z.string().optional(),
	after: z.object({ from: objectId, to: objectId }).optional(),
});

/**
 * Deletes the rows of edges of one shard that were removed more than a week ago.
 * Once a week it also deletes what closed accounts left behind that only others
 * list: their comments. An index of comments by author would cost each comment a
 * write, for something that happens to few.
 */
export const purgeEdges = job({
	queue: PURGE_QUEUE,
	body,
	attempts: 10,
	maxRunMs: 24 * 3_600_000,
	async run({ body, signal, checkpoint }, context: GraphContext) {
		const { store } = context;
		const { shard, unlisted = false } = body;
		if (shard === undefined) {
			await plan(context);
			return;
		}
		const before = await purgeableBefore(store.storage);
		const mappings = [...store.model.mappings.values()].filter(isPurged);
		const first = mappings.findIndex(({ name }) => name === body.mapping);
		let after = first < 0 ? null : (body.after ?? null);
		let total = 0;
		for (const mapping of mappings.slice(Math.max(0, first))) {
			const owner = unlisted ? unlistedOwner(store, mapping) : null;
			for (let batches = 1; ; batches++) {
				signal.throwIfAborted();
				const { next, purged, listed } = await purgeBatch(
					store,
					shard,
					mapping,
					after,
					before,
				);
				const archived =
					owner === null ? 0 : await archiveUnlisted(store, owner, listed);
				after = next;
				total += purged + archived;
				if (next === null) break;
				const isIdle = purged + archived === 0;
				if (!isIdle) await sleep(PAUSE_MS, undefined, { signal });
				if (isIdle && batches % CHECKPOINT_EVERY !== 0) continue;
				await checkpoint({
					body: { shard, unlisted, mapping: mapping.name, after: next },
					note: `${total} deleted`,
				});
			}
		}
	},
});

/**
 * Enqueues a job for each shard, spread over an hour, and the next plan. The keys
 * make repeating harmless: a shard or plan that is pending already is not enqueued again.
 */
async function plan({ store, jobs }: GraphContext): Promise<void> {
	const { shards } = store.storage.map;
	const day = Math.floor(Date.now() / EVERY_MS);
	await jobs.enqueueAll(
		purgeEdges,
		shards.map((shard, at) => ({
			body: { shard, unlisted: (day + at) % UNLISTED_EVERY_DAYS === 0 },
			key: `shard ${shard}`,
			delayMs: Math.round((at / shards.length) * SPREAD_MS),
			priority: 3,
		})),
	);
	await planPurge(jobs, EVERY_MS);
}

/** Enqueues the first plan, as each worker does when it starts. Tries again while the queue does not answer. Never rejects. */
export async function startPurging(
	jobs: EnqueuesJobs,
	signal: AbortSignal,
): Promise<void> {
	while (!signal.aborted) {
		try {
			await planPurge(jobs);
			return;
		} catch {
			// Its worker reports shards that do not answer.
		}
		await sleep(AGAIN_MS, undefined, { signal, ref: false }).catch(() => {});
	}
}

/** Enqueues the next plan, unless one is pending. */
async function planPurge(
	jobs: EnqueuesJobs,
	delayMs = FIRST_MS,
): Promise<void> {
	await jobs.enqueueAll(purgeEdges, [
		{ body: {}, key: PLAN_KEY, delayMs, priority: 3 },
	]);
}
