import { LocalCache, type Moment } from "../../cache/localCache.ts";
import { readThrough } from "../../cache/sharedCache.ts";
import type { CallOptions } from "../../diagnostics.ts";
import { asCorkboardError, CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import type { Model } from "../../model/types.ts";
import type { KeyResult, Storage } from "../../storage/storage.ts";
import { parseStoredObject } from "../../storage/storedObject.ts";
import { andThen, type MaybePromise } from "../../util/maybePromise.ts";
import type { Visibility } from "../domain.ts";
import type { Node } from "../types.ts";
import { CachedObject } from "./cachedObject.ts";
import { sharedKey } from "./sharedKey.ts";
import { type SharedCaches, typeNameOf } from "./store.ts";

/**
 * Objects by id: the cache in the process, in front of memcached, in front of
 * the shards. That an object does not exist is cached nowhere, so the write that
 * creates it has nothing to invalidate, in no cache and in no other process
 * (docs/consistency.md "3. Caches", "New objects").
 */
export interface ObjectCache {
	readonly local: LocalCache<CachedObject>;
	cached(id: Id, moment?: Moment): CachedObject | undefined;
	invalidate(id: Id): void;
	read(
		ids: readonly Id[],
		call?: CallOptions,
	): MaybePromise<readonly KeyResult<Node | null>[]>;
}

export function createObjectCache(options: {
	readonly model: Model;
	readonly visibility: Pick<Visibility, "factsOf">;
	readonly storage: Storage;
	readonly shared: SharedCaches | undefined;
	/** Bytes. */
	readonly maxWeight: number;
	/** How long an entry is cached in the process. Milliseconds. */
	readonly maxAgeMs: number;
	readonly versions?: Uint32Array;
	readonly number?: number;
	/** Milliseconds. */
	readonly now?: () => number;
	readonly isOverdue?: () => boolean;
}): ObjectCache {
	const { model, visibility, storage, shared, ...limits } = options;
	const { isOverdue = () => false } = limits;
	const local = new LocalCache<CachedObject>({
		isKept: ({ node }) => node !== null,
		...limits,
	});
	const partition = local.partition("");
	const toCached = ({ node, text }: ParsedObject) =>
		new CachedObject(node, node && visibility.factsOf(node), text ?? "");

	async function readShared(
		ids: readonly Id[],
		call: CallOptions | undefined,
	): Promise<readonly KeyResult<ParsedObject>[]> {
		const load = async (missing: readonly number[]) => {
			const missingIds = missing.map((index) => ids[index] as Id);
			const texts = await storage.readObjects(missingIds, call);
			return texts.map((text, at) =>
				text instanceof CorkboardError
					? text
					: text === null
						? ABSENT
						: parseObject(model, missingIds[at] as Id, text),
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
					value instanceof CorkboardError ? undefined : value.text,
			},
			load,
			call?.trace,
		);
	}

	return {
		local,
		cached: (id, moment) => local.get(partition, id, moment),
		invalidate: (id) => local.invalidate(partition, id),
		read(ids, call) {
			const results = local.read<CorkboardError>(
				ids.map((key) => ({ partition, key })),
				async (missing) => {
					const read = await readShared(
						missing.map((index) => ids[index] as Id),
						call,
					);
					// Without the text, which only the shared cache keeps.
					return read.map((result) =>
						result instanceof CorkboardError ? result : toCached(result),
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

interface ParsedObject {
	readonly node: Node | null;
	/** For the shared cache; null where there is nothing to cache. */
	readonly text: string | null;
}

/** An object that does not exist. */
const ABSENT: ParsedObject = { node: null, text: null };

function parseObject(
	model: Model,
	id: Id,
	text: string,
): ParsedObject | CorkboardError {
	try {
		const data = parseStoredObject(id, text);
		const type = typeNameOf(model, id) as string;
		return { node: { id, type, data, leaves: null }, text };
	} catch (thrown) {
		return asCorkboardError(thrown);
	}
}
