import { execFile } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { cacheFolder } from "./cache.ts";
import { unpackDebian, unpackedCommand } from "./debian.ts";

export type ProgramName =
	| "mysqld"
	| "mariadbd"
	| "postgres"
	| "redis-server"
	| "memcached"
	| "prometheus"
	| "promtool";

/** A server that can be started here. */
export interface Program {
	readonly name: ProgramName;
	/** The words that start it, before its options. */
	readonly command: readonly string[];
	readonly version: string;
	/** The folder it was unpacked to, which stands for `/`; null for one that is installed. */
	readonly root: string | null;
}

interface Source {
	/** What it is called by those who install it. */
	readonly title: string;
	/** The oldest release that does. */
	readonly least: string;
	readonly version: RegExp;
	/** Folder of the cache it is unpacked to, with its neighbours. */
	readonly set: "servers" | "mariadb" | "postgres" | "prometheus";
	/** Below that folder; a `*` stands for a version. */
	readonly path: string;
	/** Where addresses are given instead, with an example; null if they cannot be. */
	readonly setting: string | null;
}

const SOURCES: Readonly<Record<ProgramName, Source>> = {
	mysqld: {
		title: "MySQL",
		least: "8.4",
		// On some systems mysqld is another name of mariadbd.
		version: /^(?!.*MariaDB).*\bVer (\d+\.\d+\.\d+)/,
		set: "servers",
		path: "usr/sbin/mysqld",
		setting: "TEST_MYSQL=mysql://user:password@host:port,…",
	},
	mariadbd: {
		title: "MariaDB",
		least: "10.11",
		version: /\bVer (\d+\.\d+\.\d+)-MariaDB/,
		set: "mariadb",
		path: "usr/sbin/mariadbd",
		setting: "TEST_MARIADB=mysql://user:password@host:port,…",
	},
	postgres: {
		title: "PostgreSQL",
		least: "15.0",
		version: /^postgres \(PostgreSQL\) (\d+\.\d+)/,
		set: "postgres",
		path: "usr/lib/postgresql/*/bin/postgres",
		setting: null,
	},
	"redis-server": {
		title: "Redis",
		least: "7.0",
		version: /\bv=(\d+\.\d+\.\d+)/,
		set: "servers",
		// One program with two names; Debian gives the file this one.
		path: "usr/bin/redis-check-rdb",
		setting: "TEST_REDIS=redis://host:port",
	},
	memcached: {
		title: "memcached",
		least: "1.6",
		version: /^memcached (\d+\.\d+\.\d+)/,
		set: "servers",
		path: "usr/bin/memcached",
		setting: "TEST_MEMCACHED=host:port,…",
	},
	prometheus: {
		title: "Prometheus",
		least: "2.42",
		version: /^prometheus, version (\d+\.\d+\.\d+)/,
		set: "prometheus",
		path: "usr/bin/prometheus",
		setting: null,
	},
	promtool: {
		title: "Prometheus",
		least: "2.42",
		version: /^promtool, version (\d+\.\d+\.\d+)/,
		set: "prometheus",
		path: "usr/bin/promtool",
		setting: null,
	},
};

const PACKAGES: Readonly<Record<Source["set"], readonly string[]>> = {
	servers: ["mysql-server-core", "redis-server", "memcached"],
	mariadb: ["mariadb-server-core"],
	postgres: ["postgresql"],
	prometheus: ["prometheus"],
};

/** Programs that start others beside them, so that each needs a file that runs by its own name. */
const WRAPPED: Partial<Readonly<Record<Source["set"], readonly string[]>>> = {
	postgres: [
		"usr/lib/postgresql/*/bin/postgres",
		"usr/lib/postgresql/*/bin/initdb",
	],
};

/** What is unpacked in another way than before gets another folder. */
const LAYOUT = 1;
const VERSION_LIMIT_MS = 60_000;

const found = new Map<ProgramName, Promise<Program>>();

/**
 * The program on the PATH, if it is new enough, else one of Debian's, unpacked
 * into the cache. Throws a sentence that says what to do if there is neither.
 */
export function findProgram(name: ProgramName): Promise<Program> {
	const before = found.get(name);
	if (before) return before;
	const searching = searchProgram(name, {
		path: [
			...(process.env.PATH ?? "").split(delimiter),
			// Servers are often in a folder that only root has on the PATH.
			"/usr/local/sbin",
			"/usr/sbin",
			// Debian keeps several versions of PostgreSQL beside each other, off the PATH.
			...globSync("/usr/lib/postgresql/*/bin"),
		],
		cache: cacheFolder(),
	});
	found.set(name, searching);
	// A failed download may be tried again.
	searching.catch(() => found.delete(name));
	return searching;
}

/** `mysqld 9.7.4, unpacked in .cache/services/servers-1-x64` */
export function describeProgram({ name, command, version, root }: Program) {
	return `${name} ${version}, ${root === null ? command[0] : `unpacked in ${root}`}`;
}

/** What `findProgram` does the first time: in these folders, with that cache. */
async function searchProgram(
	name: ProgramName,
	{ path: folders, cache }: { path: readonly string[]; cache: string },
): Promise<Program> {
	const { title, least, set, path, setting } = SOURCES[name];
	const tried: string[] = [];
	for (const file of await filesIn(folders, name)) {
		const version = await versionOf(name, [file]);
		if (version !== null && atLeast(version, least)) {
			return { name, command: [file], version, root: null };
		}
		tried.push(`${file} is ${version ?? `no ${title}`}`);
	}
	const root = join(cache, `${set}-${LAYOUT}-${process.arch}`);
	try {
		if (!existsSync(root) && process.platform !== "linux") {
			throw new Error(
				`unpacking Debian's needs Linux but got: ${process.platform}`,
			);
		}
		const wrapped = WRAPPED[set] ?? [];
		await unpackDebian(root, PACKAGES[set], wrapped);
		const [found = path] = globSync(path, { cwd: root });
		const command = wrapped.includes(path)
			? [join(root, found)]
			: unpackedCommand(root, found, name);
		const version = await versionOf(name, command);
		if (version === null) throw new Error(`${command.join(" ")} does not run`);
		return { name, command, version, root };
	} catch (cause) {
		tried.push(cause instanceof Error ? cause.message : String(cause));
		throw new Error(
			`expected a ${name} to run but got none. Install ${title} ${least} or later so that ${name} is on the PATH${setting === null ? "" : `, or give addresses with ${setting}`} (${tried.join("; ")})`,
			{ cause },
		);
	}
}

async function filesIn(
	folders: readonly string[],
	name: string,
): Promise<readonly string[]> {
	const files: string[] = [];
	for (const folder of new Set(folders)) {
		const file = join(folder, name);
		try {
			await access(file, constants.X_OK);
			files.push(file);
		} catch {
			// Not in this folder.
		}
	}
	return files;
}

/** Null if that is no such program, or does not run. */
async function versionOf(
	name: ProgramName,
	[file = "", ...args]: readonly string[],
): Promise<string | null> {
	try {
		const { stdout } = await promisify(execFile)(file, [...args, "--version"], {
			timeout: VERSION_LIMIT_MS,
		});
		return SOURCES[name].version.exec(stdout)?.[1] ?? null;
	} catch {
		return null;
	}
}

function atLeast(version: string, least: string): boolean {
	const wanted = least.split(".").map(Number);
	const parts = version.split(".").map(Number);
	for (const [n, number] of wanted.entries()) {
		const part = parts[n] ?? 0;
		if (part !== number) return part > number;
	}
	return true;
}
