import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { cp, mkdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { makeOnce } from "../helpers/makeOnce.ts";
import { cacheFolder } from "./cache.ts";
import { findProgram, type Program } from "./program.ts";
import { say } from "./say.ts";
import { Server } from "./server.ts";
import { PASSWORD, USER } from "./sql.ts";

const INITIALISE_LIMIT_MS = 600_000;
/** What a template is made with; another number for another way of making it. */
const TEMPLATE = 1;
/** PostgreSQL refuses to run as root: as this user then, which every system has (`nobody`). */
const NOBODY = 65_534;

/** A PostgreSQL of one's own. `args` are further options and win over ours. */
export async function startPostgres({
	args = [],
}: {
	readonly args?: readonly string[];
} = {}): Promise<Server> {
	const program = await findProgram("postgres");
	const template = await templateOf(program);
	return Server.start({
		scheme: "postgres",
		credentials: `${USER}:${PASSWORD}@`,
		prepare: async (folder) => {
			const data = join(folder, "data");
			await cp(template, data, {
				recursive: true,
				mode: constants.COPYFILE_FICLONE,
			});
			await giveAway(folder);
		},
		// Killed, it would leave its shared memory to the machine.
		end: "SIGQUIT",
		command: (folder, port) => [
			...unprivileged(program.command),
			"-D",
			join(folder, "data"),
			...settings({
				port: String(port),
				listen_addresses: "127.0.0.1",
				unix_socket_directories: "",
				shared_buffers: "64MB",
				// A server that is killed loses the last commits, and nothing else.
				synchronous_commit: "off",
				// Files of its data folder: else they are left in /dev/shm when it is killed.
				dynamic_shared_memory_type: "mmap",
			}),
			...args,
		],
		answers: async ({ folder, port, pid }) => {
			const file = join(folder, "data/postmaster.pid");
			// Line by line: pid, data folder, start, port, socket folder, address, memory, state.
			const lines = (await readFile(file, "utf8")).split("\n");
			return (
				lines[0] === String(pid) &&
				lines[3] === String(port) &&
				lines[7]?.trim() === "ready"
			);
		},
	});
}

function settings(values: Readonly<Record<string, string>>): readonly string[] {
	return Object.entries(values).flatMap(([name, value]) => [
		"-c",
		`${name}=${value}`,
	]);
}

async function templateOf(program: Program): Promise<string> {
	const { name, version, command } = program;
	const template = join(
		cacheFolder(),
		`${name}-${version}-data-${TEMPLATE}-${process.arch}`,
	);
	await makeOnce(template, async (building) => {
		const started = performance.now();
		// Beside the server, behind the link that the PATH may hold.
		const initdb = join(dirname(await realpath(command[0] ?? "")), "initdb");
		const password = `${building}.password`;
		await writeFile(password, `${PASSWORD}\n`);
		const data = join(building, "data");
		await mkdir(data, { mode: 0o700 });
		await giveAway(building);
		const [file = "", ...args] = unprivileged([initdb]);
		try {
			await promisify(execFile)(
				file,
				[
					...args,
					`--pgdata=${data}`,
					`--username=${USER}`,
					`--pwfile=${password}`,
					"--auth=scram-sha-256",
					"--encoding=UTF8",
					"--locale=C",
					"--no-sync",
					"--no-instructions",
				],
				{ timeout: INITIALISE_LIMIT_MS },
			);
		} finally {
			await rm(password, { force: true });
		}
		say(
			`initialised a data folder of ${name} ${version}, once, in ${((performance.now() - started) / 1_000).toFixed(1)} s: ${template}`,
		);
	});
	return join(template, "data");
}

/** Another user, who may go wherever root may: the folders above the data belong to root alone. */
function unprivileged(command: readonly string[]): readonly string[] {
	if (!isRoot()) return command;
	return [
		"setpriv",
		`--reuid=${NOBODY}`,
		`--regid=${NOBODY}`,
		"--clear-groups",
		"--inh-caps=+dac_override",
		"--ambient-caps=+dac_override",
		...command,
	];
}

async function giveAway(folder: string): Promise<void> {
	if (!isRoot()) return;
	await promisify(execFile)("chown", ["-R", `${NOBODY}:${NOBODY}`, folder]);
}

function isRoot(): boolean {
	return process.getuid?.() === 0;
}
