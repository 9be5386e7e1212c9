import type { CallOptions } from "../../diagnostics.ts";
import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import {
	type KeyResult,
	type ListKey,
	PRESENT,
} from "../../storage/storage.ts";
import type { BlockMappings } from "../domain.ts";
import { DEEPEST_HEAD, type Head } from "../store/head.ts";
import type { Store } from "../store/store.ts";

/** Blocks between the viewer and another user. */
export interface BlockStatus {
	/** The viewer blocks the user. */
	readonly blockedByViewer: boolean;
	/** The user blocks the viewer. */
	readonly blocksViewer: boolean;
}

export interface BlockReader {
	/** Starts to read the block lists, beside whatever is read first. */
	prefetch(call: CallOptions | undefined): void;
	/** An error if it could not be read: then nothing of that user is visible. Undefined if it has to be read. */
	statusOf(user: Id): KeyResult<BlockStatus> | undefined;
	/** Reads what `statusOf` of these users needs. */
	read(users: readonly Id[], call: CallOptions | undefined): Promise<void>;
}

export const NO_BLOCK: BlockStatus = {
	blockedByViewer: false,
	blocksViewer: false,
};

/** For requests without a viewer. */
export const NO_BLOCKS: BlockReader = {
	prefetch() {},
	statusOf: () => NO_BLOCK,
	async read() {},
};

/**
 * The viewer's two block lists, read once a request. They are heads of lists
 * like any other, so mostly cached in the process. Users who are
 * not on a head shorter than its list are read edge by edge, once a level of the
 * plan.
 */
export function createBlockReader(
	store: Store,
	{ mapping: blocks, inverse: blocked }: BlockMappings,
	viewer: Id,
): BlockReader {
	const lists = [blocks, blocked].map((mapping) => ({
		mapping,
		from: viewer,
	}));
	let blockLists: readonly KeyResult<BlockList>[] | undefined;
	let reading: Promise<void> | undefined;

	function setHeads(heads: readonly KeyResult<Head>[]): void {
		blockLists = heads.map((head, at) =>
			head instanceof CorkboardError
				? head
				: { mapping: (lists[at] as ListKey).mapping, head, others: new Map() },
		);
	}

	/** The edges to users that the lists' heads do not decide. */
	function undecided(users: readonly Id[]): UndecidedEdge[] {
		return (blockLists ?? []).flatMap((list) =>
			list instanceof CorkboardError || list.head.complete
				? []
				: users
						.filter((user) => !list.head.has(user) && !list.others.has(user))
						.map((user) => ({ list, user })),
		);
	}

	return {
		prefetch(call) {
			if (blockLists !== undefined || reading !== undefined) return;
			const moment = store.moment();
			const cached = lists.map(({ mapping, from }) =>
				store.cachedHead(mapping, from, moment),
			);
			if (cached.every((head): head is Head => head?.isDeepest === true)) {
				setHeads(cached);
				return;
			}
			reading = Promise.resolve(
				store.readHeads(lists, DEEPEST_HEAD, call),
			).then(setHeads);
			// `read` awaits it and rejects.
			reading.catch(() => {});
		},

		statusOf(user) {
			if (blockLists === undefined) return undefined;
			const [isBlocked, blocksViewer] = blockLists.map((list) => {
				if (list instanceof CorkboardError) return list;
				if (list.head.has(user)) return true;
				return list.head.complete ? false : list.others.get(user);
			});
			if (isBlocked instanceof CorkboardError) return isBlocked;
			if (blocksViewer instanceof CorkboardError) return blocksViewer;
			if (isBlocked === undefined || blocksViewer === undefined) {
				return undefined;
			}
			if (!isBlocked && !blocksViewer) return NO_BLOCK;
			return { blockedByViewer: isBlocked, blocksViewer };
		},

		async read(users, call) {
			await reading;
			const edges = undecided(users);
			if (edges.length === 0) return;
			const results = await store.storage.readEdges(
				edges.map(({ list, user }) => ({
					mapping: list.mapping,
					from: viewer,
					to: user,
				})),
				call,
			);
			for (const [at, { list, user }] of edges.entries()) {
				const edge = results[at];
				list.others.set(
					user,
					edge instanceof CorkboardError ? edge : edge?.state === PRESENT,
				);
			}
		},
	};
}

interface UndecidedEdge {
	readonly list: BlockList;
	readonly user: Id;
}

interface BlockList {
	readonly mapping: Mapping;
	readonly head: Head;
	/** Whether users who are not on the head are on the list, as far as is known. */
	readonly others: Map<Id, KeyResult<boolean>>;
}
