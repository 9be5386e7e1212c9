import { LocalCache } from "../../cache/localCache.ts";
import { readThrough } from "../../cache/sharedCache.ts";
import type { CallOptions } from "../../diagnostics.ts";
import { asCorkboardError, CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import type { Model } from "../../model/types.ts";
import type { KeyResult, Storage } from "../../storage/storage.ts";
import { parseStoredObject } from "../../storage/storedObject.ts";
import { andThen, type MaybePromise } from "../../util/maybePromise.ts";
import type { Node } from "../types.ts";
import { sharedKey } from "./sharedKey.ts";
import { type SharedCaches, typeNameOf } from "./store.ts";

/** Objects by id: the cache in the process, in front of memcached, in front of the shards. */
export interface ObjectCache {
	readonly local: LocalCache<CachedObject>;
	read(
		ids: readonly Id[],
		call?: CallOptions,
	): MaybePromise<readonly KeyResult<Node | null>[]>;
}

export interface CachedObject {
	/** Null for an object that does not exist. */
	readonly node: Node | null;
	/** Bytes, approximately. */
	readonly weight: number;
}

export function createObjectCache(options: {
	readonly model: Model;
	readonly storage: Storage;
	readonly shared: SharedCaches | undefined;
	/** Bytes. */
	readonly maxWeight: number;
	/** How long an entry is cached in the process. Milliseconds. */
	readonly maxAgeMs: number;
	/** Milliseconds. */
	readonly now?: () => number;
	readonly isOverdue?: () => boolean;
}): ObjectCache {
	const { model, storage, shared, ...limits } = options;
	const { isOverdue = () => false } = limits;
	const local = new LocalCache<CachedObject>({
		weigh: ({ weight }) => weight,
		...limits,
	});

	async function readShared(
		ids: readonly Id[],
		call: CallOptions | undefined,
	): Promise<readonly KeyResult<CachedObject>[]> {
		const load = async (missing: readonly number[]) => {
			const missingIds = missing.map((index) => ids[index] as Id);
			const texts = await storage.readObjects(missingIds, call);
			return texts.map((text, at) =>
				text instanceof CorkboardError
					? text
					: parseObject(model, missingIds[at] as Id, text ?? ABSENT),
			);
		};
		if (shared?.objects == null || isOverdue())
			return load(ids.map((_, index) => index));
		return readThrough<KeyResult<ParsedObject>>(
			shared.objects,
			ids.map((id) => sharedKey(shared, id, id)),
			{
				decode(text, index) {
					const parsed = parseObject(model, ids[index] as Id, text);
					return parsed instanceof CorkboardError ? null : parsed;
				},
				encode: (value) =>
					value instanceof CorkboardError ? null : value.text,
			},
			load,
			call?.trace,
		);
	}

	return {
		local,
		read(ids, call) {
			const results = local.read<CorkboardError>(
				ids,
				async (missing) => {
					const read = await readShared(
						missing.map((index) => ids[index] as Id),
						call,
					);
					// Without the text, which only the shared cache keeps.
					return read.map((result) =>
						result instanceof CorkboardError
							? result
							: { node: result.node, weight: result.weight },
					);
				},
				{ trace: call?.trace },
			);
			return andThen(results, (objects) =>
				objects.map((result) =>
					result instanceof CorkboardError ? result : result.node,
				),
			);
		},
	};
}

interface ParsedObject extends CachedObject {
	readonly text: string;
}

/** The shared cache's text for an object that does not exist. */
const ABSENT = "null";

function parseObject(
	model: Model,
	id: Id,
	text: string,
): ParsedObject | CorkboardError {
	if (text === ABSENT) return { node: null, weight: 0, text };
	try {
		const data = parseStoredObject(id, text);
		const type = typeNameOf(model, id) as string;
		return { node: { id, type, data }, weight: text.length * 3, text };
	} catch (thrown) {
		return asCorkboardError(thrown);
	}
}
