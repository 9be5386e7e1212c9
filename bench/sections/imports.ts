import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startMysql } from "../../test/services/mysql.ts";
import { fleetOf, topologyOf } from "../databases.ts";
import { moveToOtherCores } from "../servers/cores.ts";
import { importPatiently } from "../servers/corkboard.ts";
import type { World } from "../world.ts";

const MOST_LINES = 30_000;

/**
 * Lines per second of an import into an empty fleet, with and without the shared
 * caches: an import has to invalidate what it changes.
 */
export async function measureImports(
	world: World,
	signal: AbortSignal,
): Promise<Readonly<Record<string, number>>> {
	const text = await readFile(world.importFile, "utf8");
	const lines = text.split("\n", MOST_LINES);
	const facts: Record<string, number> = {};
	for (const store of ["mysql", "layered"] as const) {
		signal.throwIfAborted();
		await using fresh = await startMysql({ args: ["--max-connections=1000"] });
		moveToOtherCores(fresh.pid);
		const file = join(fresh.folder, "lines.ndjson");
		const topologyFile = join(fresh.folder, "topology.json");
		await writeFile(
			file,
			`${lines.filter((line) => line !== "").join("\n")}\n`,
		);
		await writeFile(
			topologyFile,
			JSON.stringify(topologyOf([fresh.url], world.options.shards)),
		);
		const files = {
			...world.files,
			databases: { fleet: { ...fleetOf(world.databases), topologyFile } },
		};
		const seconds = await importPatiently(store, file, files, signal);
		const what =
			store === "mysql" ? "without caches" : "with memcached and Redis";
		facts[`import ${what}, lines/s`] = lines.length / seconds;
	}
	return facts;
}
