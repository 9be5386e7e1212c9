import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { cp, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { createConnection, type RowDataPacket } from "mysql2/promise";
import { makeOnce } from "../helpers/makeOnce.ts";
import { cacheFolder } from "./cache.ts";
import type { Program } from "./program.ts";
import { say } from "./say.ts";
import { Server, temporaryIn } from "./server.ts";

/** MySQL's and MariaDB's own only user who comes over TCP; may do everything. */
export const USER = "corkboard";
export const PASSWORD = "corkboard";

/** A line each: MariaDB reads what it begins with so. */
export const CREATE_USER = [
	`CREATE USER '${USER}'@'%' IDENTIFIED BY '${PASSWORD}';`,
	`GRANT ALL ON *.* TO '${USER}'@'%' WITH GRANT OPTION;`,
	"",
].join("\n");

const CONNECT_LIMIT_MS = 10_000;
/** What a template is made with; another number for another way of making it. */
const TEMPLATE = 2;

/** What the two dialects do differently to run at all. */
export interface Dialect {
	readonly program: Program;
	/** Below the unpacked folder's `usr`: where its messages are. */
	readonly messages: string;
	/** Options of every run. */
	readonly options: readonly string[];
	/** Fills a new data folder. */
	initialise(command: readonly string[], folder: string): Promise<void>;
}

/** What a server has from its start: made once in a run of the tests, and copied. */
export interface Filling {
	/** Another one for another content. */
	readonly name: string;
	fill(server: Server): Promise<void>;
}

/**
 * A server with a data folder copied from one that was initialised once, or filled
 * once. `args` win over all other options.
 */
export async function startSql(
	dialect: Dialect,
	args: readonly string[],
	filling: Filling | null = null,
): Promise<Server> {
	const template = await templateOf(dialect);
	if (filling === null) return startOn(template, dialect, args);
	const { TEST_RUN_FOLDER } = process.env;
	// A file that runs without the runner shares nothing.
	if (TEST_RUN_FOLDER === undefined) {
		const server = await startOn(template, dialect, args);
		await filling.fill(server);
		return server;
	}
	const filled = join(TEST_RUN_FOLDER, filling.name);
	await makeOnce(filled, async (building) => {
		await using server = await startOn(template, dialect, args);
		await filling.fill(server);
		await server.kill("SIGTERM");
		await rm(building, { recursive: true });
		await copyFolder(dataOf(server.folder), building);
		await rm(join(building, IDENTITY));
	});
	return startOn(filled, dialect, args);
}

const dataOf = (folder: string) => join(folder, "data");

/** The file with which a server is the one that it is: each copy makes one of its own. */
export const IDENTITY = "auto.cnf";

function startOn(
	template: string,
	dialect: Dialect,
	args: readonly string[],
): Promise<Server> {
	return Server.start({
		scheme: "mysql",
		credentials: `${USER}:${PASSWORD}@`,
		prepare: (folder) => copyFolder(template, dataOf(folder)),
		command: (folder, port) => [
			...commandOf(dialect, dataOf(folder)),
			"--bind-address=127.0.0.1",
			`--port=${port}`,
			// Below the data folder, and so short enough for a socket's name (107 bytes) wherever that is.
			"--socket=socket",
			`--pid-file=${join(folder, "pid")}`,
			`--tmpdir=${temporaryIn(folder)}`,
			"--skip-name-resolve",
			"--performance-schema=OFF",
			// The doublewrite buffer stays on: a server that is killed may leave half of a page.
			"--innodb-buffer-pool-size=64M",
			// A server that is killed keeps what it has acknowledged; 0 would not.
			"--innodb-flush-log-at-trx-commit=2",
			"--sync-binlog=0",
			...dialect.options,
			...args,
		],
		answers: ({ folder, port }) => answers(folder, port),
	});
}

/** GNU's cp leaves out the zeros, which are half of it, and takes half of Node's CPU. */
async function copyFolder(from: string, to: string): Promise<void> {
	try {
		await promisify(execFile)("cp", ["-R", "--sparse=always", from, to]);
	} catch {
		await cp(from, to, { recursive: true, mode: constants.COPYFILE_FICLONE });
	}
}

/** The program and the options that come first, in every use of it. */
function commandOf(
	{ program, messages }: Dialect,
	data: string,
): readonly string[] {
	const { command, root } = program;
	return [
		...command,
		// No file of this machine has a say.
		"--no-defaults",
		`--datadir=${data}`,
		...(root === null
			? []
			: [
					`--basedir=${join(root, "usr")}`,
					`--lc-messages-dir=${join(root, "usr", messages)}`,
				]),
		...(process.getuid?.() === 0 ? ["--user=root"] : []),
	];
}

async function templateOf(dialect: Dialect): Promise<string> {
	const { name, version } = dialect.program;
	const template = join(
		cacheFolder(),
		`${name}-${version}-data-${TEMPLATE}-${process.arch}`,
	);
	await makeOnce(template, async (building) => {
		const started = performance.now();
		await dialect.initialise(commandOf(dialect, building), building);
		say(
			`initialised a data folder of ${name} ${version}, once, in ${((performance.now() - started) / 1_000).toFixed(1)} s: ${template}`,
		);
	});
	return template;
}

async function answers(folder: string, port: number): Promise<boolean> {
	const connection = await createConnection({
		host: "127.0.0.1",
		port,
		user: USER,
		password: PASSWORD,
		connectTimeout: CONNECT_LIMIT_MS,
	});
	try {
		const [[row]] = await connection.query<RowDataPacket[]>({
			sql: "SELECT @@datadir AS data",
			timeout: CONNECT_LIMIT_MS,
		});
		return (
			row !== undefined &&
			(await realpath(row.data)) === (await realpath(dataOf(folder)))
		);
	} finally {
		connection.destroy();
	}
}
