import { readUncachedObjects } from "../../graph/store/readUncached.ts";
import type { Store } from "../../graph/store/store.ts";
import { typeNameOf } from "../../graph/store/typeName.ts";
import type { Id } from "../../id/ids.ts";
import type { JsonObject } from "../../util/json.ts";

/** What an object is deleted with: its parent and its owner. */
export function wholesOf(
	{ model, domain: { visibility } }: Store,
	id: Id,
	data: JsonObject,
): readonly Id[] {
	const { parent, owner } = visibility.keysOf(typeNameOf(model, id) ?? "");
	return [parent, owner].flatMap((key) => {
		const whole = key === null ? null : (data[key] ?? null);
		return typeof whole === "string" ? [whole as Id] : [];
	});
}

/** Those of these objects that are deleted, or have no row. */
export async function goneOf(
	store: Store,
	ids: readonly Id[],
): Promise<ReadonlySet<Id>> {
	const contents = await readUncachedObjects(store, [...new Set(ids)]);
	return new Set(
		ids.filter((id) => {
			const data = contents.get(id) ?? null;
			return data === null || data.active === false;
		}),
	);
}
