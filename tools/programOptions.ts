import { parseArgs } from "node:util";
import { countOf, numberOf, UsageError } from "./namedProgram.ts";

/** An option of a program behind an npm script: how it is read, and what its help says. */
export interface ProgramOption<Value> {
	/** What stands for its value in the help; null: it takes none. */
	readonly placeholder: string | null;
	readonly about: string;
	/** `given`: as it was written; undefined: it was not. Throws UsageError. */
	read(name: string, given: string | undefined): Value;
}

export type ProgramOptions = Readonly<Record<string, ProgramOption<unknown>>>;

/** The values of options, by name. */
export type Given<Options extends ProgramOptions> = {
	readonly [Name in keyof Options]: Options[Name] extends ProgramOption<
		infer Value
	>
		? Value
		: never;
};

interface Bounds {
	readonly standard: number;
	readonly least: number;
	/** The default is `standard`, and the help does not say it. */
	readonly isUnsaid?: boolean;
}

export function count(
	about: string,
	bounds: Bounds,
	placeholder = "N",
): ProgramOption<number> {
	return {
		placeholder,
		about: withDefault(about, bounds),
		read: (name, given) => countOf(name, given, bounds.standard, bounds.least),
	};
}

export function number(
	about: string,
	bounds: Bounds,
	placeholder = "N",
): ProgramOption<number> {
	return {
		placeholder,
		about: withDefault(about, bounds),
		read: (name, given) => numberOf(name, given, bounds.standard, bounds.least),
	};
}

export function flag(about: string): ProgramOption<boolean> {
	return {
		placeholder: null,
		about,
		read: (_, given) => given !== undefined,
	};
}

export function text(
	about: string,
	placeholder: string,
): ProgramOption<string | null> {
	return { placeholder, about, read: (_, given) => given ?? null };
}

/** One of several words; the first is the default. */
export function choice<Word extends string>(
	about: string,
	words: readonly [Word, ...Word[]],
): ProgramOption<Word> {
	const [standard] = words;
	return {
		placeholder: "NAME",
		about: `${about}: ${words.join(" or ")} (default ${standard})`,
		read(name, given = standard) {
			const word = words.find((one) => one === given);
			if (word !== undefined) return word;
			throw new UsageError(
				`--${name} must be ${words.join(" or ")}, got ${given}.`,
			);
		},
	};
}

/** Throws UsageError, or what `parseArgs` throws, for a command line that they do not take. */
export function readProgramOptions<Options extends ProgramOptions>(
	options: Options,
	args: readonly string[],
): Given<Options> {
	const { values } = parseArgs({
		args: [...args],
		options: Object.fromEntries(
			Object.entries(options).map(([name, { placeholder }]) => [
				flagOf(name),
				{ type: placeholder === null ? "boolean" : "string" } as const,
			]),
		),
	});
	return Object.fromEntries(
		Object.entries(options).map(([name, option]) => {
			const given = values[flagOf(name)];
			return [
				name,
				option.read(
					flagOf(name),
					given === undefined ? undefined : String(given),
				),
			];
		}),
	) as Given<Options>;
}

/** A line for each option. */
export function optionLines(options: ProgramOptions): readonly string[] {
	const rows = Object.entries(options).map(
		([name, { placeholder, about }]): readonly [string, string] => [
			`--${flagOf(name)}${placeholder === null ? "" : ` ${placeholder}`}`,
			about,
		],
	);
	const width = Math.max(...rows.map(([left]) => left.length));
	return rows.map(([left, about]) => `  ${left.padEnd(width)}  ${about}`);
}

/** `storeFaults` is `--store-faults`. */
function flagOf(name: string): string {
	return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function withDefault(about: string, { standard, isUnsaid }: Bounds): string {
	return isUnsaid === true ? about : `${about} (default ${standard})`;
}
