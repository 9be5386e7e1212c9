import { setImmediate as nextTurn } from "node:timers/promises";
import { CorkboardError } from "../errors.ts";
import { isActive } from "../graph/read/visibilityPolicy.ts";
import type { Store } from "../graph/store/store.ts";
import type { Change } from "../graph/write/changeObject.ts";
import { createWrites } from "../graph/write/createWrites.ts";
import type { Id } from "../id/ids.ts";
import { databaseOfShard } from "../storage/feedShards.ts";
import { parseJsonObject } from "../storage/storedObject.ts";
import { nearest } from "../util/nearest.ts";
import { Pace } from "../util/pace.ts";

/** A change of the content of all objects of a type, which may be run again at any time. */
export interface Rewrite {
	readonly type: string;
	/**
	 * The new content of an object, by stored keys, with every key that it does not
	 * change; null if the object needs no change, as after an earlier run. It must not
	 * change what it is given. It is called again if somebody else changes the object
	 * meanwhile.
	 */
	readonly change: Change;
}

interface RewriteOptions {
	/** All shards if absent. */
	readonly shards?: readonly number[];
	/** The most objects that are changed in a second; null: as many as can be. */
	readonly rate: number | null;
	/** Whether it only counts. */
	readonly isDryRun: boolean;
	readonly signal: AbortSignal;
	readonly onProgress?: (now: Counts) => void;
	readonly onFailure?: (id: Id, error: CorkboardError) => void;
}

interface Counts {
	/** Objects that were read. */
	readonly objects: number;
	/** How many of them were changed, or would be. */
	readonly changed: number;
}

interface Rewritten extends Counts {
	/** Objects that could not be changed. */
	readonly failed: number;
	/** Tables that were not read to their end, and why. */
	readonly unread: readonly {
		readonly place: string;
		readonly reason: string;
	}[];
	/** The shard at which it was interrupted; null if it was not. */
	readonly interruptedAt: number | null;
}

/**
 * Changes every active object of a type, one shard after the other, beside whatever
 * else is written: each is read and changed under its lock, like by a mutation. Throws
 * BAD_USER_INPUT for a type that is not there.
 */
export async function rewriteObjects(
	store: Store,
	{ type: name, change }: Rewrite,
	options: RewriteOptions,
): Promise<Rewritten> {
	const type = store.model.objects.get(name);
	if (type === undefined) {
		const meant = nearest(name, [...store.model.objects.keys()]);
		throw new CorkboardError(
			"BAD_USER_INPUT",
			`The schema has no type ${name}.${meant ? ` Did you mean ${meant}?` : ""}`,
		);
	}
	const { signal, isDryRun, rate, onProgress, onFailure } = options;
	const writes = createWrites(store);
	const pace = new Pace({
		rowsPerSecond: rate,
		bytesPerSecond: null,
		maxLagSeconds: Number.POSITIVE_INFINITY,
	});
	const unread: { place: string; reason: string }[] = [];
	let [objects, changed, failed] = [0, 0, 0];
	const result = (interruptedAt: number | null): Rewritten => ({
		objects,
		changed,
		failed,
		unread,
		interruptedAt,
	});

	/** Whether the object was changed, or would be. */
	async function rewrite(id: Id): Promise<boolean> {
		let isChanged = false;
		try {
			await writes.modify(id, (data) => {
				const next = isActive({ data }) ? change(data) : null;
				isChanged = next !== null;
				return next;
			});
		} catch (error) {
			// Somebody has deleted it meanwhile.
			if (!(error instanceof CorkboardError)) throw error;
			if (error.code === "NOT_FOUND") return false;
			failed++;
			onFailure?.(id, error);
			return false;
		}
		return isChanged;
	}

	for (const shard of options.shards ?? store.storage.map.shards) {
		if (signal.aborted) return result(shard);
		try {
			for await (const rows of store.storage.walk("objects", shard, name)) {
				for (const { id, data } of rows) {
					const content = data === null ? null : parseJsonObject(data);
					if (content === null || !isActive({ data: content })) continue;
					objects++;
					if (change(content) === null) continue;
					if (!isDryRun) {
						if (!(await waitFor(pace, signal))) return result(shard);
						if (!(await rewrite(id))) continue;
					}
					changed++;
					onProgress?.({ objects, changed });
				}
				onProgress?.({ objects, changed });
				await nextTurn();
				if (signal.aborted) return result(shard);
			}
		} catch (error) {
			if (!(error instanceof CorkboardError)) throw error;
			const place = `${databaseOfShard(shard)}.${type.table}`;
			unread.push({ place, reason: error.message });
		}
	}
	return result(null);
}

/** False if it was interrupted. */
async function waitFor(pace: Pace, signal: AbortSignal): Promise<boolean> {
	try {
		await pace.take(1, 0, signal);
	} catch (error) {
		if (!signal.aborted) throw error;
	}
	return !signal.aborted;
}
