import { join } from "node:path";
import { CorkboardError } from "../../errors.ts";
import type { HostRange } from "../../topology/types.ts";
import type { KeyResult } from "../storage.ts";
import { ShardFile } from "./driver/shardFile.ts";
import { readInGroups } from "./readInGroups.ts";

const SCHEME = "sqlite:";

export function mapShardFiles(
	ranges: readonly HostRange[],
	prefix: "db" | "mod",
	readOnly: boolean,
): ReadonlyMap<number, ShardFile> {
	const files = ranges.flatMap((range) => {
		const folder = folderOf(range.primary);
		return shardsIn(range).map((shard) => {
			const host = `${prefix}${String(shard).padStart(5, "0")}.sqlite`;
			const place = { path: join(folder, host), host, shard };
			return [shard, new ShardFile(place, { readOnly })] as const;
		});
	});
	return new Map(files.sort(([a], [b]) => a - b));
}

export function shardsIn({
	range: [first, last],
}: HostRange): readonly number[] {
	return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

function folderOf(primary: string): string {
	const folder = primary.startsWith(SCHEME) ? primary.slice(SCHEME.length) : "";
	if (folder === "") {
		throw new CorkboardError(
			"BAD_TOPOLOGY",
			`expected a primary like sqlite:FOLDER but got: ${primary}`,
		);
	}
	return folder;
}

/**
 * Each key's answer from its own file, all within one tick. A file that fails
 * is the answer of its own keys and of no others.
 */
export function readByFile<Key, A>(
	keys: readonly Key[],
	fileOf: (key: Key) => ShardFile | undefined,
	absent: (key: Key) => A,
	read: (file: ShardFile, keys: readonly Key[]) => readonly A[],
): readonly KeyResult<A>[] {
	return readInGroups<Key, ShardFile | undefined, KeyResult<A>>(
		keys,
		fileOf,
		(file, some) => {
			if (file === undefined) return some.map(absent);
			try {
				return read(file, some);
			} catch (thrown) {
				if (!(thrown instanceof CorkboardError)) throw thrown;
				return some.map(() => thrown);
			}
		},
	);
}
