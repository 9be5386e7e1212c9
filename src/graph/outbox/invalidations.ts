import type { ChangedKeys } from "../store/store.ts";
import { type EntryInvalidations, mappingOf } from "./entry.ts";
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

/** Delete what entries name from all caches. Throws if a shared cache does not acknowledge. */
export async function deliverInvalidations(
	writer: Writer,
	invalidations: readonly EntryInvalidations[],
): Promise<void> {
	if (invalidations.length === 0) return;
	const acknowledged = await writer.invalidate({
		objects: invalidations.flatMap(({ objects }) => objects),
		lists: invalidations.flatMap(({ lists }) =>
			lists.map(({ mapping, from }) => ({
				mapping: mappingOf(writer.store.model, mapping),
				from,
			})),
		),
	});
	if (!acknowledged) throw invalidationFailed();
}
