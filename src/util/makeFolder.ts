import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder, and those above it, unless it is there. Throws what the file system
 * says. Node's own `recursive` loops for ever in a file system that makes no folders,
 * such as /proc.
 */
export function makeFolder(path: string, mode = 0o777): void {
	try {
		mkdirSync(path, { mode });
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code === "EEXIST" && statSync(path).isDirectory()) return;
		if (code !== "ENOENT" || existsSync(dirname(path))) throw error;
		makeFolder(dirname(path), mode);
		// Or else this ends at the root.
		makeFolder(path, mode);
	}
}
