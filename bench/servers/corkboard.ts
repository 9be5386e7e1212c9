import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { createConnection, type RowDataPacket } from "mysql2/promise";
import { type Databases, fleetOf } from "../databases.ts";
import { type ServerProcess, startServer } from "./serverProcess.ts";

const ROOT = join(import.meta.dirname, "../..");
const LAUNCH = "src/cli/launch.mjs";
const NODE = "src/cli/node.sh";
const IMPORT_TRIES = 10;
const COMMAND_LIMIT_MS = 1_800_000;
/** Signs the tokens of all servers of the benchmark, which only this machine reaches. */
export const SECRET = "a benchmark on this machine alone needs no secret";

const MISSED_MB = "8";

/** Which layers a Corkboard has. */
export const STORES = {
	/** All of them: MySQL, memcached, Redis, and the cache in the process. */
	layered: "MySQL, memcached, Redis, in-process cache",
	/** Every request is executed. */
	executed: "MySQL, memcached, Redis, in-process cache without whole answers",
	/** A small part of what is asked for fits into the process. */
	missed: "MySQL, memcached, Redis, in-process cache of 8 MB, no whole answers",
	uncached: "MySQL, memcached, Redis",
	mysql: "MySQL alone",
	sqlite: "embedded SQLite",
} as const;
export type StoreName = keyof typeof STORES;

export interface CorkboardFiles {
	readonly databases: Pick<Databases, "fleet">;
	/** The folder of the embedded store. */
	readonly dataFolder: string;
	readonly documents: string;
	/** Settings besides those of the store. */
	readonly env?: Readonly<Record<string, string>>;
	/** Another checkout to run, with its own packages; null: this one. */
	readonly root?: string;
}

export function environmentOf(
	store: StoreName,
	files: CorkboardFiles,
): Readonly<Record<string, string>> {
	const environment = settingsOf(store, files);
	return files.root === undefined
		? environment
		: knownTo(files.root, environment);
}

/** An older checkout has fewer settings, and refuses one that it does not know. */
function knownTo(
	root: string,
	environment: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
	const declared = readFileSync(join(root, "src/config/settings.ts"), "utf8");
	return Object.fromEntries(
		Object.entries(environment).filter(([name]) => declared.includes(name)),
	);
}

function settingsOf(
	store: StoreName,
	{ databases, dataFolder, env = {} }: CorkboardFiles,
): Readonly<Record<string, string>> {
	const common = {
		CORKBOARD_SECRET: SECRET,
		CORKBOARD_MODE: "production",
		CORKBOARD_RATE_LIMIT: "off",
		CORKBOARD_SHUTDOWN_DELAY: "0",
		// A busy process takes an eighth: more than the connections of any section, none of which repeats what is refused.
		CORKBOARD_MAX_REQUESTS_IN_PROGRESS: "2000",
	};
	if (store === "sqlite") {
		return {
			...common,
			CORKBOARD_DATA: dataFolder,
			CORKBOARD_DEMO: "off",
			...env,
		};
	}
	const { topologyFile, memcached, redis } = fleetOf(databases);
	const fleet = { ...common, CORKBOARD_TOPOLOGY: topologyFile, ...env };
	if (store === "mysql") return fleet;
	return {
		...fleet,
		CORKBOARD_MEMCACHED: memcached.address,
		CORKBOARD_REDIS: redis.url,
		...(store === "layered" ? {} : { CORKBOARD_ANSWER_CACHE_MB: "0" }),
		...(store === "missed" ? { CORKBOARD_CACHE_MB: MISSED_MB } : {}),
		...(store === "uncached" ? { CORKBOARD_CACHE_MB: "0" } : {}),
	};
}

export function startCorkboard(
	store: StoreName,
	files: CorkboardFiles,
	{
		nodeOptions = [],
		env = {},
	}: {
		readonly nodeOptions?: readonly string[];
		/** Settings besides those of the store. */
		readonly env?: Readonly<Record<string, string>>;
	} = {},
): Promise<ServerProcess> {
	return startServer({
		name: `Corkboard (${STORES[store]})`,
		// As `npm start` does.
		command: [
			"sh",
			join(files.root ?? ROOT, NODE),
			...nodeOptions,
			join(files.root ?? ROOT, LAUNCH),
			"serve",
		],
		env: {
			...environmentOf(store, files),
			CORKBOARD_DOCUMENTS: "report",
			CORKBOARD_DOCUMENT_FILES: files.documents,
			...env,
		},
		readiness: "health",
	});
}

/** Runs `import` on a store, and answers how many seconds it took. */
function importGraph(
	store: StoreName,
	file: string,
	files: CorkboardFiles,
	signal: AbortSignal,
): Promise<number> {
	if (store === "sqlite") mkdirSync(files.dataFolder, { recursive: true });
	return runCommand(store, ["import", file], files, signal);
}

/** Runs a command on a store, and answers how many seconds it took. Rejects if it fails. */
export async function runCommand(
	store: StoreName,
	args: readonly string[],
	files: CorkboardFiles,
	signal: AbortSignal,
): Promise<number> {
	const began = performance.now();
	await promisify(execFile)(
		process.execPath,
		[join(files.root ?? ROOT, LAUNCH), ...args],
		{
			env: {
				PATH: process.env.PATH,
				...environmentOf(store, files),
			},
			timeout: COMMAND_LIMIT_MS,
			maxBuffer: 1 << 26,
			signal,
		},
	);
	return (performance.now() - began) / 1_000;
}

/** Imports a file, and answers how many seconds it took. An import that ended because the machine was too busy is resumed. */
export async function importPatiently(
	store: StoreName,
	file: string,
	files: CorkboardFiles,
	signal: AbortSignal,
): Promise<number> {
	let total = 0;
	for (let tries = 1; ; tries++) {
		signal.throwIfAborted();
		const began = performance.now();
		try {
			return total + (await importGraph(store, file, files, signal));
		} catch (error) {
			if (tries >= IMPORT_TRIES) throw error;
			total += (performance.now() - began) / 1_000;
		}
	}
}

/** Ids by import key. */
export async function readIds(
	store: StoreName,
	{ databases, dataFolder }: CorkboardFiles,
): Promise<ReadonlyMap<string, string>> {
	const ids = new Map<string, string>();
	if (store === "sqlite") {
		for (const file of readdirSync(dataFolder)) {
			if (!/^mod\d+\.sqlite$/.test(file)) continue;
			using database = new DatabaseSync(join(dataFolder, file));
			const rows = database
				.prepare(
					"SELECT key, CAST(id AS TEXT) AS id FROM lookups WHERE name = 'import'",
				)
				.all();
			for (const { key, id } of rows) ids.set(String(key), String(id));
		}
		return ids;
	}
	for (const { url } of fleetOf(databases).hosts) {
		const connection = await createConnection({ uri: url });
		try {
			const [schemas] = await connection.query<RowDataPacket[]>(
				"SELECT table_schema AS name FROM information_schema.tables WHERE table_name = 'lookups'",
			);
			for (const { name } of schemas) {
				const [rows] = await connection.query<RowDataPacket[]>(
					"SELECT `key`, CAST(id AS CHAR) AS id FROM ??.lookups WHERE name = 'import'",
					[name],
				);
				for (const { key, id } of rows) ids.set(String(key), String(id));
			}
		} finally {
			connection.destroy();
		}
	}
	return ids;
}
