import { readdirSync } from "node:fs";
import { join } from "node:path";
import { SqliteConnection } from "./driver/sqliteConnection.ts";

/**
 * Overwrites what was deleted from the files of a folder and is still in their free
 * space or in their WAL: each file is written anew without it, and its WAL is
 * emptied. Call it as the owner of the folder. For a time it needs as much space
 * again as the largest file has for its WAL, and as much for a temporary file. Returns
 * the files whose WAL could not be emptied, because another process reads them. Throws
 * a StorageFailure, as for a full disk.
 */
export function overwriteFreeSpace(folder: string): readonly string[] {
	const files = readdirSync(folder)
		.filter((name) => /^(?:db|mod|queue|pool)\d+\.sqlite$/.test(name))
		.toSorted();
	return files.filter((host) => {
		using connection = new SqliteConnection(
			{ path: join(folder, host), host, shard: Number(/\d+/.exec(host)?.[0]) },
			"write",
		);
		connection.run({ name: "vacuum", text: "VACUUM" });
		const [checkpoint] = connection.rows<{ readonly busy: number }>(
			{ name: "checkpoint", text: "PRAGMA wal_checkpoint(TRUNCATE)" },
			[],
		);
		return checkpoint?.busy !== 0;
	});
}
