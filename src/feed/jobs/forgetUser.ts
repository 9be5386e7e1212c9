import type { Store } from "../../graph/store/store.ts";
import { typeNameOf } from "../../graph/store/typeName.ts";
import { isGone } from "../../graph/write/archive.ts";
import type { Id } from "../../id/ids.ts";
import type { FeedWork } from "./feedContext.ts";

/** Deletes the pool and the visits of a user who is gone; does nothing for another object, or for an account that was opened again. */
export async function forgetUser(
	store: Store,
	{ model, pools }: Pick<FeedWork, "model" | "pools">,
	id: Id,
): Promise<void> {
	if (typeNameOf(store.model, id) !== model.user) return;
	if (await isGone(store, id)) await pools.forget(id);
}
