import { readConfig } from "../../config.ts";
import type { DamageSummary } from "../../ops/verify/damage.ts";
import { type VerifyReport, verify } from "../../ops/verify/verify.ts";
import type { ParsedArguments, Usage } from "../arguments.ts";
import { type CommandContext, openForCommand } from "../commandContext.ts";
import { createProgressLine, formatCount } from "../progress.ts";

export const usage: Usage = {
	summary:
		"Checks that both directions of every edge, all counts and all names agree.",
	operands: [],
	options: { repair: { description: "bring what disagrees in line" } },
	details:
		"Exit 0 if everything agrees, or does after the repair; 1 if something does not.",
};

export async function run(
	given: ParsedArguments,
	io: CommandContext,
): Promise<number> {
	const config = readConfig(io.env);
	const repair = given.options.repair !== undefined;
	const signal = io.interruptSignal();
	await using corkboard = await openForCommand(
		io,
		config,
		repair ? "readWrite" : "readOnly",
	);
	const progress = createProgressLine(io);
	const verified = await verify(corkboard.store, {
		repair,
		signal,
		onProgress: ({ objects, edges, lists, lookups }) =>
			progress.update(
				`${formatCount(objects + edges + lists + lookups)} rows checked`,
			),
	});
	progress.end();
	io.stdout(summary(verified, repair).join("\n"));
	if (verified.outcome === "aborted") {
		io.stderr("interrupted before the end");
		return signal.reason === "SIGTERM" ? 143 : 130;
	}
	return verified.clean ? 0 : 1;
}

function summary(verified: VerifyReport, repair: boolean): readonly string[] {
	const {
		checked,
		damage: found,
		remaining: left,
		pendingEntries: owed,
		repaired: mended,
		failedRepairs: unmended,
	} = verified;
	const lines = [
		`${formatCount(checked.objects)} objects, ${formatCount(checked.edges)} edges, ${formatCount(checked.lists)} lists, ${formatCount(checked.lookups)} lookups checked`,
		...(owed > 0 ? [`${formatCount(owed)} debts not paid yet`] : []),
		...found.flatMap(told),
	];
	if (found.length === 0) return [...lines, "everything agrees"];
	if (!repair) return [...lines, "verify --repair brings it in line"];
	return [
		...lines,
		`${formatCount(mended)} repaired`,
		...unmended,
		...(left.length === 0
			? ["everything agrees now"]
			: ["left after the repair:", ...left.flatMap(told)]),
	];
}

function told({
	meaning,
	count: number,
	examples,
}: DamageSummary): readonly string[] {
	return [
		`${formatCount(number)} ${meaning}`,
		...examples.map((example) => `  ${example}`),
	];
}
