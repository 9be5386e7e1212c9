import { setTimeout as sleep } from "node:timers/promises";
import { quoted } from "../util/quoted.ts";
import { type ParsedArguments, type Usage, UsageError } from "./arguments.ts";
import type { CommandContext } from "./commandContext.ts";
import { withWideTables } from "./table.ts";
import { duration, type Kind, text } from "./values.ts";

/**
 * A command as it is declared: what it takes, with types, and what it does.
 * Parsing, help, completion, `--json` and docs/reference/commands.md follow from it.
 */
interface Declaration<A extends Arguments, O extends Options> {
	/** One sentence. */
	readonly summary: string;
	/** In their order. The optional ones are last, all of them or none; a repeated one is the last. */
	readonly arguments?: A;
	/** By their name in code: `dryRun` is `--dry-run`. */
	readonly options?: O;
	/** Whether `--json` prints the value of its result (default: yes). */
	readonly hasJson?: boolean;
	/** Whether `--watch` repeats the output (default: no). */
	readonly isWatched?: boolean;
	/** Further lines of the command's own help. */
	readonly details?: string;
	readonly settings?: Usage["settings"];
	readonly exitCodes?: Usage["exitCodes"];
	/** A number is the exit code, if nothing is left to print. */
	run(
		given: Given<A, O> & { readonly json: boolean; readonly watch?: boolean },
		context: CommandContext,
		usages: () => Promise<Usages>,
	): Promise<Result | number>;
}

/** What each command takes, by its name. */
export type Usages = ReadonlyMap<string, Usage>;

/** The commands of a noun, by their verbs: `cut-over`. */
export type Verbs = Readonly<Record<string, Command>>;

/** The exports of a file in commands/ for a command of one word. */
export interface Command {
	readonly usage: Usage;
	/** Returns the exit code, after everything that the command opened is closed. */
	run(
		given: ParsedArguments,
		context: CommandContext,
		usages: () => Promise<Usages>,
	): Promise<number>;
}

/** What a command prints when it ends: the value with `--json`, else the lines. */
export interface Result {
	/** In the shape that docs/reference/commands-json.md describes. */
	readonly value?: unknown;
	readonly lines: readonly string[];
	/** Lines for stderr, with `--json` too. */
	readonly notes?: readonly string[];
	/** Lines for stderr that say what the value has. */
	readonly hints?: readonly string[];
	/** The exit code; 0 if it is absent. */
	readonly code?: number;
}

export interface Argument<T> {
	readonly takes: Kind<unknown>;
	readonly count: "one" | "optional" | "many";
	/** Only its type is used. */
	readonly of?: T;
}

export interface Option<T> {
	/** Null: a switch. */
	readonly takes: Kind<unknown> | null;
	readonly description: string;
	/** What it is if it is not given. */
	readonly fallback: unknown;
	readonly isRequired?: boolean;
	/** Only its type is used. */
	readonly of?: T;
}

type Arguments = Readonly<Record<string, Argument<unknown>>>;
type Options = Readonly<Record<string, Option<unknown>>>;

/** The values of arguments and options, by name. */
export type Given<A extends Arguments, O extends Options> = {
	readonly [K in keyof A]: A[K] extends Argument<infer T> ? T : never;
} & {
	readonly [K in keyof O]: O[K] extends Option<infer T> ? T : never;
};

/** A name alone: any text. */
type Takes = Kind<unknown> | string;
type Taken<T extends Takes> = T extends Kind<infer Value> ? Value : string;

function kindOf(takes: Takes): Kind<unknown> {
	return typeof takes === "string" ? text(takes) : takes;
}

export function argument<T extends Takes>(takes: T): Argument<Taken<T>> {
	return { takes: kindOf(takes), count: "one" };
}

export function optional<T extends Takes>(
	takes: T,
): Argument<Taken<T> | undefined> {
	return { takes: kindOf(takes), count: "optional" };
}

/** One or more. */
export function many<T extends Takes>(takes: T): Argument<readonly Taken<T>[]> {
	return { takes: kindOf(takes), count: "many" };
}

/** An option without which there is nothing to do. */
export function required<T extends Takes>(
	takes: T,
	description: string,
): Option<Taken<T>> {
	const kind = kindOf(takes);
	return { takes: kind, description, fallback: undefined, isRequired: true };
}

/** A switch: true if it is given. */
export function flag(description: string): Option<boolean> {
	return { takes: null, description, fallback: false };
}

export function option<T extends Takes>(
	takes: T,
	description: string,
): Option<Taken<T> | undefined>;
export function option<T extends Takes>(
	takes: T,
	description: string,
	fallback: Taken<T>,
): Option<Taken<T>>;
export function option(
	takes: Takes,
	description: string,
	fallback?: unknown,
): Option<unknown> {
	return { takes: kindOf(takes), description, fallback };
}

const JSON_FLAG = flag(
	"print JSON, in the shape that docs/reference/commands-json.md describes; -o json is the same",
);

/** How often `--watch` repeats the output. Milliseconds. */
const EVERY_MS = 2_000;

