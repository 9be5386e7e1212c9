import { parseArgs } from "node:util";
import { numberOf, UsageError } from "../tools/namedProgram.ts";
import { VARIANT_NAMES, type VariantName } from "./variants.ts";

export const SECTION_NAMES = [
	"reads",
	"hot",
	"many",
	"cold",
	"misses",
	"pages",
	"writes",
	"durable",
	"hotBoard",
	"mix",
	"import",
] as const;
export type SectionName = (typeof SECTION_NAMES)[number];

export interface Options {
	/** After which no round begins. */
	readonly minutes: number;
	/** The length of the mixed load before the first round, over all servers. */
	readonly warmMinutes: number;
	/** The length of one measurement. */
	readonly seconds: number;
	/** Most rounds of `reads` and `hot`. */
	readonly rounds: number;
	readonly scale: number;
	readonly seed: number;
	readonly shards: number;
	/** MySQL servers that hold them. */
	readonly hosts: number;
	/** An import file to use instead of a generated graph. */
	readonly graph: string | null;
	/** Another checkout of Corkboard to measure. */
	readonly root: string | null;
	/** Whether viewers who write are measured too, before the sections. */
	readonly beginsWithSigned: boolean;
	readonly sections: readonly SectionName[];
	readonly variants: readonly VariantName[];
	/** Texts that are known besides those of the queries. */
	readonly documents: readonly string[];
	readonly out: string;
	readonly json: boolean;
	readonly curves: boolean;
	/** Results to show in the documentation; nothing is measured then. */
	readonly publish: string | null;
}

export const USAGE = `usage: npm run bench -- [options]

  Without --quick and --only it begins with six minutes of \`npm run bench -- signed\`.

  --quick            90 seconds: a small graph, one round, the most important rows
  --minutes N        end the rest after about so long (default 10; with --quick 1.5)
  --warm N           minutes of mixed load before the first round (default 1; 0.1)
  --seconds N        of one measurement (default 1.2; 0.5)
  --rounds N         most rounds (default: as many as fit)
  --scale N          size of the graph; 1: 10,000 users, 2.1 million lines (default 0.1; 0.02)
  --graph FILE       an import file to use instead of a generated graph
  --seed N           (default 1)
  --shards N         an even number (default 32)
  --only NAMES       sections and rows, separated by commas
                     sections: ${SECTION_NAMES.join(" ")}
                     rows: ${VARIANT_NAMES.join(" ")}
  --root FOLDER      another checkout of Corkboard to measure, with its packages
  --curves           measure how cost grows with lists, depth, shards and graph instead
  --out FOLDER       where results go (default data/bench/<time>)
  --publish FOLDER   make the results in FOLDER those of bench/results/performance.md, and measure nothing
  --json             print the results as JSON at the end

Ctrl-C ends it: finished rounds are kept, and the report is made of them.`;

const QUICK_VARIANTS: readonly VariantName[] = [
	"text",
	"known",
	"mercurius",
	"postgraphile",
	"drizzle",
	"canned",
];

export function readOptions(args: readonly string[]): Options {
	const { values } = parse(args);
	const quick = values.quick === true;
	const only = (values.only ?? "").split(",").filter((name) => name !== "");
	const unknown = only.filter((name) => !isSection(name) && !isVariant(name));
	if (unknown.length > 0) {
		throw new UsageError(
			`--only knows no ${unknown.join(", ")}. Sections: ${SECTION_NAMES.join(" ")}. Rows: ${VARIANT_NAMES.join(" ")}.`,
		);
	}
	const sections = only.filter(isSection);
	const variants = only.filter(isVariant);
	const shards = numberOf("shards", values.shards, 32, 2);
	if (shards % 2 !== 0) {
		throw new UsageError(`--shards must be even, got ${shards}.`);
	}
	return {
		minutes: numberOf("minutes", values.minutes, quick ? 1.5 : 10),
		warmMinutes: numberOf("warm", values.warm, quick ? 0.1 : 1),
		seconds: numberOf("seconds", values.seconds, quick ? 0.5 : 1.2),
		rounds: numberOf("rounds", values.rounds, quick ? 1 : 1_000),
		scale: numberOf("scale", values.scale, quick ? 0.02 : 0.1),
		seed: numberOf("seed", values.seed, 1),
		shards,
		hosts: 1,
		graph: values.graph ?? null,
		root: values.root ?? null,
		beginsWithSigned: only.length === 0 && !quick,
		sections:
			sections.length > 0
				? sections
				: quick
					? ["reads", "hot", "writes"]
					: SECTION_NAMES,
		variants:
			variants.length > 0
				? VARIANT_NAMES.filter((name) => variants.includes(name))
				: quick
					? QUICK_VARIANTS
					: VARIANT_NAMES,
		documents: [],
		out: values.out ?? `data/bench/${new Date().toISOString().slice(0, 19)}`,
		json: values.json === true,
		curves: values.curves === true,
		publish: values.publish ?? null,
	};
}

function parse(args: readonly string[]) {
	return parseArgs({
		args: [...args],
		options: {
			quick: { type: "boolean" },
			minutes: { type: "string" },
			warm: { type: "string" },
			seconds: { type: "string" },
			rounds: { type: "string" },
			scale: { type: "string" },
			graph: { type: "string" },
			seed: { type: "string" },
			shards: { type: "string" },
			only: { type: "string" },
			root: { type: "string" },
			curves: { type: "boolean" },
			out: { type: "string" },
			json: { type: "boolean" },
			publish: { type: "string" },
		},
	});
}

function isSection(name: string): name is SectionName {
	return (SECTION_NAMES as readonly string[]).includes(name);
}

function isVariant(name: string): name is VariantName {
	return (VARIANT_NAMES as readonly string[]).includes(name);
}
