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
	type Usage,
	UsageError,
	wrap,
} from "./arguments.ts";
import type { Command, Usages } from "./command.ts";
import {
	type ProcessContext,
	processContext,
	withApp,
} from "./commandContext.ts";
import { terminalText } from "./terminalText.ts";

/** By name. A name of two words belongs to the group that its first word names. */
export const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
	serve: () => import("./commands/serve.ts"),
	worker: () => import("./commands/worker.ts"),
	init: () => import("./commands/init.ts"),
	status: () => import("./commands/status.ts"),
	top: () => import("./commands/top.ts"),
	"grants show": () => import("./commands/grants.ts"),
	import: () => import("./commands/import.ts"),
	verify: () => import("./commands/verify.ts"),
	explain: () => import("./commands/explain.ts"),
	"objects show": () => import("./commands/id.ts"),
	"tokens create": () => import("./commands/token.ts"),
	"accounts show": async () => (await import("./commands/accounts.ts")).show,
	"accounts link": async () => (await import("./commands/accounts.ts")).link,
	"accounts unlink": async () =>
		(await import("./commands/accounts.ts")).unlink,
	"accounts close": async () => (await import("./commands/accounts.ts")).close,
	"accounts reopen": async () =>
		(await import("./commands/accounts.ts")).reopen,
	"objects list": () => import("./commands/list.ts"),
	"schema print": () => import("./commands/schemaPrint.ts"),
	"schema diff": () => import("./commands/schemaDiff.ts"),
	"usage fields": () => import("./commands/usageFields.ts"),
	"usage documents": () => import("./commands/usageDocuments.ts"),
	"documents check": () => import("./commands/documentsCheck.ts"),
	"map check": () => import("./commands/topologyCheck.ts"),
	"map show": () => import("./commands/topologyShow.ts"),
	"map history": () => import("./commands/topologyHistory.ts"),
	"map diff": () => import("./commands/topologyDiff.ts"),
	"map publish": () => import("./commands/topologyPublish.ts"),
	"map rollback": () => import("./commands/topologyRollback.ts"),
	"map wait": () => import("./commands/topologyWait.ts"),
	"shards open": () => import("./commands/topologyOpen.ts"),
	"shards close": () => import("./commands/topologyClose.ts"),
	"shards weigh": () => import("./commands/topologyWeigh.ts"),
	"queues list": () => import("./commands/queueList.ts"),
	"queues stats": () => import("./commands/queueStats.ts"),
	"jobs show": () => import("./commands/queueShow.ts"),
	"jobs list": () => import("./commands/queueScan.ts"),
	"jobs retry": () => import("./commands/queueRetry.ts"),
	"jobs delete": () => import("./commands/queueRemove.ts"),
	"queues pause": () => import("./commands/queuePause.ts"),
	"queues resume": () => import("./commands/queueResume.ts"),
	"queues set": () => import("./commands/queueSet.ts"),
	"queues create": () => import("./commands/queueCreate.ts"),
	"queues delete": () => import("./commands/queueDrop.ts"),
	"queues rotate": () => import("./commands/queueRotate.ts"),
	"queues drain": () => import("./commands/queueDrain.ts"),
	"feeds explain": () => import("./commands/feedExplain.ts"),
	"feeds rebuild": () => import("./commands/feedRebuild.ts"),
	"feeds stats": () => import("./commands/feedStats.ts"),
	"caches list": () => import("./commands/cachesShow.ts"),
	"caches set": () => import("./commands/cachesSet.ts"),
	"hosts check": () => import("./commands/fleetCheck.ts"),
	"shards balance": () => import("./commands/fleetBalance.ts"),
	"hosts accept-loss": () => import("./commands/fleetAccept.ts"),
	"hosts raise-ids": () => import("./commands/idsRaise.ts"),
	"hosts promote": () => import("./commands/promote.ts"),
	"hosts salvage": () => import("./commands/salvage.ts"),
	"replicas add": () => import("./commands/replicaAdd.ts"),
	"replicas remove": () => import("./commands/replicaRemove.ts"),
	"shards move": () => import("./commands/move.ts"),
	"moves show": () => import("./commands/moveStatus.ts"),
	"moves pause": () => import("./commands/movePause.ts"),
	"moves resume": () => import("./commands/moveResume.ts"),
	"moves set": () => import("./commands/moveSet.ts"),
	"moves cut-over": () => import("./commands/moveCutOver.ts"),
	"moves reverse": () => import("./commands/moveReverse.ts"),
	"moves complete": () => import("./commands/moveComplete.ts"),
	"moves cancel": () => import("./commands/moveCancel.ts"),
	"operations list": () => import("./commands/operationsList.ts"),
	"operations resume": () => import("./commands/operationsResume.ts"),
	"operations abort": () => import("./commands/operationsAbort.ts"),
	controller: () => import("./commands/operator.ts"),
	completion: () => import("./commands/completion.ts"),
};

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
		const { folder, args } = takeApp(line);
		const context = withApp(process, folder);
		const [name, rest] = commandIn(args);
		if (name === "version") {
			context.stdout(version());
			return 0;
		}
		if (name === "help") {
			context.stdout(await overview(rest[0]));
			return 0;
		}
		const load = COMMANDS[name];
		if (!load) throw new Error(`no command ${name}`);
		const command = await load();
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
		stderr: (text) => context.stderr(terminalText(text)),
	};
}

