/** A command line that a program does not take. Its usage is printed beside it, and it ends with 2. */
export class UsageError extends Error {}

/** One of several programs behind an npm script. */
export interface NamedProgram {
	readonly about: string;
	readonly load: () => Promise<LoadedProgram>;
}

/** A module that does its work when it is loaded has neither. */
interface LoadedProgram {
	readonly usage?: string;
	/** Returns the exit code. */
	readonly run?: (args: readonly string[]) => Promise<number>;
}

/** Runs what the first argument names, the first of all without one, and ends this process with its exit code. */
export async function runNamedProgram(
	script: string,
	programs: Readonly<Record<string, NamedProgram>>,
): Promise<never> {
	const names = [
		`npm run ${script} -- NAME [options]; the first where none is named; NAME --help:`,
		...Object.entries(programs).map(
			([name, { about }]) => `  ${name.padEnd(12)}${about}`,
		),
	].join("\n");
	let shown = names;
	let exitCode: number;
	try {
		const [program, args, isNamed] = chosen(programs, process.argv.slice(2));
		process.argv.splice(2, Number.POSITIVE_INFINITY, ...args);
		const { usage, run } = await program.load();
		shown = usage ?? names;
		if (run !== undefined && args.includes("--help")) {
			console.log(isNamed ? shown : `${shown}\n\n${names}`);
			exitCode = 0;
		} else {
			exitCode = (await run?.(args)) ?? Number(process.exitCode ?? 0);
		}
	} catch (error) {
		const isUsage =
			error instanceof UsageError ||
			// The code of a program that failed is a number.
			String((error as NodeJS.ErrnoException).code).startsWith(
				"ERR_PARSE_ARGS",
			);
		console.error(isUsage ? `${(error as Error).message}\n\n${shown}` : error);
		exitCode = isUsage ? 2 : 1;
	}
	// Everything is closed. What a failed start left behind must not keep the terminal waiting.
	process.exit(exitCode);
}

function chosen(
	programs: Readonly<Record<string, NamedProgram>>,
	args: readonly string[],
): readonly [NamedProgram, readonly string[], isNamed: boolean] {
	const [name = "", ...rest] = args;
	const [standard] = Object.values(programs);
	if ((name === "" || name.startsWith("-")) && standard !== undefined) {
		return [standard, args, false];
	}
	const program = programs[name];
	if (program === undefined) {
		throw new UsageError(`There is nothing called ${name}.`);
	}
	return [program, rest, true];
}

/** The number of an option, or the standard one where it was not given. */
export function numberOf(
	option: string,
	text: string | undefined,
	standard: number,
	least = 0,
): number {
	if (text === undefined) return standard;
	const value = Number(text);
	if (text.trim() !== "" && Number.isFinite(value) && value >= least) {
		return value;
	}
	throw new UsageError(
		`--${option} must be a number of at least ${least}, got ${text}.`,
	);
}

/** As `numberOf`, for what is counted. */
export function countOf(
	option: string,
	text: string | undefined,
	standard: number,
	least = 0,
): number {
	const value = numberOf(option, text, standard, least);
	if (Number.isInteger(value)) return value;
	throw new UsageError(`--${option} must be a whole number, got ${text}.`);
}
