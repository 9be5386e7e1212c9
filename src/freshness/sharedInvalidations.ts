import type { SharedCache } from "../cache/sharedCache.ts";
import type { Id } from "../id/ids.ts";
import type { ListKey } from "../storage/rows.ts";
import type { Span, WriteTrace } from "../trace.ts";
import { andThen, isPromise, type MaybePromise } from "../util/maybePromise.ts";
import {
	ACKNOWLEDGED,
	type Acknowledged,
	type ChangedNames,
} from "./changedKeys.ts";
import {
	type DeletedAndPublished,
	DeletesWithPublications,
} from "./deletesWithPublications.ts";
import { InvalidationBatches } from "./invalidationBatches.ts";
import {
	type SharedCaches,
	sharedListKey,
	sharedObjectKey,
} from "./sharedCaches.ts";

/** What a write does in the shared caches: objects in one, heads of lists in another. Without them everything is acknowledged at once. */
export class SharedInvalidations {
	readonly #shared: SharedCaches | undefined;
	readonly #deletes: Batches;
	/** The deletes of heads that go with their publications. */
	readonly #withPublications: DeletesWithPublications | null;

	constructor(shared: SharedCaches | undefined) {
		this.#shared = shared;
		this.#deletes = batchesOf(shared);
		this.#withPublications = shared?.heads
			? new DeletesWithPublications(shared.heads)
			: null;
	}

	/**
	 * Deletes heads and publishes their keys in one message to Redis. Null if that
	 * cannot be: objects are in another server, or lists and channels are in several.
	 */
	deleteAndPublish(
		{ objects = [], lists = [] }: ChangedNames,
		published: readonly string[],
		trace: WriteTrace | undefined,
	): Promise<DeletedAndPublished> | null {
		const shared = this.#shared;
		const heads = shared?.heads ?? null;
		if (heads === null || objects.length > 0 || lists.length === 0) return null;
		const publish = shared?.publishBehindDeletes() ?? null;
		const together = this.#withPublications;
		if (publish === null || together === null) return null;
		const keys = lists.map(({ mapping, from }) =>
			sharedListKey(shared as SharedCaches, mapping, from as Id),
		);
		const span = startCacheSpan(trace, heads, keys.length);
		const sent = together.add(keys, published, publish);
		if (trace === undefined) return sent;
		return sent.then((done) => {
			span?.end(done.isDeleted ? null : NOT_ACKNOWLEDGED);
			trace.cache(heads.layer, keys.length, done.isDeleted);
			return done;
		});
	}

	delete(
		changed: ChangedNames,
		trace: WriteTrace | undefined,
	): Promise<Acknowledged> {
		return this.#inEach(changed, (cache, keys) => {
			const span = startCacheSpan(trace, cache, keys.length);
			const sent = this.#deletes.get(cache)?.add(keys) ?? false;
			if (trace === undefined) return sent;
			return andThen(sent, (isDone) => {
				span?.end(isDone ? null : NOT_ACKNOWLEDGED);
				trace.cache(cache.layer, keys.length, isDone);
				return isDone;
			});
		});
	}

	/** Whether no delete of the keys is unacknowledged, after waiting for that at most so long. */
	untilDeleted(changed: ChangedNames, ms: number): Promise<Acknowledged> {
		return this.#inEach(changed, (cache, keys) => cache.untilDeleted(keys, ms));
	}

	/** The host that holds an object or the head of a list; null without a cache for it. */
	hostOf(key: Id | ListKey): string | null {
		const shared = this.#shared;
		if (shared === undefined) return null;
		if (typeof key === "string") {
			return shared.objects?.hostOf(sharedObjectKey(shared, key)) ?? null;
		}
		const { mapping, from } = key;
		const name = sharedListKey(shared, mapping.name, from);
		return shared.heads?.hostOf(name) ?? null;
	}

	/** The results of one call of each cache that has some of the keys; true for a cache that has none. */
	async #inEach(
		{ objects: ids = [], lists = [] }: ChangedNames,
		send: (
			cache: SharedCache,
			keys: readonly string[],
		) => MaybePromise<boolean>,
	): Promise<Acknowledged> {
		const shared = this.#shared;
		if (shared === undefined) return ACKNOWLEDGED;
		const each = (cache: SharedCache | null, keys: readonly string[]) =>
			cache === null || keys.length === 0 || send(cache, keys);
		// Both are on their way before one is waited for, and none rejects.
		const ofObjects = each(
			shared.objects,
			ids.map((id) => sharedObjectKey(shared, id)),
		);
		const ofLists = each(
			shared.heads,
			lists.map(({ mapping, from }) =>
				sharedListKey(shared, mapping, from as Id),
			),
		);
		return {
			objects: isPromise(ofObjects) ? await ofObjects : ofObjects,
			lists: isPromise(ofLists) ? await ofLists : ofLists,
		};
	}
}

type Batches = ReadonlyMap<SharedCache, InvalidationBatches>;

function batchesOf(shared: SharedCaches | undefined): Batches {
	const caches = [shared?.objects, shared?.heads].filter(
		(cache) => cache !== undefined && cache !== null,
	);
	return new Map(
		caches.map((cache) => [cache, new InvalidationBatches(cache)]),
	);
}

const NOT_ACKNOWLEDGED = "not_acknowledged";

function startCacheSpan(
	trace: WriteTrace | undefined,
	{ layer }: SharedCache,
	keys: number,
): Span | undefined {
	return trace?.span?.start(`${layer} delete`, "client", {
		"db.system.name": layer,
		"db.operation.name": "delete",
		"corkboard.cache.keys": keys,
	});
}
