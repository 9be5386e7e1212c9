import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const SERVICES = "test/services/";
const IMPORT =
	/\bfrom\s+"(\.{1,2}\/[^"]+\.ts)"|\bimport\("(\.{1,2}\/[^"]+\.ts)"\)/g;

/**
 * Whether a test file starts MySQL, MariaDB, Redis or memcached: whether its
 * imports lead to `test/services/`. The others are what `npm test -- embedded`
 * runs.
 */
export function needsServers(root: string, file: string): boolean {
	const seen = new Set<string>();
	const waiting = [file];
	for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
		if (next.startsWith(SERVICES)) return true;
		if (seen.has(next) || !/^(?:test|bench)\//.test(next)) continue;
		seen.add(next);
		const path = join(root, next);
		if (!existsSync(path)) continue;
		for (const [, one, other] of readFileSync(path, "utf8").matchAll(IMPORT)) {
			const target = join(dirname(path), (one ?? other) as string);
			waiting.push(relative(root, target).replaceAll("\\", "/"));
		}
	}
	return false;
}
