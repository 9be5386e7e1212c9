import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { documentRules } from "../app/documentRules.ts";
import { loadOwnModel, SCHEMA_FOLDER } from "../app/model.ts";
import { readConfiguredTopology } from "../app/openTopology.ts";
import type { Config } from "../config.ts";
import { CorkboardError } from "../errors.ts";
import { compareLock, parseLock } from "../model/lock.ts";
import { checkDocumentFiles } from "../server/documents/documentFiles.ts";
import { hasShardFiles } from "../storage/sqlite/driver/holdsData.ts";
import type { CommandContext } from "./commandContext.ts";

/** So many of what is wrong are spelled out. */
const SPELLED = 20;

/** Settings, schema, lock file, shard map and the tables of every shard, each held against the others; nothing is made and nothing served. */
export async function runChecks(
	config: Config,
	io: CommandContext,
): Promise<number> {
	const { model } = loadOwnModel();
	const topology = readConfiguredTopology(config);
	const documents = await checkDocumentFiles(
		config.persistedDocuments.files,
		documentRules(config.maxCost),
	);
	const faults = [...lockProblems(), ...documents.problems];
	let shards = "made at the first start";
	if (config.store.kind === "topology" || hasShardFiles(config.store.folder)) {
		await using corkboard = await io.open(config, "readOnly");
		const missing = await corkboard.storage.missingTables();
		faults.push(
			...missing.slice(0, SPELLED).map((table) => `${table} is missing`),
		);
		if (missing.length > 0) {
			faults.push(
				`${missing.length} tables are missing: npm run -s corkboard -- init makes them`,
			);
		}
		shards = `${corkboard.storage.shards.length} with all their tables`;
	}
	if (faults.length > 0) {
		throw new CorkboardError("BAD_DATA", faults.join("\n"));
	}
	io.stdout(
		`good: settings, schema (${model.objects.size} types, as locked), shard map (version ${topology.version}), shards (${shards})`,
	);
	return 0;
}

function lockProblems(): readonly string[] {
	const file = join(SCHEMA_FOLDER, "model.lock.json");
	if (!existsSync(file)) return [`${file} is missing: npm run update makes it`];
	const { additions, breaks } = compareLock(
		parseLock(readFileSync(file, "utf8")),
		loadOwnModel().model,
	);
	return [
		...breaks,
		...additions.map(
			(addition) => `${addition}: not locked yet (npm run update)`,
		),
	];
}
