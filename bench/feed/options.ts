import { parseArgs } from "node:util";
import { UsageError } from "../../tools/namedProgram.ts";
import { PART_NAMES, PARTS, type PartName } from "./results.ts";

export interface Options {
	readonly parts: readonly PartName[];
	/** An import file; null: a graph is generated. */
	readonly graph: string | null;
	/** The scale of the generated graph. */
	readonly scale: number;
	/** The length of each measurement that runs for a time. */
	readonly seconds: number;
	/** Pins a second of `lag`. */
	readonly rates: readonly number[];
	/** Users whose pages are read, and whose looks are timed. */
	readonly lookers: number;
	/** Users of `bytes`. */
	readonly sized: number;
	/** Pins of each point of `limit`. */
	readonly pins: number;
	readonly limits: readonly number[];
	readonly out: string | null;
	readonly json: boolean;
}

export const USAGE = `usage: npm run bench -- feed [options]

  --quick           a minute: few users, short measurements
  --parts NAMES     separated by commas: ${PART_NAMES.join(" ")}
  --graph FILE      an import file with users, boards, pins and follows
  --scale N         without a file: of the generated graph (default 0.2, 2,000 users; quick 0.01)
  --seconds N       of each measurement that runs for a time (default 30; quick 2)
  --rates LIST      pins a second of lag (default 50,100,200; quick 20)
  --limits LIST     push limits (default 0,100,1000,5000,1000000; quick 0,1000000)
  --out FILE        where the results go as JSON
  --json            print the results as JSON instead of tables

${PART_NAMES.map((name) => `  ${name.padEnd(6)} ${PARTS[name]}`).join("\n")}`;

export function readOptions(args: readonly string[]): Options {
	const { values } = parse(args);
	const quick = values.quick === true;
	const parts = (values.parts ?? PART_NAMES.join()).split(",");
	const unknown = parts.filter((name) => !Object.hasOwn(PARTS, name));
	if (unknown.length > 0) {
		throw new UsageError(
			`--parts knows no ${unknown.join(", ")}. Known: ${PART_NAMES.join(" ")}.`,
		);
	}
	return {
		parts: PART_NAMES.filter((name) => parts.includes(name)),
		graph: values.graph ?? null,
		scale: numbersOf("scale", values.scale, [quick ? 0.01 : 0.2])[0] as number,
		seconds: numbersOf("seconds", values.seconds, [
			quick ? 2 : 30,
		])[0] as number,
		rates: numbersOf("rates", values.rates, quick ? [20] : [50, 100, 200]),
		lookers: quick ? 40 : 500,
		sized: quick ? 40 : 400,
		pins: quick ? 20 : 400,
		limits: numbersOf(
			"limits",
			values.limits,
			quick ? [0, 1_000_000] : [0, 100, 1_000, 5_000, 1_000_000],
		),
		out: values.out ?? null,
		json: values.json === true,
	};
}

function parse(args: readonly string[]) {
	return parseArgs({
		args: [...args],
		options: {
			quick: { type: "boolean" },
			parts: { type: "string" },
			graph: { type: "string" },
			scale: { type: "string" },
			seconds: { type: "string" },
			rates: { type: "string" },
			limits: { type: "string" },
			out: { type: "string" },
			json: { type: "boolean" },
		},
	});
}

function numbersOf(
	name: string,
	text: string | undefined,
	otherwise: readonly number[],
): readonly number[] {
	if (text === undefined) return otherwise;
	const numbers = text.split(",").map(Number);
	if (numbers.every((number) => Number.isFinite(number) && number >= 0)) {
		return numbers;
	}
	throw new UsageError(
		`--${name} must be numbers from 0 on, separated by commas, got ${text}.`,
	);
}
