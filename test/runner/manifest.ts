import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

export function testFiles(root: string): readonly string[] {
	return globSync("test/**/*.test.ts", { cwd: root })
		.map((file) => file.replaceAll("\\", "/"))
		.sort();
}

/** The files to start first: started last, a slow file would run alone, on one core. */
export function slowestFiles(root: string): readonly string[] {
	const text = readFileSync(join(root, "test/manifest.json"), "utf8");
	return (JSON.parse(text) as { readonly slowest: readonly string[] }).slowest;
}
