import type { Model } from "../../model/types.ts";
import { type Batch, run } from "../statements/batch.ts";
import { changeLookups } from "../statements/lookups.ts";
import type { KeyResult, LookupChange, LookupRow } from "../storage.ts";
import { StorageFailure, toStorageError } from "../storageFailure.ts";
import { MYSQL, statementsOf } from "./dialect.ts";
import type { Host } from "./driver/host.ts";
import type { QueryOptions } from "./driver/queryOptions.ts";
import type { KeyOnShard, Shard } from "./shards.ts";

/** Changes of one host, side by side on each mod shard. What fails there is the result of its keys. */
export async function compareAndSetLookups(
	model: Model,
	host: Host,
	changes: readonly KeyOnShard<LookupChange>[],
	optionsOf: (shard: Shard) => QueryOptions,
): Promise<readonly KeyResult<LookupRow | null>[]> {
	const rows = new Map<LookupChange, KeyResult<LookupRow | null>>();
	await Promise.all(
		[...Map.groupBy(changes, ({ shard }) => shard)].map(
			async ([shard, some]) => {
				const keys = some.map(({ key }) => key);
				try {
					const after = await run(
						changeLookups(MYSQL, model, shard, keys),
						(batch) => runEach(host, batch, optionsOf(shard)),
					);
					for (const [at, key] of keys.entries()) {
						rows.set(key, after[at] ?? null);
					}
				} catch (thrown) {
					if (!(thrown instanceof StorageFailure)) throw thrown;
					const error = toStorageError(thrown, shard.number);
					for (const key of keys) rows.set(key, error);
				}
			},
		),
	);
	return changes.map(({ key }) => rows.get(key) ?? null);
}

/** Each statement commits by itself. */
async function runEach(
	host: Host,
	batch: Batch<Shard>,
	options: QueryOptions,
): Promise<void> {
	for (const { sql, use, reads } of statementsOf(batch)) {
		use(
			reads
				? await host.rows(sql, { ...options, decides: true })
				: await host.run(sql, options),
		);
	}
}
