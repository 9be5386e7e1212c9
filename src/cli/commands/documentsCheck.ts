import { documentRules } from "../../app/documentRules.ts";
import { readConfig } from "../../config/config.ts";
import type { WorstCaseCost } from "../../plan/worstCaseCost.ts";
import {
	badDataError,
	checkDocumentFiles,
} from "../../server/documents/documentFiles.ts";
import { plural } from "../../util/format.ts";
import { columns, type ParsedArguments, type Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";

export const usage: Usage = {
	summary:
		"Checks files of persisted documents as a server does, and prints the worst-case cost of each operation.",
	operands: ["FILE…"],
	options: {},
	details:
		"FILE is an Apollo manifest or a Relay object of texts by id. The cost is that of the most expensive variables: page sizes of 100, lists of 100, nothing skipped. CORKBOARD_MAX_COST is the limit. No data is read. Every problem is printed, and the exit code is then 1.",
};

export async function run(
	{ operands }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const { maxCost } = readConfig(context.env, { secret: "unneeded" });
	const rules = documentRules(maxCost);
	const { files, problems } = await checkDocumentFiles(operands, rules);
	for (const { path, operations } of files) {
		const rows = operations
			.toSorted((a, b) => b.cost.total - a.cost.total)
			.map((operation) => describeCost(operation, maxCost));
		context.stdout(
			[`${path}: ${plural(rows.length, "operation")}`, ...columns(rows)].join(
				"\n",
			),
		);
	}
	if (problems.length > 0) throw badDataError(problems);
	return 0;
}

function describeCost(
	{ kind, name, cost, plan }: WorstCaseCost,
	maxCost: number,
): readonly [string, string] {
	const steps = plan?.steps ?? [];
	const kinds = (["call", "scan", "fetch"] as const).map((step) =>
		plural(
			steps.filter(({ kind }) => kind === step).length,
			step,
			step === "fetch" ? "fetches" : undefined,
		),
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
