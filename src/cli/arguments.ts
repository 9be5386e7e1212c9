import { parseArgs } from "node:util";
import { didYouMean } from "../util/nearest.ts";

/** How a command is called: what its help prints and its arguments are checked against. */
export interface Usage {
	/** One sentence. */
	readonly summary: string;
	/** What follows the options, all of it required: `["FILE|-"]`. The last may be given several times: `["FILE…"]`. */
	readonly operands: readonly string[];
	/** What may follow them, all of it or nothing. */
	readonly optionalOperands?: readonly string[];
	readonly options: Readonly<Record<string, Option>>;
	/** Further lines for the command's own help. */
	readonly details?: string;
}

export interface Option {
	/** What the option's value is called in the help; an option without one is a switch. */
	readonly value?: string;
	readonly description: string;
}

export interface ParsedArguments {
	readonly operands: readonly string[];
	/** The values given, by option; a switch that was given is "". */
	readonly options: Readonly<Record<string, string | undefined>>;
}

/** The command line was not understood: exit 2. */
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
				`expected: ${synopsis(command, usage)} but got: ${token.rawName}${didYouMean(token.rawName, optionNames(usage))}`,
			);
		}
		options[token.name] = optionValue(token, option);
	}
	const counts = [usage.operands, allOperands(usage)].map(
		({ length }) => length,
	);
	const isOpen = usage.operands.at(-1)?.endsWith("…") === true;
	if (
		!counts.includes(operands.length) &&
		!(isOpen && operands.length > usage.operands.length)
	) {
		throw new UsageError(
			`expected: ${synopsis(command, usage)} but got ${operands.length === 0 ? "nothing" : operands.map(quoted).join(" ")} where ${allOperands(usage).join(" ") || "nothing"} belongs`,
		);
	}
	return { operands, options };
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
			`${token.rawName} takes no value but got: ${quoted(token.value)}`,
		);
	}
	// A value that looks like an option is more likely one that was forgotten.
	const forgotten =
		token.value === undefined ||
		(!token.inlineValue && token.value.startsWith("--"));
	if (forgotten) {
		throw new UsageError(
			`expected ${token.rawName} ${option.value} but got no ${option.value}`,
		);
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

function allOperands({
	operands,
	optionalOperands: optional = [],
}: Usage): readonly string[] {
	return [...operands, ...optional];
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

/** Lines of two columns, indented, the second of them aligned. */
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
