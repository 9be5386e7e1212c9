import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const SERVICES = "test/services/";
const IMPORT =
	/\b(?:from|import)\s+"(\.{1,2}\/[^"]+\.ts)"|\bimport\("(\.{1,2}\/[^"]+\.ts)"\)/g;
/** What starts a primary with its replica, an ensemble, or a fleet with two MySQL servers. */
const PAIR = /\bstart(?:MysqlPair|Ensemble|Cluster)\b|\bmysql: [2-9]\b/;

/** Whether a test file starts MySQL, MariaDB, Redis or memcached: whether its imports lead to `test/services/`. */
export function needsServers(root: string, file: string): boolean {
	return importedBy(root, file).some((path) => path.startsWith(SERVICES));
}

/** Whether a test file, or a helper that it imports, starts a pair of servers. `npm test -- quick` runs the others. */
export function needsPair(root: string, file: string): boolean {
	return importedBy(root, file).some(
		(path) =>
			!path.startsWith(SERVICES) &&
			PAIR.test(readFileSync(join(root, path), "utf8")),
	);
}

/** A test file and all that its imports lead to, past neither src/ nor the services. */
function importedBy(root: string, file: string): readonly string[] {
	const seen = new Set<string>();
	const waiting = [file];
	for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
		const path = join(root, next);
		if (seen.has(next) || !/^(?:test|tools|bench)\//.test(next)) continue;
		if (!existsSync(path)) continue;
		seen.add(next);
		if (next.startsWith(SERVICES)) continue;
		waiting.push(...importsOf(root, path));
	}
	return [...seen];
}

/** By path: hundreds of files lead to the same helpers. */
const known = new Map<string, readonly string[]>();

function importsOf(root: string, path: string): readonly string[] {
	let imports = known.get(path);
	if (imports === undefined) {
		const text = readFileSync(path, "utf8");
		imports = [...text.matchAll(IMPORT)].map(([, one, other]) => {
			const target = join(dirname(path), (one ?? other) as string);
			return relative(root, target).replaceAll("\\", "/");
		});
		known.set(path, imports);
	}
	return imports;
}
