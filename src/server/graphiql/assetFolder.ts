import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "../../..");
/** Ignored by git; the Docker image copies it from its build stage. */
export const BUILD = join(ROOT, "build/graphiql");

/** Lists, inside a version's folder, the files that it was built from. */
export const INPUTS = "inputs.json";

/** GraphiQL bundled into scripts, workers and a style sheet. */
export interface GraphiqlAssets {
	/** The hash of the inputs, as hex digits: the name of this version in URLs and of its folder. */
	readonly hash: string;
	readonly folder: string;
}

/** Null if an input is gone. */
export async function hashOf(
	inputs: readonly string[],
): Promise<string | null> {
	const hash = createHash("sha256");
	try {
		for (const input of inputs) {
			hash.update(input).update(await readFile(join(ROOT, input)));
		}
	} catch {
		return null;
	}
	return hash.digest("hex").slice(0, 16);
}
