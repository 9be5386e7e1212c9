import { z } from "zod";
import { job } from "../../queue/job.ts";
import { recountBatch } from "../verify/recount.ts";
import { objectId } from "./bodies.ts";
import type { GraphContext } from "./graphContext.ts";

/** Counts the lists of one shard, and repairs counts that are wrong. */
export const recount = job({
	queue: "recount",
	body: z.object({
		shard: z.int().nonnegative(),
		/** The mapping and the list to continue with. */
		mapping: z.string().optional(),
		after: objectId.optional(),
	}),
	attempts: 10,
	maxRunMs: 24 * 3_600_000,
	async run(
		{ body, signal, checkpoint },
		{ store }: Pick<GraphContext, "store">,
	) {
		const { shard } = body;
		const mappings = [...store.model.mappings.values()];
		const first = mappings.findIndex(({ name }) => name === body.mapping);
		let after = first < 0 ? null : (body.after ?? null);
		let total = 0;
		for (const mapping of mappings.slice(Math.max(0, first))) {
			do {
				signal.throwIfAborted();
				const batch = await recountBatch(store, shard, mapping, after);
				after = batch.next;
				total += batch.repaired;
				if (after === null) continue;
				await checkpoint({
					body: { shard, mapping: mapping.name, after },
					note: `${total} counts repaired`,
				});
			} while (after !== null);
		}
	},
});
