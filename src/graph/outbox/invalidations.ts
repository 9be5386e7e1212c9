import type { ChangedKeys } from "../../freshness/changedKeys.ts";
import type { Id } from "../../id/ids.ts";
import type { OutboxRow } from "../../storage/rows.ts";
import { type EntryInvalidations, mappingNamed } from "./entry.ts";
import { invalidationFailed, type Writer } from "./writer.ts";

/** The part of an outbox entry that names what its transaction changed. */
export function invalidationsOf({
	objects = [],
	lists = [],
}: ChangedKeys): EntryInvalidations {
	return {
		objects,
		lists: lists.map(({ mapping, from }) => ({ mapping: mapping.name, from })),
	};
}

/** The entry without that part. */
export function withoutInvalidations({ entry, ...key }: OutboxRow): OutboxRow {
	const { invalidations: _, ...parts } = entry;
	return { ...key, entry: parts };
}

/** One object or one list's head to delete from caches. */
export type Invalidation =
	| { readonly object: Id }
	| { readonly list: EntryInvalidations["lists"][number] };

/** Delete what entries name from all caches, with one call for each host of a shared cache. An error for each that a cache did not acknowledge. */
export async function deliverInvalidations(
	writer: Writer,
	invalidations: readonly Invalidation[],
): Promise<ReadonlyMap<Invalidation, unknown>> {
	const failures = new Map<Invalidation, unknown>();
	const { store } = writer;
	const byHost = Map.groupBy(
		invalidations.map((invalidation) => ({
			invalidation,
			key: keyOf(writer, invalidation),
		})),
		({ key }) => store.invalidator.cacheHostOf(key),
	);
	await Promise.all(
		[...byHost].map(async ([host, some]) => {
			const keys = some.map(({ key }) => key);
			try {
				const acknowledged = await writer.invalidate(
					{
						objects: keys.filter((key) => typeof key === "string"),
						lists: keys.filter((key) => typeof key !== "string"),
					},
					host,
				);
				if (!acknowledged) throw invalidationFailed(host);
			} catch (error) {
				for (const { invalidation } of some) failures.set(invalidation, error);
			}
		}),
	);
	return failures;
}

function keyOf({ store }: Writer, invalidation: Invalidation) {
	if ("object" in invalidation) return invalidation.object;
	const { mapping, from } = invalidation.list;
	return { mapping: mappingNamed(store.model, mapping), from };
}
