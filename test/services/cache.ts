import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");
/**
 * Where servers that were unpacked, and data folders that were initialised, are
 * kept between runs: TEST_SERVICES_CACHE if that is set, else
 * `~/.cache/corkboard` (under XDG_CACHE_HOME) if somebody made it, for all their
 * clones together, else `.cache` of this clone. All may be used by many
 * processes, and deleted while nothing runs.
 */
export function cacheFolder(environment = process.env): string {
	const given = environment.TEST_SERVICES_CACHE?.trim();
	if (given) return given;
	const user = join(
		environment.XDG_CACHE_HOME?.trim() || join(homedir(), ".cache"),
		"corkboard",
	);
	return join(existsSync(user) ? user : join(ROOT, ".cache"), "services");
}
