import { z } from "zod";
import { archiveBatch, leavingEdges } from "../../graph/write/archive.ts";
import {
	ARCHIVE_ATTEMPTS,
	ARCHIVE_QUEUE,
} from "../../graph/write/archiveJobs.ts";
import type { Id } from "../../id/ids.ts";
import { job } from "../../queue/job.ts";
import { objectId } from "./bodies.ts";
import type { GraphContext } from "./graphContext.ts";

const body = z.object({
	/** Objects that are gone, those to archive first in front. */
	ids: z.array(objectId).max(1_000),
	/** Where the first one continues. */
	at: z
		.object({
			list: z.string(),
			after: z
				.object({ sequence: z.int().nonnegative(), to: objectId })
				.nullable(),
		})
		.optional(),
});

/** Removes what deleted objects and closed accounts leave behind (src/graph/write/archive.ts). A job that dies continues at its last checkpoint. */
export const archive = job({
	queue: ARCHIVE_QUEUE,
	body,
	attempts: ARCHIVE_ATTEMPTS,
	async run(
		{ body, signal, checkpoint },
		{ store, forget }: Pick<GraphContext, "store" | "forget">,
	) {
		let at = body.at ?? null;
		let ids: readonly Id[] = body.ids;
		if (at === null) {
			for (const id of ids) await forget?.(id);
			// Most objects leave nothing: one read finds out for all.
			ids = await leavingEdges(store, ids);
		}
		while (ids.length > 0) {
			const [id, ...others] = ids as [Id, ...Id[]];
			signal.throwIfAborted();
			const { next, removed } = await archiveBatch(store, id, at);
			at = next;
			if (next === null) ids = others;
			if (removed === 0) continue;
			await checkpoint({
				body: { ids: [...ids], ...(at !== null && { at }) },
				note: `${removed} removed of ${id}`,
			});
		}
	},
});
