import { parseArgs } from "node:util";
import { didYouMean } from "../util/nearest.ts";
import { quoted } from "../util/quoted.ts";

/** The arguments of a command: its help prints them, and command lines are checked against them. */
export interface Usage {
	/** One sentence. */
	readonly summary: string;
	/** Required arguments: `["FILE|-"]`. The last may be repeatable: `["FILE…"]`. */
	readonly operands: readonly string[];
	/** Further arguments, all of them or none. */
	readonly optionalOperands?: readonly string[];
	readonly options: Readonly<Record<string, Option>>;
	/** Further lines of the command's own help. */
	readonly details?: string;
	/** Settings, each with what it may be and its default, for --help. */
	readonly settings?: readonly (readonly [string, string])[];
	/** What exit codes mean beside 0 (done), 1 (an error) and 2 (the command line is not valid), or what 1 means besides. */
	readonly exitCodes?: Readonly<Record<number, string>>;
}

/** Exit codes of a command that ends what it does when it is interrupted. */
export const INTERRUPTED = {
	130: "interrupted by SIGINT",
	143: "interrupted by SIGTERM",
} as const;

export function codeOfInterrupt({ reason }: AbortSignal): 130 | 143 {
	return reason === "SIGTERM" ? 143 : 130;
}

/** What exit code 3 says of usage. */
export const INCOMPLETE =
	"with --unused: not every day of the period was recorded, so more may be in use";

export interface Option {
	/** The name of the option's value in the help; an option without a value is a switch. */
	readonly value?: string;
	/** All values that it may have, for completion. */
	readonly values?: readonly string[];
	readonly description: string;
	readonly isRequired?: boolean;
}

export interface ParsedArguments {
	readonly operands: readonly string[];
	/** The given values, by option; "" for a switch. */
	readonly options: Readonly<Record<string, string | undefined>>;
	/** Whether tables may be wider than a terminal. */
	readonly isWide: boolean;
}

/** The command line is not valid: exit code 2. */
export class UsageError extends Error {
	override readonly name = "UsageError";
}

export function parseArguments(
	command: string,
	usage: Usage,
	args: readonly string[],
): ParsedArguments | "help" {
	const { tokens } = parseArgs({
		args: [...args],
		strict: false,
		allowPositionals: true,
		tokens: true,
		options: {
			help: { type: "boolean", short: "h" },
			output: { type: "string", short: "o" },
			...Object.fromEntries(
				Object.entries(usage.options).map(([name, option]) => [
					name,
					{ type: option.value ? ("string" as const) : ("boolean" as const) },
				]),
			),
		},
	});
	const operands: string[] = [];
	const options: Record<string, string> = {};
	let isWide = false;
	for (const token of tokens) {
		if (token.kind === "positional") operands.push(token.value);
		if (token.kind !== "option") continue;
		if (token.name === "help") return "help";
		if (token.name === "output" && Object.hasOwn(usage.options, "json")) {
			const format = optionValue(token, {
				value: "json|wide",
				description: "",
			});
			if (format === "json") options.json = "";
			else if (format === "wide") isWide = true;
			else {
				throw new UsageError(
					`${token.rawName} must be json or wide, got ${quoted(format)}.`,
				);
			}
			continue;
		}
		const option = Object.hasOwn(usage.options, token.name)
			? usage.options[token.name]
			: undefined;
		if (!option) {
			throw new UsageError(
				`Unknown option ${token.rawName}.${didYouMean(token.rawName, optionNames(usage))} Usage: ${synopsis(command, usage)}`,
			);
		}
		options[token.name] = optionValue(token, option);
	}
	checkOperands(command, usage, operands);
	for (const [name, { value, description, isRequired }] of Object.entries(
		usage.options,
	)) {
		if (!isRequired || options[name] !== undefined) continue;
		throw new UsageError(`Missing option --${name} ${value}: ${description}.`);
	}
	return { operands, options, isWide };
}

