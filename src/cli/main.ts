import cluster from "node:cluster";
import { readFileSync } from "node:fs";
import { CorkboardError } from "../errors.ts";
import { nearest } from "../util/nearest.ts";
import { reasonOf } from "../util/reasonOf.ts";
import {
	columns,
	HELP_COLUMNS,
	help,
	parseArguments,
	UsageError,
	wrap,
} from "./arguments.ts";
import type { Command, Usages, Verbs } from "./command.ts";
import {
	type CommandContext,
	type ProcessContext,
	processContext,
	withApp,
} from "./commandContext.ts";
import { terminalText } from "./terminalText.ts";

/** Commands of one word: daemons, and work on the whole graph. Each file exports a command. */
const WORDS: Readonly<Record<string, () => Promise<Command>>> = {
	serve: () => import("./commands/serve.ts"),
	worker: () => import("./commands/worker.ts"),
	controller: () => import("./commands/controller.ts"),
	init: () => import("./commands/init.ts"),
	status: () => import("./commands/status.ts"),
	top: () => import("./commands/top.ts"),
	import: () => import("./commands/import.ts"),
	dump: () => import("./commands/dump.ts"),
	restore: () => import("./commands/restore.ts"),
	verify: () => import("./commands/verify.ts"),
	explain: () => import("./commands/explain.ts"),
	completion: () => import("./commands/completion.ts"),
};

/** Commands of two words, by the noun. Each file exports its verbs, in the order of the help. */
const NOUNS: Readonly<
	Record<string, () => Promise<{ readonly verbs: Verbs }>>
> = {
	schema: () => import("./commands/schema.ts"),
	documents: () => import("./commands/documents.ts"),
	usage: () => import("./commands/usage.ts"),
	map: () => import("./commands/map.ts"),
	shards: () => import("./commands/shards.ts"),
	migrate: () => import("./commands/migrate.ts"),
	moves: () => import("./commands/moves.ts"),
	hosts: () => import("./commands/hosts.ts"),
	replicas: () => import("./commands/replicas.ts"),
	operations: () => import("./commands/operations.ts"),
	queues: () => import("./commands/queues.ts"),
	jobs: () => import("./commands/jobs.ts"),
	feeds: () => import("./commands/feeds.ts"),
	caches: () => import("./commands/caches.ts"),
	changes: () => import("./commands/changes.ts"),
	objects: () => import("./commands/objects.ts"),
	accounts: () => import("./commands/accounts.ts"),
	tokens: () => import("./commands/tokens.ts"),
	grants: () => import("./commands/grants.ts"),
};

/** All commands, by name: `serve`, `queues list`. */
export async function loadCommands(): Promise<ReadonlyMap<string, Command>> {
	const words = Object.entries(WORDS).map(
		async ([name, load]): Promise<readonly [string, Command][]> => [
			[name, await load()],
		],
	);
	return new Map(
		(await Promise.all([...words, ...Object.keys(NOUNS).map(ofNoun)])).flat(),
	);
}

/** The commands of a noun. */
async function ofNoun(noun: string): Promise<readonly [string, Command][]> {
	const found = await NOUNS[noun]?.();
	return Object.entries(found?.verbs ?? {}).map(([verb, one]) => [
		`${noun} ${verb}`,
		one,
	]);
}

/** Runs this process's command line. `launch.mjs` calls it. */
export async function start(): Promise<void> {
	process.exitCode = await main(process.argv.slice(2), processContext());
	// The channel to the primary would keep a finished worker running.
	cluster.worker?.disconnect();
}

/** Runs one command line. Returns its exit code: 0, 1 for an error, 2 for a command line that is not valid; docs/reference/commands.md lists those of single commands. */
export async function main(
	line: readonly string[],
	given: ProcessContext,
): Promise<number> {
	const process = withSafeOutput(given);
	try {
		const app = takeEverywhere(line, "app", "DIR");
		const map = takeEverywhere(app.args, "topology", "FILE|URL");
		const { args } = map;
		const context = withApp(
			{
				...process,
				...(map.taken !== undefined && {
					env: {
						...process.env,
						CORKBOARD_DATA: undefined,
						CORKBOARD_TOPOLOGY: map.taken,
					},
				}),
			},
			app.taken,
		);
		const named = app.taken ?? process.env.CORKBOARD_APP;
		const hidden = named === undefined ? [] : await hiddenIn(context);
		const asked = await commandIn(args, hidden);
		if (typeof asked === "string") {
			context.stdout(asked);
			return 0;
		}
		const { name, command, rest } = asked;
		const parsed = parseArguments(name, command.usage, rest);
		if (parsed === "help") {
			context.stdout(help(name, command.usage));
			return 0;
		}
		return await command.run(parsed, context, loadUsages);
	} catch (error) {
		return reportFailure(error, process);
	}
}

/** Commands print what others wrote: names, error messages, lines of files. None of it may steer the terminal. */
function withSafeOutput(context: ProcessContext): ProcessContext {
	return {
		...context,
		stdout: (text) => context.stdout(terminalText(text)),
		print: (text) => context.print(terminalText(text)),
		stderr: (text) => context.stderr(terminalText(text)),
	};
}

/** Every command takes `--app DIR` and `--topology FILE|URL`, anywhere. */
function takeEverywhere(
	given: readonly string[],
	name: string,
	value: string,
): { readonly taken: string | undefined; readonly args: readonly string[] } {
	const at = given.findIndex(
		(arg) => arg === `--${name}` || arg.startsWith(`--${name}=`),
	);
	if (at === -1) return { taken: undefined, args: given };
	const inline = given[at]?.startsWith(`--${name}=`);
	const taken = inline ? given[at]?.slice(`--${name}=`.length) : given[at + 1];
	if (!taken || (!inline && taken.startsWith("--"))) {
		throw new UsageError(`Missing value: --${name} ${value}.`);
	}
	return { taken, args: given.toSpliced(at, inline ? 1 : 2) };
}

