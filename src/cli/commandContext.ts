import type { Readable } from "node:stream";
import type { Corkboard } from "../app/openCorkboard.ts";
import type { AccessMode } from "../app/openStore.ts";
import type { AppModel } from "../app/readApp.ts";
import type { Config } from "../config/config.ts";
import { CorkboardError } from "../errors.ts";

/** What the command line uses of its process. Tests pass something else. */
export interface ProcessContext {
	readonly env: Readonly<Record<string, string | undefined>>;
	readonly stdin: Readable;
	/** Whether stderr is a terminal, where a progress line can be overwritten. */
	readonly isTerminal: boolean;
	/** Whether stdout is one: what is secret is printed nowhere else, as it may be kept there. */
	readonly isOutputTerminal: boolean;
	/** Prints lines of the command's output. */
	stdout(text: string): void;
	/** The same, and resolves when the reader's pipe, or the file, has them. Throws UNAVAILABLE if it cannot take them. */
	print(text: string): Promise<void>;
	/** Prints lines that are not output: progress, warnings, errors. */
	stderr(text: string): void;
	/** Prints text on stderr without an end of line. */
	stderrRaw(text: string): void;
	/**
	 * From the first call on, an interrupt (SIGINT, SIGTERM) aborts this signal
	 * instead of ending the process. The command must then end by itself.
	 */
	interruptSignal(): AbortSignal;
	/** The process ends in so many milliseconds, with the exit code 0, even if something still runs in it then. */
	exitWithin(ms: number): void;
	/** Opens an app with these settings. */
	open(
		app: AppModel,
		config: Config,
		access: AccessMode,
		role?: string,
	): Promise<Corkboard>;
}

/** What a command uses. */
export interface CommandContext extends Omit<ProcessContext, "open"> {
	/** The app of this command line, read once. Throws BAD_CONFIG or BAD_MODEL. */
	app(): Promise<AppModel>;
	/** Opens that app with these settings. */
	open(config: Config, access: AccessMode, role?: string): Promise<Corkboard>;
}

/** For commands about an app: the one in `folder`, or that of `CORKBOARD_APP`, or the one that comes with the program. */
export function withApp(
	process: ProcessContext,
	folder: string | undefined,
): CommandContext {
	let reading: Promise<AppModel> | undefined;
	const app = () => (reading ??= read(folder ?? process.env.CORKBOARD_APP));
	return {
		...process,
		app,
		open: async (config, access, role) =>
			process.open(await app(), config, access, role),
	};
}

async function read(folder: string | undefined): Promise<AppModel> {
	// Loaded on demand, as what an app imports.
	const { findApp } = await import("../app/findApp.ts");
	const { readApp } = await import("../app/readApp.ts");
	return readApp(await findApp(folder));
}

/** npm forwards the SIGINT that the terminal sent to this process too. Within this time it is the same one. Milliseconds. */
const SAME_INTERRUPT_MS = 1_000;

export function processContext(): ProcessContext {
	let interruption: AbortSignal | undefined;
	// The reader of the output has ended (`| head`), so the command can end too.
	for (const stream of [process.stdout, process.stderr]) {
		stream.on("error", (error: NodeJS.ErrnoException) => {
			if (error.code === "EPIPE") process.exit(process.exitCode ?? 0);
			// The disk of its file is full, mostly. A server continues without what it prints.
			if (stream === process.stdout) {
				process.stderr.write(
					`corkboard: The output cannot be written: ${error.message}.\n`,
				);
			}
			process.once("exit", () => {
				process.exitCode ||= 1;
			});
		});
	}
	return {
		env: process.env,
		stdin: process.stdin,
		isTerminal: process.stderr.isTTY === true,
		isOutputTerminal: process.stdout.isTTY === true,
		stdout: (text) => void process.stdout.write(`${text}\n`),
		print: (text) =>
			new Promise((resolve, reject) => {
				process.stdout.write(`${text}\n`, (error) => {
					if (!error) resolve();
					else {
						const reason = `The output cannot be written: ${error.message}.`;
						reject(new CorkboardError("UNAVAILABLE", reason));
					}
				});
			}),
		stderr: (text) => void process.stderr.write(`${text}\n`),
		stderrRaw: (text) => void process.stderr.write(text),
		interruptSignal: () => (interruption ??= onInterrupt()),
		exitWithin: (ms) =>
			void setTimeout(() => process.exit(process.exitCode ?? 0), ms).unref(),
		// Loaded on demand: `id` and `--help` start faster without the server's packages.
		open: async (app, config, access, role) =>
			(await import("../app/openCorkboard.ts")).openCorkboard(
				app,
				config,
				access,
				role,
			),
	};
}

/** A second interrupt ends the process at once. */
function onInterrupt(): AbortSignal {
	const controller = new AbortController();
	let first = 0;
	for (const name of ["SIGINT", "SIGTERM"] as const) {
		process.on(name, () => {
			if (!controller.signal.aborted) {
				first = performance.now();
				controller.abort(name);
			} else if (performance.now() - first > SAME_INTERRUPT_MS) {
				process.exit(name === "SIGINT" ? 130 : 143);
			}
		});
	}
	return controller.signal;
}

/** Opens the program for a command, and warns if it uses the kept copy of the topology. `serve` logs that instead. */
export async function openForCommand(
	context: CommandContext,
	config: Config,
	access: AccessMode,
	/** As other processes of the fleet see it. */
	role = "command",
): Promise<Corkboard> {
	const corkboard = await context.open(config, access, role);
	const { topologyProblem, modelProblem } = corkboard;
	if (topologyProblem !== null) {
		context.stderr(`corkboard: warning: ${topologyProblem.message}`);
	}
	if (modelProblem !== null) {
		context.stderr(`corkboard: warning: ${modelProblem}`);
	}
	return corkboard;
}
