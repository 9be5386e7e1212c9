import cluster from "node:cluster";
import { CorkboardError } from "../errors.ts";
import { nearest } from "../util/nearest.ts";
import {
	columns,
	help,
	type ParsedArguments,
	parseArguments,
	synopsis,
	type Usage,
	UsageError,
} from "./arguments.ts";
import { type CommandContext, processContext } from "./commandContext.ts";

/** What a file of this folder exports for its command. */
export interface Command {
	readonly usage: Usage;
	/** The exit code, once everything the command opened is closed again. */
	run(given: ParsedArguments, io: CommandContext): Promise<number>;
}

const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
	serve: () => import("./commands/serve.ts"),
	init: () => import("./commands/init.ts"),
	import: () => import("./commands/import.ts"),
	verify: () => import("./commands/verify.ts"),
	explain: () => import("./commands/explain.ts"),
	id: () => import("./commands/id.ts"),
	token: () => import("./commands/token.ts"),
	account: () => import("./commands/account.ts"),
	"schema print": () => import("./commands/schemaPrint.ts"),
	"documents check": () => import("./commands/documentsCheck.ts"),
	"topology check": () => import("./commands/topologyCheck.ts"),
};

/** The process's own start: what `launch.mjs` calls. */
export async function start(): Promise<void> {
	process.exitCode = await main(process.argv.slice(2), processContext());
	// Its channel to the primary would keep a worker that has nothing left to do.
	cluster.worker?.disconnect();
}

/** Runs one command line; answers its exit code: 0, 1 for an error, 2 for a command line that was not understood. */
export async function main(
	args: readonly string[],
	io: CommandContext,
): Promise<number> {
	try {
		const [name, rest] = commandIn(args);
		if (name === "help") {
			io.stdout(await overview());
			return 0;
		}
		const load = COMMANDS[name];
		if (!load) throw new Error(`no command ${name}`);
		const command = await load();
		const given = parseArguments(name, command.usage, rest);
		if (given === "help") {
			io.stdout(help(name, command.usage));
			return 0;
		}
		return await command.run(given, io);
	} catch (error) {
		return reportFailure(error, io);
	}
}

function commandIn(
	args: readonly string[],
): readonly [name: string, rest: readonly string[]] {
	const [first, second] = args;
	if (first === undefined) {
		throw new UsageError(
			`expected a command (${Object.keys(COMMANDS).join(", ")}) but got nothing; --help says more`,
		);
	}
	if (["--help", "-h", "help"].includes(first)) return ["help", []];
	for (const words of [2, 1]) {
		const name = args.slice(0, words).join(" ");
		if (Object.hasOwn(COMMANDS, name)) return [name, args.slice(words)];
	}
	const names = Object.keys(COMMANDS);
	const asked =
		second?.startsWith("-") === false ? `${first} ${second}` : first;
	const meant =
		names.find((name) => name.startsWith(`${first} `)) ??
		nearest(first, names) ??
		nearest(asked, names);
	throw new UsageError(
		`expected a command (${names.join(", ")}) but got: ${first}${meant ? `; did you mean ${meant}?` : ""}`,
	);
}

async function overview(): Promise<string> {
	const rows = await Promise.all(
		Object.entries(COMMANDS).map(
			async ([name, load]): Promise<[string, string]> => {
				const { usage } = await load();
				return [synopsis(name, usage), usage.summary];
			},
		),
	);
	return [
		"npm run -s corkboard -- COMMAND",
		"",
		...columns(rows),
		"",
		"COMMAND --help says more of one. Settings come from the environment: see README.",
	].join("\n");
}

function reportFailure(error: unknown, io: CommandContext): number {
	if (error instanceof UsageError) {
		io.stderr(`corkboard: ${error.message}`);
		return 2;
	}
	// What went wrong inside is for whoever mends it: with its stack.
	if (error instanceof CorkboardError && error.code !== "INTERNAL") {
		io.stderr(
			error.message
				.split("\n")
				.map((line) => `corkboard: ${line}`)
				.join("\n"),
		);
		return 1;
	}
	const cause = error instanceof CorkboardError ? error.cause : undefined;
	const shown = cause ?? error;
	io.stderr(
		`corkboard: unexpected: ${shown instanceof Error ? (shown.stack ?? shown.message) : String(shown)}`,
	);
	return 1;
}
