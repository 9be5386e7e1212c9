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

/** The exports of a file in commands/. */
export interface Command {
	readonly usage: Usage;
	/** Returns the exit code, after everything that the command opened is closed. */
	run(given: ParsedArguments, context: CommandContext): Promise<number>;
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
	list: () => import("./commands/list.ts"),
	"schema print": () => import("./commands/schemaPrint.ts"),
	"documents check": () => import("./commands/documentsCheck.ts"),
	"topology check": () => import("./commands/topologyCheck.ts"),
};

/** Runs this process's command line. `launch.mjs` calls it. */
export async function start(): Promise<void> {
	process.exitCode = await main(process.argv.slice(2), processContext());
	// The channel to the primary would keep a finished worker running.
	cluster.worker?.disconnect();
}

/** Runs one command line. Returns its exit code: 0, 1 for an error, 2 for a command line that is not valid. */
export async function main(
	args: readonly string[],
	context: CommandContext,
): Promise<number> {
	try {
		const [name, rest] = commandIn(args);
		if (name === "help") {
			context.stdout(await overview());
			return 0;
		}
		const load = COMMANDS[name];
		if (!load) throw new Error(`no command ${name}`);
		const command = await load();
		const given = parseArguments(name, command.usage, rest);
		if (given === "help") {
			context.stdout(help(name, command.usage));
			return 0;
		}
		return await command.run(given, context);
	} catch (error) {
		return reportFailure(error, context);
	}
}

function commandIn(
	args: readonly string[],
): readonly [name: string, rest: readonly string[]] {
	const [first, second] = args;
	if (first === undefined) {
		throw new UsageError(
			`Missing command. Commands: ${Object.keys(COMMANDS).join(", ")}. Run --help for details.`,
		);
	}
	if (["--help", "-h", "help"].includes(first)) return ["help", []];
	for (const words of [2, 1]) {
		const name = args.slice(0, words).join(" ");
		if (Object.hasOwn(COMMANDS, name)) return [name, args.slice(words)];
	}
	const names = Object.keys(COMMANDS);
	const twoWords =
		second?.startsWith("-") === false ? `${first} ${second}` : first;
	const meant =
		names.find((name) => name.startsWith(`${first} `)) ??
		nearest(first, names) ??
		nearest(twoWords, names);
	throw new UsageError(
		`Unknown command ${first}.${meant ? ` Did you mean ${meant}?` : ""} Commands: ${names.join(", ")}.`,
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
		"COMMAND --help describes one command. Settings come from the environment: see docs/configuration.md.",
	].join("\n");
}

function reportFailure(error: unknown, context: CommandContext): number {
	if (error instanceof UsageError) {
		context.stderr(`corkboard: ${error.message}`);
		return 2;
	}
	// An error that nobody expected is printed with its stack, for its repair.
	if (error instanceof CorkboardError && error.code !== "INTERNAL") {
		context.stderr(
			error.message
				.split("\n")
				.map((line) => `corkboard: ${line}`)
				.join("\n"),
		);
		return 1;
	}
	const cause = error instanceof CorkboardError ? error.cause : undefined;
	const shown = cause ?? error;
	context.stderr(
		`corkboard: unexpected error: ${shown instanceof Error ? (shown.stack ?? shown.message) : String(shown)}`,
	);
	return 1;
}
