import type { CallOptions } from "../../diagnostics.ts";
import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import { type KeyResult, PRESENT } from "../../storage/storage.ts";
import type { BlockMappings } from "../domain.ts";
import type { Head, Store } from "../store/store.ts";

/** How the viewer and another user stand to each other. */
export interface BlockStatus {
	/** The viewer blocks them. */
	readonly blockedByViewer: boolean;
	/** They block the viewer. */
	readonly blocksViewer: boolean;
}

export interface BlockReader {
	/** Begin to read, if it has to be: beside whatever else is read first. */
	prefetch(call: CallOptions | undefined): void;
	/** By user. An error where it cannot be told: then nothing of theirs is shown. */
	readStatus(
		users: readonly Id[],
		call: CallOptions | undefined,
	): Promise<ReadonlyMap<Id, KeyResult<BlockStatus>>>;
}

const NEITHER: BlockStatus = { blockedByViewer: false, blocksViewer: false };

/** Nobody is blocked, and blocks, who is not known. */
export const NO_BLOCKS: BlockReader = {
	prefetch() {},
	async readStatus(users) {
		return new Map(users.map((user) => [user, NEITHER]));
	},
};

/**
 * The viewer's two block lists, read once a request: heads of lists like any
 * other, so in the process mostly. What a head too short for its list does not
 * say is asked by edge, once a level.
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
	let heads: readonly KeyResult<List>[] | undefined;
	let reading: Promise<readonly KeyResult<List>[]> | undefined;

	function begin(call: CallOptions | undefined): void {
		if (heads !== undefined || reading !== undefined) return;
		const cached = lists.map((list) => store.cachedHead(list));
		if (cached.every((head) => head !== undefined)) {
			heads = cached.map((head, at) => listOf(head, lists[at]?.mapping));
			return;
		}
		reading = store
			.readHeads(lists, 1, call)
			.then(
				(answers) =>
					(heads = answers.map((answer, at) =>
						answer instanceof CorkboardError
							? answer
							: listOf(answer, lists[at]?.mapping),
					)),
			);
		// Whoever asks is told.
		reading.catch(() => {});
	}

	return {
		prefetch: begin,

		async readStatus(users, call) {
			begin(call);
			const known = heads ?? (await reading) ?? [];
			const whole: List[] = [];
			for (const one of known) {
				if (one instanceof CorkboardError) {
					return new Map(users.map((user) => [user, one]));
				}
				whole.push(one);
			}
			const unknown = whole.flatMap((list) =>
				list.complete
					? []
					: users
							.filter((user) => !list.told.has(user))
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
			const failed = new Map<Id, CorkboardError>();
			for (const [at, { list, user }] of unknown.entries()) {
				const edge = edges[at];
				if (edge instanceof CorkboardError) failed.set(user, edge);
				else list.told.set(user, edge?.state === PRESENT);
			}
			const is = ({ name }: Mapping, user: Id) =>
				whole.some(
					({ mapping, told }) =>
						mapping.name === name && told.get(user) === true,
				);
			return new Map(
				users.map((user) => [
					user,
					failed.get(user) ?? {
						blockedByViewer: is(blocks, user),
						blocksViewer: is(blocked, user),
					},
				]),
			);
		},
	};
}

interface List {
	readonly mapping: Mapping;
	readonly complete: boolean;
	/** Whether each user is on it, as far as is known. */
	readonly told: Map<Id, boolean>;
}

function listOf(head: Head, mapping: Mapping | undefined): List {
	return {
		mapping: mapping as Mapping,
		complete: head.complete,
		told: new Map(head.edges.map(({ to }) => [to, true])),
	};
}