interface Asked {
	readonly name: string;
	readonly command: Command;
	/** What follows the name. */
	readonly rest: readonly string[];
}

/** The command that a line asks for; or the text that answers it: the version, or the help of a noun or of all. Throws UsageError. */
async function commandIn(
	args: readonly string[],
	hidden: readonly string[],
): Promise<Asked | string> {
	const [first, second] = args;
	if (first === undefined) {
		throw new UsageError(
			`Missing command. ${await listed(hidden)} Run --help for details.`,
		);
	}
	if (HELP.includes(first)) {
		const [noun = "", verb] = args.slice(1);
		if (Object.hasOwn(WORDS, noun) || (isNoun(noun) && verb !== undefined)) {
			return commandIn([...args.slice(1), "--help"], hidden);
		}
		return overview(hidden, isNoun(noun) ? noun : undefined);
	}
	if (first === "--version") return version();
	if (Object.hasOwn(WORDS, first)) {
		const command = await WORDS[first]?.();
		if (command) return { name: first, command, rest: args.slice(1) };
	}
	if (hidden.includes(first)) {
		throw new UsageError(
			`Unknown command ${first}: this app has no such part. ${await listed(hidden)}`,
		);
	}
	if (isNoun(first)) {
		if (second !== undefined && HELP.includes(second))
			return overview(hidden, first);
		const name = `${first} ${second}`;
		const command = new Map(await ofNoun(first)).get(name);
		if (command) return { name, command, rest: args.slice(2) };
		throw new UsageError(await problemInNoun(first, second));
	}
	const names = await namesOf(hidden);
	const twoWords =
		second?.startsWith("-") === false ? `${first} ${second}` : first;
	const meant = nearest(first, names) ?? nearest(twoWords, names);
	throw new UsageError(
		first.startsWith("-")
			? `Unknown option ${first}. Options come after the command. ${await listed(hidden)}`
			: `Unknown command ${first}.${meant ? ` Did you mean ${meant}?` : ""} ${await listed(hidden)}`,
	);
}

const HELP: readonly string[] = ["--help", "-h", "help"];

function isNoun(word: string): boolean {
	return Object.hasOwn(NOUNS, word);
}

/** The nouns whose part this app does not have. None if the app cannot be read: the command says why. */
async function hiddenIn(context: CommandContext): Promise<readonly string[]> {
	try {
		return (await context.app()).feedModel === null ? ["feeds"] : [];
	} catch {
		return [];
	}
}

async function namesOf(hidden: readonly string[]): Promise<readonly string[]> {
	return [...(await loadCommands()).keys()].filter(
		(name) => !hidden.includes(nounOf(name)),
	);
}

function nounOf(command: string): string {
	return command.split(" ")[0] as string;
}

/** `Commands: serve, …, queues, jobs.`; of a noun `Commands: queues list, queues stats.` */
async function listed(
	hidden: readonly string[],
	noun?: string,
): Promise<string> {
	const names =
		noun === undefined
			? new Set((await namesOf(hidden)).map(nounOf))
			: (await ofNoun(noun)).map(([name]) => name);
	return `Commands: ${[...names].join(", ")}.`;
}

async function problemInNoun(
	noun: string,
	verb: string | undefined,
): Promise<string> {
	const commands = await listed([], noun);
	if (verb === undefined) return `Missing command after ${noun}. ${commands}`;
	if (verb.startsWith("-")) return `Unknown option ${verb}. ${commands}`;
	const given = `${noun} ${verb}`;
	const names = (await ofNoun(noun)).map(([name]) => name);
	const meant = nearest(given, names);
	return `Unknown command ${given}.${meant ? ` Did you mean ${meant}?` : ""} ${commands}`;
}

async function loadUsages(): Promise<Usages> {
	return new Map(
		[...(await loadCommands())].map(([name, { usage }]) => [name, usage]),
	);
}

/** The commands, or those of one noun. */
async function overview(
	hidden: readonly string[],
	noun: string | undefined,
): Promise<string> {
	const rows = [...(await loadUsages())]
		.filter(([name]) => !hidden.includes(nounOf(name)))
		.filter(([name]) => noun === undefined || name.startsWith(`${noun} `))
		.map(([name, { summary }]): [string, string] => [name, summary]);
	return [
		noun === undefined ? "corkboard COMMAND" : `corkboard ${noun} COMMAND`,
		"",
		...columns(rows, HELP_COLUMNS),
		"",
		...wrap(
			"COMMAND --help describes one command, NOUN --help those of a noun. -o json, or --json, prints JSON, and -o wide does not cut tables at 100 columns. --topology FILE|URL, or CORKBOARD_TOPOLOGY, names the fleet. --app DIR, or CORKBOARD_APP, names the folder of an app; without it they are about the app that comes with the program. --version prints the version. Settings come from the environment: see docs/reference/configuration.md.",
		),
	].join("\n");
}

function version(): string {
	const file = new URL("../../package.json", import.meta.url);
	return JSON.parse(readFileSync(file, "utf8")).version;
}

function reportFailure(error: unknown, context: ProcessContext): number {
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
		`corkboard: unexpected error: ${(shown instanceof Error ? shown.stack : undefined) ?? reasonOf(shown)}`,
	);
	return 1;
}
