import { type Id, unpackId } from "../id/ids.ts";
import type { Model } from "../model/types.ts";
import type { Pools } from "./pools.ts";

/** Deletes the pool and the visits of a user who is gone; does nothing for another object. */
export async function forgetUser(
	pools: Pools,
	model: Model,
	id: Id,
): Promise<void> {
	const type = model.objectsByNumber.get(unpackId(id).type);
	if (type?.name === "User") await pools.forget(id);
}