/** Every command takes `--app DIR`, anywhere. */
function takeApp(given: readonly string[]): {
	readonly folder: string | undefined;
	readonly args: readonly string[];
} {
	const at = given.findIndex((arg) => /^--app(?:=|$)/.test(arg));
	if (at === -1) return { folder: undefined, args: given };
	const inline = given[at]?.startsWith("--app=");
	const folder = inline ? given[at]?.slice("--app=".length) : given[at + 1];
	if (!folder || (!inline && folder.startsWith("--"))) {
		throw new UsageError("Missing value: --app DIR.");
	}
	return { folder, args: given.toSpliced(at, inline ? 1 : 2) };
}

/** The command, or `version`, or `help` with the group that it is about. */
function commandIn(
	args: readonly string[],
): readonly [name: string, rest: readonly string[]] {
	const [first, second] = args;
	const names = Object.keys(COMMANDS);
	if (first === undefined) {
		throw new UsageError(
			`Missing command. Commands: ${names.join(", ")}. Run --help for details.`,
		);
	}
	if (HELP.includes(first)) {
		const topic = args.slice(1).join(" ");
		return Object.hasOwn(COMMANDS, topic)
			? [topic, ["--help"]]
			: ["help", isGroup(topic) ? [topic] : []];
	}
	if (first === "--version") return ["version", []];
	for (const words of [2, 1]) {
		const name = args.slice(0, words).join(" ");
		if (Object.hasOwn(COMMANDS, name)) return [name, args.slice(words)];
	}
	if (isGroup(first)) {
		if (second !== undefined && HELP.includes(second)) return ["help", [first]];
		throw new UsageError(problemInGroup(first, second));
	}
	const twoWords =
		second?.startsWith("-") === false ? `${first} ${second}` : first;
	const meant = nearest(first, names) ?? nearest(twoWords, names);
	throw new UsageError(
		`Unknown ${first.startsWith("-") ? "option" : "command"} ${first}.${meant ? ` Did you mean ${meant}?` : ""} Commands: ${names.join(", ")}.`,
	);
}

const HELP: readonly string[] = ["--help", "-h", "help"];

function isGroup(word: string): boolean {
	return namesOf(word).length > 0;
}

/** The commands of a group. */
function namesOf(group: string): readonly string[] {
	return Object.keys(COMMANDS).filter((name) => name.startsWith(`${group} `));
}

function problemInGroup(group: string, second: string | undefined): string {
	const names = namesOf(group);
	const commands = `Commands: ${names.join(", ")}.`;
	if (second === undefined) {
		return `Missing command after ${group}. ${commands}`;
	}
	if (second.startsWith("-")) return `Unknown option ${second}. ${commands}`;
	const given = `${group} ${second}`;
	const meant = nearest(given, names);
	return `Unknown command ${given}.${meant ? ` Did you mean ${meant}?` : ""} ${commands}`;
}

async function loadUsages(): Promise<Usages> {
	return new Map(
		await Promise.all(
			Object.entries(COMMANDS).map(
				async ([name, load]): Promise<[string, Usage]> => [
					name,
					(await load()).usage,
				],
			),
		),
	);
}

/** The commands, or those of one group. */
async function overview(group: string | undefined): Promise<string> {
	const rows = [...(await loadUsages())]
		.filter(([name]) => group === undefined || name.startsWith(`${group} `))
		.map(([name, { summary }]): [string, string] => [name, summary]);
	return [
		group === undefined ? "corkboard COMMAND" : `corkboard ${group} COMMAND`,
		"",
		...columns(rows, HELP_COLUMNS),
		"",
		...wrap(
			"COMMAND --help describes one command. --app DIR, or CORKBOARD_APP, names the folder of an app; without it they are about the app that comes with the program. --version prints the version. Settings come from the environment: see docs/reference/configuration.md.",
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
