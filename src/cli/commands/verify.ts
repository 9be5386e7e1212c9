import { readConfig } from "../../config/config.ts";
import type { DamageSummary } from "../../ops/verify/damage.ts";
import { type VerifyReport, verify } from "../../ops/verify/verify.ts";
import { formatNumber } from "../../util/format.ts";
import type { ParsedArguments, Usage } from "../arguments.ts";
import { type CommandContext, openForCommand } from "../commandContext.ts";
import { createProgressLine } from "../progress.ts";

export const usage: Usage = {
	summary:
		"Checks that objects, edges, inverse edges, counts and lookups agree.",
	operands: [],
	options: { repair: { description: "repair the damage that is found" } },
	details:
		"Exit code 0 if everything agrees, also if only after the repair; else 1. Pending outbox entries are no damage.",
};

export async function run(
	given: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const config = readConfig(context.env);
	const repair = given.options.repair !== undefined;
	const signal = context.interruptSignal();
	await using corkboard = await openForCommand(
		context,
		config,
		repair ? "readWrite" : "readOnly",
	);
	const progress = createProgressLine(context);
	const report = await verify(corkboard.store, {
		repair,
		signal,
		onProgress: ({ objects, edges, lists, lookups }) =>
			progress.update(
				`${formatNumber(objects + edges + lists + lookups)} rows checked`,
			),
	});
	progress.end();
	context.stdout(summary(report, repair).join("\n"));
	if (report.status === "aborted") {
		context.stderr("interrupted before the end");
		return signal.reason === "SIGTERM" ? 143 : 130;
	}
	return report.clean ? 0 : 1;
}

function summary(report: VerifyReport, repair: boolean): readonly string[] {
	const {
		checked,
		damage,
		remaining,
		pendingEntries,
		repaired,
		failedRepairs,
	} = report;
	const lines = [
		`${formatNumber(checked.objects)} objects, ${formatNumber(checked.edges)} edges, ${formatNumber(checked.lists)} lists, ${formatNumber(checked.lookups)} lookups checked`,
		...(pendingEntries > 0
			? [`${formatNumber(pendingEntries)} pending outbox entries`]
			: []),
		...damage.flatMap(describeDamage),
	];
	if (damage.length === 0) return [...lines, "everything agrees"];
	if (!repair) return [...lines, "run verify --repair to repair it"];
	return [
		...lines,
		`${formatNumber(repaired)} repaired`,
		...failedRepairs,
		...(remaining.length === 0
			? ["everything agrees now"]
			: ["still damaged:", ...remaining.flatMap(describeDamage)]),
	];
}

function describeDamage({
	meaning,
	count: number,
	examples,
}: DamageSummary): readonly string[] {
	return [
		`${formatNumber(number)} ${meaning}`,
		...examples.map((example) => `  ${example}`),
	];
}
