import { parseArgs } from "node:util";
import { didYouMean } from "../util/nearest.ts";

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
}

export interface Option {
	/** The name of the option's value in the help; an option without a value is a switch. */
	readonly value?: string;
	readonly description: string;
}

export interface ParsedArguments {
	readonly operands: readonly string[];
	/** The given values, by option; "" for a switch. */
	readonly options: Readonly<Record<string, string | undefined>>;
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
	for (const token of tokens) {
		if (token.kind === "positional") operands.push(token.value);
		if (token.kind !== "option") continue;
		if (token.name === "help") return "help";
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
	return { operands, options };
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
	const options = Object.entries(usage.options).map(([name, option]) =>
		option.value ? `[--${name} ${option.value}]` : `[--${name}]`,
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
	return [
		`${synopsis(command, usage)}`,
		"",
		usage.summary,
		...(options.length > 0 ? ["", ...columns(options)] : []),
		...(usage.details ? ["", usage.details] : []),
	].join("\n");
}

/** Indented lines of two aligned columns. */
export function columns(
	rows: readonly (readonly [string, string])[],
): readonly string[] {
	const width = Math.max(0, ...rows.map(([left]) => left.length));
	return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}

function optionNames(usage: Usage): readonly string[] {
	return ["--help", ...Object.keys(usage.options).map((name) => `--${name}`)];
}

function quoted(text: string): string {
	return JSON.stringify(text);
}
