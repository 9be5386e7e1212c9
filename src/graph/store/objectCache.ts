import { LocalCache, type Moment } from "../../cache/localCache.ts";
import { readThrough } from "../../cache/sharedCache.ts";
import type { CallOptions } from "../../diagnostics.ts";
import { asCorkboardError, CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import type { Model } from "../../model/types.ts";
import type { KeyResult, RelatedKey, Storage } from "../../storage/storage.ts";
import { parseStoredObject } from "../../storage/storedObject.ts";
import { andThen, type MaybePromise } from "../../util/maybePromise.ts";
import type { Visibility } from "../domain.ts";
import type { FoundNode, Node } from "../types.ts";
import { CachedObject } from "./cachedObject.ts";
import { sharedObjectKey } from "./sharedKey.ts";
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
	/** Calls `found` with objects that were read besides: where nothing is cached, few objects come with their parents and owners. */
	read(
		ids: readonly Id[],
		call?: CallOptions,
		found?: FoundNode,
	): MaybePromise<readonly KeyResult<Node | null>[]>;
	/** What a read of an object's text beside something else is. */
	parse(id: Id, text: string): KeyResult<Node>;
}

/**
 * Parents and owners are joined to so many objects at most: one object alone
 * would need a second statement for them, while many mostly share theirs.
 */
const MOST_WITH_RELATED = 4;

export function createObjectCache(options: {
	readonly model: Model;
	readonly visibility: Pick<Visibility, "factsOf" | "keysOf">;
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
	const isUnkept = limits.maxWeight === 0;
	const local = new LocalCache<CachedObject>({
		isKept: ({ node }) => node !== null,
		...limits,
	});
	const partition = local.partition("");
	const toCached = (id: Id, text: string | null): KeyResult<CachedObject> => {
		if (text === null) return new CachedObject(null, null, "");
		const node = parseNode(model, id, text);
		if (node instanceof CorkboardError) return node;
		// Only who finds it in the process asks for them.
		const facts = isUnkept ? null : visibility.factsOf(node);
		return new CachedObject(node, facts, text);
	};

	async function readShared(
		ids: readonly Id[],
		call: CallOptions | undefined,
	): Promise<readonly KeyResult<CachedObject>[]> {
		if (shared?.objects == null || isOverdue()) {
			const texts = await storage.readObjects(ids, call);
			return texts.map((text, at) =>
				text instanceof CorkboardError ? text : toCached(ids[at] as Id, text),
			);
		}
		/** What was loaded, for the shared cache. */
		const loaded = new Map<number, string | null>();
		return readThrough<KeyResult<CachedObject>>(
			shared.objects,
			ids.map((id) => sharedObjectKey(shared, id)),
			{
				decode(text, index) {
					const object = toCached(ids[index] as Id, text);
					return object instanceof CorkboardError ? null : object;
				},
				encode: (value, index) =>
					value instanceof CorkboardError ? undefined : loaded.get(index),
			},
			async (missing) => {
				const texts = await storage.readObjects(
					missing.map((index) => ids[index] as Id),
					call,
				);
				return texts.map((text, at) => {
					if (text instanceof CorkboardError) return text;
					const index = missing[at] as number;
					loaded.set(index, text);
					return toCached(ids[index] as Id, text);
				});
			},
			call?.trace,
		);
	}

	const isDirect = isUnkept && shared?.objects == null;
	const relatedKeys = isDirect ? relatedKeysOf(model, visibility) : null;
	const relatedOf = (type: number) => relatedKeys?.get(type) ?? [];

	/** Where no cache has anything. */
	async function readDirectly(
		ids: readonly Id[],
		call: CallOptions | undefined,
		found: FoundNode | undefined,
	): Promise<readonly KeyResult<Node | null>[]> {
		call?.trace?.cache("process", 0, ids.length);
		const related =
			found === undefined || ids.length > MOST_WITH_RELATED
				? undefined
				: {
						of: relatedOf,
						found: (id: Id, text: string) =>
							found(id, parseNode(model, id, text)),
					};
		const texts = await storage.readObjects(ids, call, related);
		return texts.map((text, at) =>
			typeof text === "string" ? parseNode(model, ids[at] as Id, text) : text,
		);
	}

	return {
		local,
		cached: (id, moment) => local.get(partition, id, moment),
		invalidate: (id) => local.invalidate(partition, id),
		parse: (id, text) => parseNode(model, id, text),
		read(ids, call, found) {
			if (isDirect) return readDirectly(ids, call, found);
			const results = local.read<CorkboardError>(
				ids.map((key) => ({ partition, key })),
				(missing, shared) =>
					readShared(
						missing.length === ids.length
							? ids
							: missing.map((index) => ids[index] as Id),
						shared,
					),
				{ call },
			);
			return andThen(results, (objects) =>
				objects.map((result) =>
					result instanceof CorkboardError ? result : result.node,
				),
			);
		},
	};
}

/** By type number: the references that decide who may see objects of the type. */
function relatedKeysOf(
	model: Model,
	visibility: Pick<Visibility, "keysOf">,
): ReadonlyMap<number, readonly RelatedKey[]> {
	const related = new Map<number, readonly RelatedKey[]>();
	for (const { name, number, references } of model.objects.values()) {
		const { parent, owner } = visibility.keysOf(name);
		const keys = references.flatMap(({ key, target }): RelatedKey[] => {
			const type = model.objects.get(target);
			return type !== undefined && (key === parent || key === owner)
				? [{ key, type }]
				: [];
		});
		related.set(number, keys);
	}
	return related;
}

function parseNode(model: Model, id: Id, text: string): KeyResult<Node> {
	try {
		const data = parseStoredObject(id, text);
		const type = typeNameOf(model, id) as string;
		return { id, type, data, leaves: null };
	} catch (thrown) {
		return asCorkboardError(thrown);
	}
}
