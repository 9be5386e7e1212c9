import { LocalCache } from "../../cache/localCache.ts";
import { readThrough, type SharedCache } from "../../cache/sharedCache.ts";
import type { CallOptions } from "../../diagnostics.ts";
import { CorkboardError } from "../../errors.ts";
import { listName } from "../../storage/keys.ts";
import type { KeyResult, ListKey, Storage } from "../../storage/storage.ts";
import type { MaybePromise } from "../../util/maybePromise.ts";
import { decodeHead, encodeHead } from "./headCodec.ts";
import { sharedKey } from "./sharedKey.ts";
import { DEEPEST_HEAD, type Head, type SharedCaches } from "./store.ts";

/** Heads of lists, by `listName`: the cache in the process, in front of Redis, in front of the shards. */
export interface HeadCache {
	readonly local: LocalCache<Head>;
	/** Heads with at least `depth` edges, or all there are. */
	read(
		lists: readonly ListKey[],
		depth: number,
		call?: CallOptions,
	): MaybePromise<readonly KeyResult<Head>[]>;
}

/**
 * How many edges are read for a head: none where only the count is wanted, a few
 * of each of many lists, half a page, or those of a default page, one more to
 * decide whether another page follows, and some that may be hidden. A list read
 * at one depth is replaced when a deeper one is wanted. Deeper heads than the
 * last are not worth their space in Redis.
 */
const HEAD_DEPTHS: readonly number[] = [0, 4, 12, DEEPEST_HEAD];

/** Bytes: two ids as strings, three numbers and an object. */
const EDGE_BYTES = 200;

export function createHeadCache(options: {
	readonly storage: Storage;
	readonly shared: SharedCaches | undefined;
	/** Bytes. */
	readonly maxWeight: number;
	/** How long an entry is cached in the process. Milliseconds. */
	readonly maxAgeMs: number;
	/** Milliseconds. */
	readonly now?: () => number;
	readonly isOverdue?: () => boolean;
}): HeadCache {
	const { storage, shared, ...limits } = options;
	const { isOverdue = () => false } = limits;
	const local = new LocalCache<Head>({
		weigh: ({ edges }) => 200 + edges.length * EDGE_BYTES,
		isBetter: (cached, head) =>
			!head.complete &&
			(cached.complete || cached.edges.length > head.edges.length),
		...limits,
	});

	async function readShared(
		lists: readonly ListKey[],
		limit: number,
		call: CallOptions | undefined,
	): Promise<readonly KeyResult<Head>[]> {
		const isShared =
			shared?.heads != null && limit <= DEEPEST_HEAD && !isOverdue();
		const load = async (missing: readonly number[]) => {
			const results = await storage.scanLists(
				missing.map((index) => ({
					...(lists[index] as ListKey),
					backward: false,
					limit,
				})),
				call,
			);
			return results.map(
				(result): KeyResult<Head> =>
					result instanceof CorkboardError
						? result
						: {
								edges: result.edges,
								list: result.list,
								complete:
									limit > 0
										? result.edges.length < limit
										: result.list.count === 0,
							},
			);
		};
		if (!isShared) return load(lists.map((_, index) => index));
		return readThrough<KeyResult<Head>>(
			shared.heads as SharedCache,
			lists.map(({ mapping, from }) =>
				sharedKey(shared, from, listName(mapping, from)),
			),
			{
				decode: decodeHead,
				encode: (value) =>
					value instanceof CorkboardError ? null : encodeHead(value),
				suffices: (value) =>
					value instanceof CorkboardError || reaches(value, limit),
			},
			load,
			call?.trace,
		);
	}

	return {
		local,
		read(lists, depth, call) {
			const limit = HEAD_DEPTHS.find((edges) => edges >= depth) ?? depth;
			return local.read<CorkboardError>(
				lists.map(({ mapping, from }) => listName(mapping, from)),
				(missing) =>
					readShared(
						missing.map((index) => lists[index] as ListKey),
						limit,
						call,
					),
				{
					suffices: (head) => reaches(head, depth),
					depth: limit,
					trace: call?.trace,
				},
			);
		},
	};
}

function reaches(head: Head, depth: number): boolean {
	return head.complete || head.edges.length >= depth;
}
