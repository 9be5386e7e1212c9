import { join } from "node:path";
import { CorkboardError } from "../../errors.ts";
import type { HostRange } from "../../topology/types.ts";
import { StorageFailure, toStorageError } from "../storageFailure.ts";
import { ShardFile } from "./driver/shardFile.ts";

const SCHEME = "sqlite:";

export function mapShardFiles(
	ranges: readonly HostRange[],
	prefix: "db" | "mod" | "queue" | "pool",
	readOnly: boolean,
): ReadonlyMap<number, ShardFile> {
	const files = ranges.flatMap((range) => {
		const folder = folderOf(range.primary);
		return shardsIn(range).map((shard) => {
			const host = `${prefix}${String(shard).padStart(5, "0")}.sqlite`;
			const location = {
				path: join(folder, host),
				host,
				shard,
				onModShard: prefix === "mod",
				givesBackSpace: prefix === "queue",
			};
			return [shard, new ShardFile(location, { readOnly })] as const;
		});
	});
	return new Map(files.sort(([a], [b]) => a - b));
}

function shardsIn({ range: [first, last] }: HostRange): readonly number[] {
	return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

function folderOf(primary: string): string {
	const folder = primary.startsWith(SCHEME) ? primary.slice(SCHEME.length) : "";
	if (folder === "") {
		throw new CorkboardError(
			"BAD_TOPOLOGY",
			`The primary of a range must be sqlite:FOLDER, got ${primary}.`,
		);
	}
	return folder;
}

/** Runs `body` on a shard's file and throws what callers of the port expect. */
export function onFile<T>(file: ShardFile, body: (file: ShardFile) => T): T {
	try {
		return body(file);
	} catch (thrown) {
		throw asStorageError(thrown, file);
	}
}

function asStorageError(thrown: unknown, { location }: ShardFile): unknown {
	return thrown instanceof StorageFailure
		? toStorageError(thrown, location.shard)
		: thrown;
}
