import { documentRules } from "../app/documentRules.ts";
import { readMadeTables } from "../app/lostTables.ts";
import type { Corkboard } from "../app/openCorkboard.ts";
import type { AccessMode } from "../app/openStore.ts";
import { readConfiguredTopology } from "../app/openTopology.ts";
import { type AppModel, lockProblems } from "../app/readApp.ts";
import type { Config } from "../config/config.ts";
import { lostOf } from "../ops/madeTables.ts";
import { checkDocumentFiles } from "../server/documents/documentFiles.ts";
import {
	hostProblems,
	settingProblems,
	tableProblems,
} from "../storage/hostReport.ts";
import { hasShardFiles } from "../storage/sqlite/driver/hasShardFiles.ts";
import { cacheProblems, inspectCaches } from "./inspectCaches.ts";

interface CheckReport {
	/** Empty if everything agrees. */
	readonly problems: readonly string[];
	/** What costs time and keeps nobody from serving. */
	readonly warnings: readonly string[];
	readonly types: number;
	readonly topologyVersion: number;
	/** Shards with all their tables; null if the data folder is created at the first start. */
	readonly shards: number | null;
}

/** Checks that settings, schema, lock file, persisted documents, topology and the tables of every shard agree, and that every host answers. Creates and serves nothing. */
export async function runChecks(
	own: AppModel,
	config: Config,
	open: (config: Config, access: AccessMode) => Promise<Corkboard>,
): Promise<CheckReport> {
	const { app, model } = own;
	const topology = await readConfiguredTopology(config);
	const documents = await checkDocumentFiles(
		config.persistedDocuments.files,
		documentRules(app, config.maxCost),
	);
	const problems = [
		...lockProblems(own),
		...documents.problems,
		...cacheProblems(await inspectCaches(config, topology.caches)),
	];
	let shards: number | null = null;
	let warnings: readonly string[] = [];
	if (config.store.kind === "topology" || hasShardFiles(config.store.folder)) {
		await using corkboard = await open(config, "readOnly");
		const { topologyProblem } = corkboard;
		if (topologyProblem !== null) problems.push(topologyProblem.message);
		const hosts = await corkboard.admin.inspectHosts();
		warnings = settingProblems(hosts);
		problems.push(
			...hostProblems(hosts),
			...tableProblems(
				hosts,
				lostOf(
					hosts,
					corkboard.admin.tables(),
					await readMadeTables(config, topology),
					config.store.kind === "topology",
				),
			),
		);
		shards = corkboard.storage.map.shards.length;
	}
	return {
		problems,
		warnings,
		types: model.objects.size,
		topologyVersion: topology.version,
		shards,
	};
}
