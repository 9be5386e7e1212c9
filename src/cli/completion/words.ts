import type { Option, Usage } from "../arguments.ts";

/** What may follow some words of a command line. */
interface Completions {
	/** The words so far: "" at the start, `schema`, or a whole command. */
	readonly after: string;
	/** Each with a description of a few words. */
	readonly words: readonly (readonly [word: string, description: string])[];
	readonly options: readonly CompletedOption[];
	/** Whether a file may follow. */
	readonly files: boolean;
	/** What `completion values` prints what may follow of; null: nothing. */
	readonly values: Values | null;
}

/** What only the fleet knows. */
export const VALUES = ["hosts", "queues", "moves", "operations"] as const;
export type Values = (typeof VALUES)[number];

interface CompletedOption {
	/** With its dashes, or its dash. */
	readonly name: string;
	readonly description: string;
	/** Null for a switch; else what may be its value. */
	readonly value: {
		readonly words: readonly string[];
		readonly files: boolean;
		readonly values: Values | null;
	} | null;
}

const HELP: CompletedOption = {
	name: "--help",
	description: "describe it",
	value: null,
};

/** Every command that prints JSON has it. */
const OUTPUT: CompletedOption = {
	name: "-o",
	description: "how to print it",
	value: { words: ["json", "wide"], files: false, values: null },
};

/** What completion offers, from what the commands say that they take. */
export function completionsOf(
	usages: ReadonlyMap<string, Usage>,
): readonly Completions[] {
	const groups = new Map<string, [string, string][]>();
	const top: [string, string][] = [];
	for (const [name, { summary }] of usages) {
		const [first = "", second] = name.split(" ");
		if (second === undefined) {
			top.push([name, summary]);
			continue;
		}
		const group = groups.get(first) ?? [];
		groups.set(first, [...group, [second, summary]]);
	}
	for (const [group, commands] of groups) {
		top.push([group, commands.map(([word]) => word).join(", ")]);
	}
	return [
		{
			after: "",
			words: top,
			options: [
				HELP,
				{ name: "--version", description: "print the version", value: null },
			],
			files: false,
			values: null,
		},
		...[...groups].map(([after, words]) => ({
			after,
			words,
			options: [HELP],
			files: false,
			values: null,
		})),
		...[...usages].map(([after, usage]) => ofCommand(after, usage)),
	];
}

function ofCommand(after: string, usage: Usage): Completions {
	const operands = [...usage.operands, ...(usage.optionalOperands ?? [])];
	const words = operands.flatMap(alternativesIn);
	return {
		after,
		words: words.map((word) => [word, ""]),
		options: [
			...Object.entries(usage.options).map(([name, option]) =>
				completedOption(name, option),
			),
			...(Object.hasOwn(usage.options, "json") ? [OUTPUT] : []),
			HELP,
		],
		files: operands.some(isFile),
		values: operands.map((name) => valuesOf(after, name)).find(Boolean) ?? null,
	};
}

/** What an argument of a command, or the value of an option, is one of. */
function valuesOf(command: string, operand: string): Values | null {
	if (/^(?:HOST|PRIMARY|REPLICA)\b/.test(operand)) return "hosts";
	if (/^QUEUE\b/.test(operand)) return "queues";
	if (operand !== "ID") return null;
	if (command.startsWith("moves ")) return "moves";
	return command.startsWith("operations ") ? "operations" : null;
}

function completedOption(
	name: string,
	{ description, value, values }: Option,
): CompletedOption {
	return {
		name: `--${name}`,
		description,
		value:
			value === undefined
				? null
				: {
						words: values ?? alternativesIn(value),
						files: isFile(value),
						values: valuesOf("", value),
					},
	};
}

/** `bash|zsh` names its values; capitals stand for something. */
function alternativesIn(operand: string): readonly string[] {
	return /^[a-z|]+$/.test(operand) ? operand.split("|") : [];
}

function isFile(operand: string): boolean {
	return /\b(?:FILE|OLD|NEW)\b/.test(operand);
}
