import { z } from "zod";
import { GiveUp, job } from "../../queue/job.ts";
import type { DamageSummary } from "../verify/damage.ts";
import { verify } from "../verify/verify.ts";
import type { GraphContext } from "./graphContext.ts";

const numbers = z.array(z.int().nonnegative()).max(4_096);

/**
 * Verifies shards one after another, as `verify` does, and with `repair` repairs
 * what it finds. A job that finds damage that remains fails, and its status says
 * what. It continues with the shard at which it was cut off.
 */
export const verifyShards = job({
	queue: "verifyShards",
	body: z.object({
		modShards: numbers,
		shards: numbers,
		repair: z.boolean(),
		/** What remains damaged in the shards before. */
		found: z.array(z.string()).max(50).optional(),
	}),
	attempts: 10,
	maxRunMs: 24 * 3_600_000,
	async run({ body, signal, checkpoint }, context: GraphContext) {
		const { store, storedTypes } = context;
		const { repair } = body;
		let { modShards, shards, found = [] } = body;
		while (modShards.length + shards.length > 0) {
			// Lookups are repaired before the objects that have their keys.
			const only =
				modShards.length > 0
					? { modShards: modShards.slice(0, 1), shards: [] }
					: { modShards, shards: shards.slice(0, 1) };
			const report = await verify(store, {
				repair,
				only,
				signal,
				...(storedTypes && { types: storedTypes }),
			});
			signal.throwIfAborted();
			const [place] = report.unchecked;
			if (place !== undefined) {
				throw new Error(`${place.place} was not checked: ${place.reason}`);
			}
			modShards = modShards.slice(only.modShards.length);
			shards = shards.slice(only.shards.length);
			found = [...found, ...report.remaining.map(describe)].slice(0, 50);
			const { repaired } = report;
			await checkpoint({
				body: { modShards, shards, repair, found: [...found] },
				note: `${nameOf(only)}: ${repaired} repaired, ${report.remaining.length} kinds of damage remain`,
			});
		}
		if (found.length > 0) throw new GiveUp(found.join("; "));
	},
});

function nameOf(only: {
	readonly modShards: readonly number[];
	readonly shards: readonly number[];
}): string {
	const [mod] = only.modShards;
	return mod === undefined ? `shard ${only.shards[0]}` : `mod shard ${mod}`;
}

function describe({ count, meaning, examples: [example] }: DamageSummary) {
	const where = example === undefined ? "" : ` (${example.description})`;
	return `${count} ${meaning}${where}`.slice(0, 300);
}