const WATCH_OPTIONS = {
	watch: flag(
		"repeat it until it is interrupted; with --json each time is one line",
	),
	every: option(
		duration(1_000, 60_000),
		"with --watch: how often, 1s to 60s (default 2s)",
	),
};

export const YES = flag("do not ask");

export const DRY_RUN_FLAG = flag(
	"say what would be changed, and change nothing",
);

export function command<
	A extends Arguments = Record<never, never>,
	O extends Options = Record<never, never>,
>({
	run,
	hasJson = true,
	isWatched = false,
	...declaration
}: Declaration<A, O>): Command {
	const options: Options = {
		...declaration.options,
		...(isWatched && WATCH_OPTIONS),
		...(hasJson && { json: JSON_FLAG }),
	};
	const given = (parsed: ParsedArguments) =>
		({
			...argumentsOf(declaration.arguments ?? {}, parsed.operands),
			...optionsOf(options, parsed.options),
		}) as Parameters<typeof run>[0];
	return {
		usage: usageOf({ ...declaration, options }),
		async run(parsed, context, usages) {
			const isJson = parsed.options.json !== undefined;
			const once = () => {
				const body = () => run(given(parsed), context, usages);
				return parsed.isWide ? withWideTables(body) : body();
			};
			if (parsed.options.watch !== undefined && isWatched) {
				return watch(once, parsed, context, isJson);
			}
			if (parsed.options.every !== undefined && isWatched) {
				throw new UsageError("--every needs --watch.");
			}
			const result = await once();
			if (typeof result === "number") return result;
			return print(result, context, isJson);
		},
	};
}

/** Prints the result again and again, until the command is interrupted. */
async function watch(
	once: () => Promise<Result | number>,
	{ options: { every } }: ParsedArguments,
	context: CommandContext,
	isJson: boolean,
): Promise<number> {
	const signal = context.interruptSignal();
	const ms =
		every === undefined
			? EVERY_MS
			: Number(
					read(WATCH_OPTIONS.every.takes as Kind<unknown>, "--every", every),
				);
	for (;;) {
		const result = await once();
		if (typeof result === "number") return result;
		const { value, lines, notes = [], hints = [] } = result;
		context.stdout(
			isJson && value !== undefined
				? JSON.stringify(value)
				: [new Date().toISOString(), ...lines].join("\n"),
		);
		for (const note of isJson ? notes : [...hints, ...notes]) {
			context.stderr(note);
		}
		await sleep(ms, undefined, { signal }).catch(() => {});
		if (signal.aborted) return 0;
	}
}

/** Returns the exit code. */
function print(
	{ value, lines, notes = [], hints = [], code = 0 }: Result,
	context: CommandContext,
	isJson: boolean,
): number {
	if (isJson && value !== undefined)
		context.stdout(JSON.stringify(value, null, "\t"));
	else if (lines.length > 0) context.stdout(lines.join("\n"));
	for (const note of isJson ? notes : [...hints, ...notes]) {
		context.stderr(note);
	}
	return code;
}

function usageOf({
	summary,
	arguments: taken = {},
	options = {},
	details,
	settings,
	exitCodes,
}: Omit<Declaration<Arguments, Options>, "run">): Usage {
	const named = (wanted: readonly Argument<unknown>["count"][]) =>
		Object.values(taken)
			.filter(({ count }) => wanted.includes(count))
			.map(({ takes, count }) =>
				count === "many" ? `${takes.name}…` : takes.name,
			);
	const optionals = named(["optional"]);
	return {
		summary,
		operands: named(["one", "many"]),
		...(optionals.length > 0 && { optionalOperands: optionals }),
		options: Object.fromEntries(
			Object.entries(options).map(
				([name, { takes, description, isRequired }]) => [
					dashed(name),
					{
						description,
						...(isRequired && { isRequired }),
						...(takes !== null && { value: takes.name }),
						...(takes?.values && { values: takes.values }),
					},
				],
			),
		),
		...(details !== undefined && { details }),
		...(settings !== undefined && { settings }),
		...(exitCodes !== undefined && { exitCodes }),
	};
}

function argumentsOf(taken: Arguments, operands: readonly string[]) {
	return Object.fromEntries(
		Object.entries(taken).map(([name, { takes, count }], at) => {
			const texts =
				count === "many" ? operands.slice(at) : operands.slice(at, at + 1);
			const values = texts.map((text) => read(takes, takes.name, text));
			return [name, count === "many" ? values : values[0]];
		}),
	);
}

function optionsOf(options: Options, given: ParsedArguments["options"]) {
	return Object.fromEntries(
		Object.entries(options).map(([name, { takes, fallback }]) => {
			const text = given[dashed(name)];
			if (text === undefined) return [name, fallback];
			return [name, takes === null || read(takes, `--${dashed(name)}`, text)];
		}),
	);
}

/** Throws UsageError: the value is not what is expected of it. */
function read(kind: Kind<unknown>, name: string, text: string): unknown {
	const value = kind.read(text);
	if (value !== undefined) return value;
	throw new UsageError(
		`${name} must be ${kind.expected}, got ${quoted(text)}.`,
	);
}

/** `dryRun` is `dry-run`. */
function dashed(name: string): string {
	return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
