import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after } from "node:test";
import { openSqliteStorage } from "../../src/storage/sqlite/sqliteStorage.ts";
import type { OpenedStorage } from "../../src/storage/storage.ts";
import type { OpenStorage } from "./storageModel.ts";
import { MODEL, topologyOn } from "./storageModel.ts";
import { temporaryFolder } from "./temporaryFolder.ts";

/** What a shard's file holds that is none. */
export const NOT_SQLITE = "This is no database. ".repeat(500);

export function openIn(
	folder: string,
	readOnly = false,
): Promise<OpenedStorage> {
	const topology = topologyOn(`sqlite:${folder}`);
	return openSqliteStorage({ model: MODEL, topology, readOnly });
}

/** Folders are copies of one that was made once: eight files take eight copies, not some dozens of fsyncs. */
export async function sqliteForSuite(): Promise<OpenStorage> {
	const template = temporaryFolder();
	after(() => template[Symbol.dispose]());
	{
		await using made = await openIn(template.path);
		await made.admin.createTables();
	}
	return async ({ dead = [], full = [] } = {}) => {
		const folder = temporaryFolder();
		cpSync(template.path, folder.path, { recursive: true });
		for (const shard of dead) {
			writeFileSync(join(folder.path, `db0000${shard}.sqlite`), NOT_SQLITE);
			writeFileSync(join(folder.path, `mod0000${shard}.sqlite`), NOT_SQLITE);
		}
		for (const shard of full) {
			const file = new DatabaseSync(join(folder.path, `db0000${shard}.sqlite`));
			file
				.prepare("INSERT INTO sqlite_sequence (name, seq) VALUES ('pins', ?)")
				.run(2 ** 36 - 2);
			file.close();
		}
		const storage = await openIn(folder.path);
		return {
			storage,
			async change(shard, sql) {
				using file = new DatabaseSync(
					join(folder.path, `db0000${shard}.sqlite`),
				);
				file.exec(sql);
			},
			async [Symbol.asyncDispose]() {
				await storage[Symbol.asyncDispose]();
				folder[Symbol.dispose]();
			},
		};
	};
}
