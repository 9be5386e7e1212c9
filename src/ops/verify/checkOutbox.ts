import { deliver } from "../../graph/outbox/deliver.ts";
import type { Store } from "../../graph/store/store.ts";
import { WritePipeline } from "../../graph/write/pipeline.ts";
import type { Damage } from "./damage.ts";
import type { StuckEntry } from "./pendingEntries.ts";
import { databaseName } from "./places.ts";

/** Entries that no delivery pass can deliver. They are never deleted: nothing else says what all they promised. */
export function checkOutbox(
	store: Store,
	stuck: readonly StuckEntry[],
): readonly Damage[] {
	return stuck.map(({ row, unreadable }): Damage => {
		const { shard, local, writtenAt, attempts, nextAttemptAt } = row;
		const damage = {
			subject: `entry ${shard} ${local}`,
			table: `${databaseName("db", shard)}.outbox`,
			row: `local_id ${local}`,
			evidence: "",
			topics: [],
		};
		const name = `entry ${local} of shard ${shard}`;
		if (unreadable !== null) {
			return {
				...damage,
				kind: "unreadable entry",
				description: `${name}: ${unreadable}`,
			};
		}
		return {
			...damage,
			kind: "entry never due",
			description: `${name}: written at ${writtenAt}, next attempt at ${nextAttemptAt} after ${attempts} attempts`,
			repair: () => deliver(new WritePipeline(store), [row]),
		};
	});
}
