import { setImmediate as nextTurn } from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import type { Model } from "../../model/types.ts";
import { rewriteLog } from "../../storage/sqlite/changeLog.ts";
import { overwriteFreeSpace } from "../../storage/sqlite/overwriteFreeSpace.ts";
import { mapShardFiles } from "../../storage/sqlite/shards.ts";
import { StorageFailure } from "../../storage/storageFailure.ts";
import { parseJsonObject } from "../../storage/storedObject.ts";
import { dataFoldersOf } from "../../topology/ranges.ts";
import type { Topology } from "../../topology/types.ts";
import { isErased } from "./eraseUser.ts";

/** What says whether an object was there for anybody, and nothing else. */
const KEPT: readonly string[] = ["active", "state"];

/**
 * Takes what was erased out of the files of embedded folders: out of the logs of
 * changes, where only that the objects were there and were deleted stays, and out
 * of the free space of all files. Nothing to do if the graph is on servers. Throws
 * UNAVAILABLE if it could not be done, as while another process reads a file:
 * it can be run again.
 */
export async function overwriteErased(
	model: Model,
	topology: Topology,
): Promise<void> {
	const folders = dataFoldersOf(topology);
	if (folders.size === 0) return;
	const isGone = (text: string) => {
		const data = parseJsonObject(text);
		return data !== null && isErased(data);
	};
	try {
		const files = mapShardFiles(topology.shards, "db", false);
		for (const each of files.values()) {
			using file = each;
			const { writer } = file;
			writer.transaction(() =>
				rewriteLog(writer, model, isGone, withoutContent),
			);
			await nextTurn();
		}
		const busy = [...folders].flatMap((folder) => overwriteFreeSpace(folder));
		if (busy.length > 0) {
			throw new CorkboardError(
				"UNAVAILABLE",
				`Another process reads ${busy.join(", ")}, so the free space there is not overwritten yet. End it, and run this again.`,
			);
		}
	} catch (thrown) {
		if (!(thrown instanceof StorageFailure)) throw thrown;
		throw new CorkboardError(
			"UNAVAILABLE",
			`${thrown.message}. The free space of the files is not overwritten yet: run this again.`,
			{ cause: thrown },
		);
	}
}

/** What is erased already stays as it is: a follower sees by the difference that it was erased. */
function withoutContent(text: string): string {
	const data = parseJsonObject(text);
	// Damaged, so for nobody.
	if (data === null) return JSON.stringify({ active: false, erased: true });
	if (isErased(data)) return text;
	const kept = Object.entries(data).filter(([key]) => KEPT.includes(key));
	return JSON.stringify({ ...Object.fromEntries(kept), erased: true });
}
