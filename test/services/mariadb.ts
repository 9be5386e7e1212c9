import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { findProgram, type Program } from "./program.ts";
import type { Server } from "./server.ts";
import { CREATE_USER, startSql } from "./sql.ts";

const INITIALISE_LIMIT_MS = 600_000;

/** What mariadb-install-db feeds to a new server, in its order; 10.11 says mysql_ where 11 says mariadb_. */
const SCRIPTS = [
	"mariadb_system_tables.sql",
	"mariadb_performance_tables.sql",
	"mariadb_system_tables_data.sql",
	"maria_add_gis_sp_bootstrap.sql",
	"mariadb_sys_schema.sql",
];

/** A MariaDB of one's own, the second dialect. `args` are further options and win over ours. */
export async function startMariadb({
	args = [],
}: {
	readonly args?: readonly string[];
} = {}): Promise<Server> {
	const program = await findProgram("mariadbd");
	return startSql(
		{
			program,
			messages: "share/mariadb",
			options: ["--innodb-log-file-size=16M"],
			initialise: (command) => initialise(program, command),
		},
		args,
	);
}

/** As mariadb-install-db does it, which is a script that needs an installed server. */
async function initialise(
	program: Program,
	[file = "", ...args]: readonly string[],
): Promise<void> {
	const sql = await Promise.all(
		SCRIPTS.map((name) => systemScript(program, name)),
	);
	const child = spawn(
		file,
		[...args, "--bootstrap", "--innodb-log-file-size=16M"],
		{ stdio: ["pipe", "ignore", "pipe"], timeout: INITIALISE_LIMIT_MS },
	);
	let printed = "";
	child.stderr.setEncoding("utf8").on("data", (text: string) => {
		printed = (printed + text).slice(-4_000);
	});
	// The exit code reports a server that ends early.
	child.stdin.on("error", () => {});
	child.stdin.end(
		[
			"CREATE DATABASE mysql;",
			"USE mysql;",
			"SET @auth_root_socket=NULL, @skip_auth_anonymous=1;",
			...sql,
			"FLUSH PRIVILEGES;",
			CREATE_USER,
		].join("\n"),
	);
	const [code, signal] = await once(child, "close");
	if (code !== 0) {
		throw new Error(
			`expected mariadbd to fill a data folder but got: ${signal ?? `exit code ${code}`}. It printed:\n${printed}`,
		);
	}
}

async function systemScript(program: Program, name: string): Promise<string> {
	const usr =
		program.root === null
			? join(dirname(program.command[0] ?? ""), "..")
			: join(program.root, "usr");
	const files = ["mariadb", "mysql"].flatMap((folder) => [
		join(usr, "share", folder, name),
		join(usr, "share", folder, name.replace(/^mariadb_/, "mysql_")),
	]);
	for (const file of files) {
		try {
			return await readFile(file, "utf8");
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
		}
	}
	throw new Error(`expected one of ${files.join(", ")} but got: none of them`);
}
