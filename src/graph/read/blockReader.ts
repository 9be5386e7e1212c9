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
import type { Head, Store } from "../store/store.ts";

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
	/** By user. An error if a status could not be read: then nothing of that user is visible. */
	readStatus(
		users: readonly Id[],
		call: CallOptions | undefined,
	): Promise<ReadonlyMap<Id, KeyResult<BlockStatus>>>;
}

const NO_BLOCK: BlockStatus = { blockedByViewer: false, blocksViewer: false };

/** For requests without a viewer. */
export const NO_BLOCKS: BlockReader = {
	prefetch() {},
	async readStatus(users) {
		return new Map(users.map((user) => [user, NO_BLOCK]));
	},
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
	let reading: Promise<readonly KeyResult<BlockList>[]> | undefined;

	function prefetch(call: CallOptions | undefined): void {
		if (blockLists !== undefined || reading !== undefined) return;
		const cached = lists.map((list) => store.cachedHead(list));
		if (cached.every((head) => head !== undefined)) {
			blockLists = cached.map((head, at) => toBlockList(head, lists[at]));
			return;
		}
		reading = store
			.readHeads(lists, 1, call)
			.then(
				(results) =>
					(blockLists = results.map((result, at) =>
						result instanceof CorkboardError
							? result
							: toBlockList(result, lists[at]),
					)),
			);
		// `readStatus` awaits it and rejects.
		reading.catch(() => {});
	}

	return {
		prefetch,

		async readStatus(users, call) {
			prefetch(call);
			const known: BlockList[] = [];
			for (const result of blockLists ?? (await reading) ?? []) {
				if (result instanceof CorkboardError) {
					return new Map(users.map((user) => [user, result]));
				}
				known.push(result);
			}
			const unknown = known.flatMap((list) =>
				list.complete
					? []
					: users
							.filter((user) => !list.holds.has(user))
							.map((user) => ({ list, user })),
			);
			const edges =
				unknown.length === 0
					? []
					: await store.storage.readEdges(
							unknown.map(({ list, user }) => ({
								mapping: list.mapping,
								from: viewer,
								to: user,
							})),
							call,
						);
			const errors = new Map<Id, CorkboardError>();
			for (const [at, { list, user }] of unknown.entries()) {
				const edge = edges[at];
				if (edge instanceof CorkboardError) errors.set(user, edge);
				else list.holds.set(user, edge?.state === PRESENT);
			}
			const isOn = ({ name }: Mapping, user: Id) =>
				known.some(
					({ mapping, holds }) =>
						mapping.name === name && holds.get(user) === true,
				);
			return new Map(
				users.map((user) => [
					user,
					errors.get(user) ?? {
						blockedByViewer: isOn(blocks, user),
						blocksViewer: isOn(blocked, user),
					},
				]),
			);
		},
	};
}

interface BlockList {
	readonly mapping: Mapping;
	readonly complete: boolean;
	/** Whether a user is on the list, as far as is known. */
	readonly holds: Map<Id, boolean>;
}

function toBlockList(head: Head, list: ListKey | undefined): BlockList {
	return {
		mapping: (list as ListKey).mapping,
		complete: head.complete,
		holds: new Map(head.edges.map(({ to }) => [to, true])),
	};
}
