import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { databasesOf } from "../../src/dump/databases.ts";
import type { DumpFiles } from "../../src/dump/files/dumpFiles.ts";
import { FolderFiles } from "../../src/dump/files/folderFiles.ts";
import { openSource } from "../../src/dump/openSource.ts";
import {
	type DumpOptions,
	type DumpReport,
	runDump,
} from "../../src/dump/runDump.ts";
import { shardsOf } from "../../src/topology/ranges.ts";
import type { Topology } from "../../src/topology/types.ts";
import { theModel } from "../helpers/model.ts";

export interface Dumping extends Partial<DumpOptions> {
	readonly environment?: Readonly<Record<string, string>>;
	readonly mayReadPrimaries?: boolean;
}

/** Dumps a fleet, for analysis unless `for` says otherwise. */
export async function dumpInto(
	files: DumpFiles | string,
	topology: Topology,
	{ environment = {}, mayReadPrimaries = false, ...options }: Dumping = {},
): Promise<DumpReport> {
	const { model, schema, domain } = theModel();
	const purpose = options.for ?? "analytics";
	const databases = databasesOf(topology, model).filter(
		({ kind }) => kind !== "mod" || purpose === "restore",
	);
	await using source = openSource({
		model,
		topology,
		databases,
		environment,
		mayReadPrimaries,
	});
	return await runDump({
		model,
		schema,
		domain,
		source,
		databases,
		for: purpose,
		files: typeof files === "string" ? new FolderFiles(files) : files,
		cipher: null,
		modShards: shardsOf(topology.lookups).length,
		erased: [],
		parallel: 2,
		rate: null,
		maxLagSeconds: 5,
		signal: new AbortController().signal,
		...options,
	});
}

/** The names of all files of a folder, below it. */
export function filesIn(folder: string): readonly string[] {
	return readdirSync(folder, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
		.toSorted();
}

/** All that the files of a dump say, decompressed. */
export function textsIn(folder: string): string {
	return filesIn(folder)
		.map((name) => {
			const bytes = readFileSync(join(folder, name));
			return name.endsWith(".zst")
				? zstdDecompressSync(bytes).toString("utf8")
				: bytes.toString("utf8");
		})
		.join("\n");
}
