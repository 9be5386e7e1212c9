import type { LocalCacheOptions } from "../../cache/cachePartition.ts";
import { LocalCache, type Moment } from "../../cache/localCache.ts";
import { readThrough } from "../../cache/readThrough.ts";
import { CorkboardError } from "../../errors.ts";
import { channelOfWord } from "../../freshness/channels.ts";
import {
	type SharedCaches,
	sharedListKey,
} from "../../freshness/sharedCaches.ts";
import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import type { KeyResult, ListKey, ScanResult } from "../../storage/rows.ts";
import type { Storage } from "../../storage/storage.ts";
import type { CallOptions } from "../../trace.ts";
import type { MaybePromise } from "../../util/maybePromise.ts";
import { DEEPEST_HEAD, Head, USUAL_DEPTH } from "./head.ts";

/**
 * How many edges are read for a head: none if only the count is wanted, a few
 * of each of many lists, half a page, `USUAL_DEPTH`, and more for pages behind that
 * and for lists that are wanted whole. A list read at one depth is replaced when a
 * deeper one is wanted.
 */
const HEAD_DEPTHS: readonly number[] = [
	...[0, 4, 12, USUAL_DEPTH, 64, 128, 256, 512, 1_024, DEEPEST_HEAD],
];

/** Heads of lists, by mapping and owner: the cache in the process, in front of Redis, in front of the shards. */
export class HeadCache {
	readonly local: LocalCache<Head>;
	readonly #storage: Storage;
	readonly #shared: SharedCaches | undefined;
	readonly #isOverdue: () => boolean;

	constructor(
		options: {
			readonly storage: Storage;
			readonly shared: SharedCaches | undefined;
		} & LocalCacheOptions<Head>,
	) {
		const { storage, shared, ...limits } = options;
		this.#storage = storage;
		this.#shared = shared;
		this.#isOverdue = limits.isOverdue ?? (() => false);
		this.local = new LocalCache({
			isBetter: (cached, head) =>
				!head.complete && (cached.complete || cached.size > head.size),
			isKept: ({ isStale }) => !isStale,
			unpack: (from, bytes, start, end) =>
				Head.unpacked(from as Id, bytes, start, end),
			channelOf: channelOfWord,
			...limits,
		});
	}

	cached(mapping: Mapping, from: Id, moment?: Moment): Head | undefined {
		return this.local.get(this.local.partition(mapping.name), from, moment);
	}

	/** By the name of the mapping. Nothing is cached of a mapping of another version's model. */
	invalidate(mapping: string, from: string): void {
		const partition = this.local.existingPartition(mapping);
		if (partition) this.local.invalidate(partition, from);
	}

	/** Heads with at least `depth` edges, or all there are. */
	read(
		lists: readonly ListKey[],
		depth: number,
		call?: CallOptions,
	): MaybePromise<readonly KeyResult<Head>[]> {
		const heads = this.#allCached(lists, depth);
		if (heads !== null) {
			call?.trace?.cache("process", heads.length, 0);
			return heads;
		}
		const limit = HEAD_DEPTHS.find((edges) => edges >= depth) ?? depth;
		return this.local.read<CorkboardError>(
			{
				names: lists.map(({ from }) => from),
				partitionOf: (index) =>
					this.local.partition((lists[index] as ListKey).mapping.name),
			},
			this.#loaderOf(lists, limit),
			{
				suffices: (head) => head.reaches(depth),
				depth: limit,
				call,
			},
		);
	}

	/** Mostly all are in the process, and nothing else is made for them. Null if one is not. */
	#allCached(lists: readonly ListKey[], depth: number): Head[] | null {
		const moment = this.local.moment();
		const heads: Head[] = [];
		for (const { mapping, from } of lists) {
			const head = this.cached(mapping, from, moment);
			if (!head?.reaches(depth)) return null;
			heads.push(head);
		}
		return heads;
	}

	/** Reads some of the lists, by their indexes: from the shared cache, and what it does not have from the shards. */
	#loaderOf(all: readonly ListKey[], limit: number) {
		return async (
			indexes: readonly number[],
			call: CallOptions | undefined,
		): Promise<readonly KeyResult<Head>[]> => {
			const shared = this.#shared;
			const lists = indexes.map((index) => all[index] as ListKey);
			const load = async (missing: readonly number[]) => {
				const wanted = missing.map((index) => lists[index] as ListKey);
				const results = await this.#storage.read(
					"lists",
					wanted.map((list) => ({
						...list,
						backward: false,
						limit,
						mayBeStale: limit > 0,
					})),
					call,
				);
				return results.map((result, at) =>
					result instanceof CorkboardError
						? result
						: headOf((wanted[at] as ListKey).from, result, limit),
				);
			};
			if (shared?.heads == null || limit > DEEPEST_HEAD || this.#isOverdue()) {
				return load([...lists.keys()]);
			}
			return readThrough<KeyResult<Head>>(
				shared.heads,
				lists.map(({ mapping, from }) =>
					sharedListKey(shared, mapping.name, from),
				),
				{
					decode: (text, index) =>
						Head.decoded((lists[index] as ListKey).from, text),
					encode: (value) =>
						value instanceof CorkboardError
							? undefined
							: value.isStale
								? null
								: value.encoded(),
					suffices: (value) =>
						value instanceof CorkboardError || value.reaches(limit),
				},
				load,
				call?.trace,
			);
		};
	}
}

function headOf(
	from: Id,
	{ edges, list, isStale }: ScanResult,
	limit: number,
): Head {
	const complete = limit > 0 ? edges.length < limit : list.count === 0;
	const { count, epoch } = list;
	const own = { from, count, epoch, complete };
	const head = Head.of(own, edges);
	head.isStale = isStale === true;
	return head;
}
