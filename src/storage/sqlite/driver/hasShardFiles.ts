import { readdirSync } from "node:fs";

/** Whether there is a shard's file in a folder: one whose name was mistyped has none, or is not there. */
export function hasShardFiles(folder: string): boolean {
	try {
		return readdirSync(folder).some((name) =>
			/^(?:db|mod)[0-9]+\.sqlite$/.test(name),
		);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
		throw error;
	}
}
