import { randomBytes } from "node:crypto";
import { type Config, SECRET_BYTES } from "../config/config.ts";
import { CorkboardError } from "../errors.ts";
import { isActive } from "../graph/read/visibilityPolicy.ts";
import type { Id } from "../id/ids.ts";
import type { Corkboard } from "./openCorkboard.ts";
import type { AccessMode } from "./openStore.ts";

export interface FoundObject {
	/**
	 * - `active`: it is there.
	 * - `inactive`: its row is there, but it is deleted, or not yet created.
	 * - `missing`: there is no row.
	 * - `unknown`: its shard could not be read, because of `reason`.
	 */
	readonly state: "active" | "inactive" | "missing" | "unknown";
	readonly reason: string | null;
}

/** Whether there is an object with this id, whoever may see it. It is read from its shard, past every cache. */
export async function findObject(
	id: Id,
	config: Config,
	open: (config: Config, access: AccessMode) => Promise<Corkboard>,
): Promise<FoundObject> {
	// No token is signed, so that any secret will do.
	const secret = config.secret ?? randomBytes(SECRET_BYTES);
	try {
		await using corkboard = await open(
			{ ...config, secret, memcached: [], redis: null },
			"readOnly",
		);
		const [object] = await corkboard.store.readObjects([id]);
		if (object instanceof Error) throw object;
		const node = object?.node ?? null;
		if (node === null) return { state: "missing", reason: null };
		return { state: isActive(node) ? "active" : "inactive", reason: null };
	} catch (error) {
		if (!(error instanceof CorkboardError)) throw error;
		return { state: "unknown", reason: error.message };
	}
}
