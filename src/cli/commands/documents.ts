import { documentRules } from "../../app/documentRules.ts";
import { readConfig } from "../../config/config.ts";
import type { WorstCaseCost } from "../../plan/compile/worstCaseCost.ts";
import {
	badDataError,
	checkDocumentFiles,
} from "../../server/documents/documentFiles.ts";
import { plural } from "../../util/format.ts";
import { columns } from "../arguments.ts";
import { command, many } from "../command.ts";

const check = command({
	summary:
		"Checks files of persisted documents, and prints the worst-case cost of each operation.",
	arguments: { paths: many("FILE") },
	details:
		"FILE is an Apollo manifest or a Relay object of texts by id. The cost is that of the most expensive variables: page sizes of 100, lists of 100, nothing skipped. CORKBOARD_MAX_COST is the limit. No data is read. Every problem is printed.",
	exitCodes: { 1: "problems, or an error" },
	async run({ paths, json }, context) {
		const { maxCost } = readConfig(context.env, { secret: "unneeded" });
		const { files, problems } = await checkDocumentFiles(
			paths,
			documentRules((await context.app()).app, maxCost),
		);
		const lines = files.flatMap(({ path, operations }) => [
			`${path}: ${plural(operations.length, "operation")}`,
			...columns(
				operations
					.toSorted((a, b) => b.cost.total - a.cost.total)
					.map((operation) => describeCost(operation, maxCost)),
			),
		]);
		if (problems.length > 0 && !json) {
			if (lines.length > 0) context.stdout(lines.join("\n"));
			throw badDataError(problems);
		}
		return {
			value: {
				maxCost,
				files: files.map(({ path, operations }) => ({
					path,
					operations: operations.map(describeOperation),
				})),
				problems,
			},
			lines,
			code: problems.length > 0 ? 1 : 0,
		};
	},
});

function describeCost(
	operation: WorstCaseCost,
	maxCost: number,
): readonly [string, string] {
	const { kind, name, cost, calls, scans, fetches, mostAt } =
		describeOperation(operation);
	return [
		`${kind} ${name ?? "(unnamed)"}`,
		[
			`cost ${cost} of ${maxCost}`,
			[
				plural(calls, "call"),
				plural(scans, "scan"),
				plural(fetches, "fetch", "fetches"),
			].join(" "),
			...(mostAt ? [`most at ${mostAt.path} (${mostAt.cost})`] : []),
		].join("; "),
	];
}

/** Its cost, the number of its steps by kind, and the field that costs most. */
function describeOperation({ kind, name, cost, plan }: WorstCaseCost) {
	const count = (step: string) =>
		plan?.steps.filter((each) => each.kind === step).length ?? 0;
	const [mostAt] = cost.fields;
	return {
		kind,
		name,
		cost: cost.total,
		calls: count("call"),
		scans: count("scan"),
		fetches: count("fetch"),
		mostAt: mostAt ? { path: mostAt.path, cost: mostAt.cost } : null,
	};
}

export const verbs = {
	check,
};
