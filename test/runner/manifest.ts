import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What has to be there for a green run to mean anything: node's own runner is content with nothing. */
export interface Manifest {
	/** Fewer tests than this is a failure. */
	readonly minimum: number;
	readonly files: readonly string[];
	/** Of these, those to start first. */
	readonly slowest: readonly string[];
}

const MANIFEST = "test/manifest.json";

export function testFiles(root: string): readonly string[] {
	return globSync("test/**/*.test.ts", { cwd: root })
		.map((file) => file.replaceAll("\\", "/"))
		.sort();
}

export function readManifest(root: string): Manifest {
	return JSON.parse(readFileSync(join(root, MANIFEST), "utf8")) as Manifest;
}

export function writeManifest(root: string, manifest: Manifest): void {
	const text = JSON.stringify(manifest, null, "\t");
	writeFileSync(join(root, MANIFEST), `${text}\n`);
}

/** How the files found differ from those listed, and the tests that ran from those expected. */
export function manifestFaults(
	manifest: Manifest,
	found: readonly string[],
	ran: number,
): readonly string[] {
	const missing = manifest.files.filter((file) => !found.includes(file));
	const unlisted = found.filter((file) => !manifest.files.includes(file));
	return [
		...missing.map((file) => `${file} is in ${MANIFEST} but missing`),
		...(unlisted.length > 0
			? [
					`not in ${MANIFEST}, so add to its "files", and their tests to its "minimum" (npm test -- --accept does both): ${unlisted.join(" ")}`,
				]
			: []),
		...(ran < manifest.minimum
			? [
					`expected at least ${manifest.minimum} tests (${MANIFEST}) but got: ${ran}`,
				]
			: []),
	];
}