function checkOperands(
	command: string,
	usage: Usage,
	given: readonly string[],
): void {
	const required = usage.operands.length;
	const names = [...usage.operands, ...(usage.optionalOperands ?? [])];
	const isRepeatable = usage.operands.at(-1)?.endsWith("…") === true;
	if (
		given.length === required ||
		given.length === names.length ||
		(isRepeatable && given.length > required)
	) {
		return;
	}
	const problem =
		given.length < names.length
			? `Missing argument ${names[given.length]}.`
			: `Unexpected argument ${quoted(given[names.length] ?? "")}.`;
	throw new UsageError(`${problem} Usage: ${synopsis(command, usage)}`);
}

function optionValue(
	token: {
		readonly rawName: string;
		readonly value?: string | undefined;
		readonly inlineValue?: boolean | undefined;
	},
	option: Option,
): string {
	if (!option.value) {
		if (token.value === undefined) return "";
		throw new UsageError(
			`Option ${token.rawName} takes no value, got ${quoted(token.value)}.`,
		);
	}
	// A value that looks like an option is more likely the next option.
	const isMissing =
		token.value === undefined ||
		(!token.inlineValue && token.value.startsWith("--"));
	if (isMissing) {
		throw new UsageError(`Missing value: ${token.rawName} ${option.value}.`);
	}
	return token.value ?? "";
}

export function synopsis(command: string, usage: Usage): string {
	const options = Object.entries(usage.options).map(
		([name, { value, isRequired }]) => {
			const text = value ? `--${name} ${value}` : `--${name}`;
			return isRequired ? text : `[${text}]`;
		},
	);
	const optional = usage.optionalOperands
		? [`[${usage.optionalOperands.join(" ")}]`]
		: [];
	return [command, ...usage.operands, ...optional, ...options].join(" ");
}

export function help(command: string, usage: Usage): string {
	const options = Object.entries(usage.options).map(
		([name, option]): [string, string] => [
			option.value ? `--${name} ${option.value}` : `--${name}`,
			option.description,
		],
	);
	const exitCodes = Object.entries(usage.exitCodes ?? {});
	return [
		...wrap(synopsis(command, usage), "    "),
		"",
		...wrap(usage.summary),
		...(options.length > 0 ? ["", ...columns(options, HELP_COLUMNS)] : []),
		...(usage.details
			? ["", ...usage.details.split("\n").flatMap((line) => wrap(line))]
			: []),
		...(usage.settings
			? [
					"",
					"Settings, in the environment (docs/reference/configuration.md says more):",
					...columns(usage.settings, HELP_COLUMNS),
				]
			: []),
		...(exitCodes.length > 0
			? ["", "Exit codes:", ...columns(exitCodes, HELP_COLUMNS)]
			: []),
	].join("\n");
}

/** The width of a line of help. */
export const HELP_COLUMNS = 100;

/** Indented lines of two aligned columns. The right one is wrapped where `width` says how wide a line may be. */
export function columns(
	rows: readonly (readonly [string, string])[],
	width = Number.POSITIVE_INFINITY,
): readonly string[] {
	const left = Math.max(0, ...rows.map(([text]) => text.length));
	return rows.flatMap(([name, text]) =>
		wrap(`  ${name.padEnd(left)}  ${text}`, " ".repeat(left + 4), width),
	);
}

/** A text in lines of at most `width` characters, broken between words. All but the first start with `indent`. */
export function wrap(
	text: string,
	indent = "",
	width = HELP_COLUMNS,
): readonly string[] {
	const lines: string[] = [];
	let rest = text;
	while (rest.length > width) {
		const space = rest.lastIndexOf(" ", width);
		// A word that is longer than a line stays whole.
		const end =
			space > indent.length ? space : rest.indexOf(" ", indent.length + 1);
		if (end < 0) break;
		lines.push(rest.slice(0, end).trimEnd());
		rest = indent + rest.slice(end).trimStart();
	}
	return [...lines, rest];
}

function optionNames(usage: Usage): readonly string[] {
	return ["--help", ...Object.keys(usage.options).map((name) => `--${name}`)];
}
