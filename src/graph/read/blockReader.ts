import type { CallOptions } from "../../diagnostics.ts";
import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import type { KeyResult } from "../../storage/storage.ts";
import type { BlockMappings } from "../domain.ts";
import type { Store } from "../store/store.ts";
import { createViewerLists, type ViewerLists } from "./viewerLists.ts";

/** Blocks between the viewer and another user. */
export interface BlockStatus {
	/** The viewer blocks the user. */
	readonly blockedByViewer: boolean;
	/** The user blocks the viewer. */
	readonly blocksViewer: boolean;
}

export interface BlockReader extends Pick<ViewerLists, "prefetch"> {
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

/** The viewer's two block lists. */
export function createBlockReader(
	store: Store,
	{ mapping: blocks, inverse: blocked }: BlockMappings,
	viewer: Id,
): BlockReader {
	const lists = createViewerLists(store, [blocks, blocked], viewer);
	return {
		prefetch: lists.prefetch,
		read: lists.read,

		statusOf(user) {
			const blockedByViewer = lists.has(blocks, user);
			const blocksViewer = lists.has(blocked, user);
			if (blockedByViewer instanceof CorkboardError) return blockedByViewer;
			if (blocksViewer instanceof CorkboardError) return blocksViewer;
			if (blockedByViewer === undefined || blocksViewer === undefined) {
				return undefined;
			}
			if (!blockedByViewer && !blocksViewer) return NO_BLOCK;
			return { blockedByViewer, blocksViewer };
		},
	};
}
