import { documentRules } from "../../app/documentRules.ts";
import { readConfig } from "../../config.ts";
import type { WorstCaseCost } from "../../plan/worstCaseCost.ts";
import {
	badDataError,
	checkDocumentFiles,
} from "../../server/documents/documentFiles.ts";
import { columns, type ParsedArguments, type Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";

export const usage: Usage = {
	summary:
		"Checks files of persisted documents as a server of all of them would, and says what each operation may cost.",
	operands: ["FILE…"],
	options: {},
	details:
		"A FILE is Apollo's manifest, or Relay's object of texts by id. The cost is of the worst variables: page sizes of 100, lists of 100, nothing skipped. CORKBOARD_MAX_COST is the limit; no data is read. Every fault is told, and the exit code is then 1.",
};

export async function run(
	{ operands }: ParsedArguments,
	io: CommandContext,
): Promise<number> {
	const { maxCost } = readConfig(io.env, { secret: "unneeded" });
	const rules = documentRules(maxCost);
	const { files, problems: faults } = await checkDocumentFiles(operands, rules);
	for (const { path, operations } of files) {
		const rows = operations
			.toSorted((a, b) => b.cost.total - a.cost.total)
			.map((operation) => described(operation, maxCost));
		io.stdout(
			[`${path}: ${count(rows.length, "operation")}`, ...columns(rows)].join(
				"\n",
			),
		);
	}
	if (faults.length > 0) throw badDataError(faults);
	return 0;
}

function described(
	{ kind, name, cost, plan }: WorstCaseCost,
	maxCost: number,
): readonly [string, string] {
	const steps = plan?.steps ?? [];
	const kinds = (["call", "scan", "fetch"] as const).map((step) =>
		count(steps.filter(({ kind }) => kind === step).length, step),
	);
	const [mostExpensive] = cost.fields;
	return [
		`${kind} ${name ?? "(unnamed)"}`,
		[
			`cost ${cost.total} of ${maxCost}`,
			kinds.join(" "),
			...(mostExpensive
				? [`most at ${mostExpensive.path} (${mostExpensive.cost})`]
				: []),
		].join("; "),
	];
}

const PLURALS = {
	operation: "operations",
	call: "calls",
	scan: "scans",
	fetch: "fetches",
};

function count(number: number, noun: keyof typeof PLURALS): string {
	return `${number} ${number === 1 ? noun : PLURALS[noun]}`;
}
