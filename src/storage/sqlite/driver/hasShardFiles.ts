import { readdirSync } from "node:fs";

/** Whether a folder holds files of shards. A mistyped folder holds none or does not exist. */
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
