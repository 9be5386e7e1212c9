import { readConfig } from "../../config.ts";
import type { Found } from "../../ops/verify/damage.ts";
import { type Verified, verify } from "../../ops/verify/verify.ts";
import type { Arguments, Usage } from "../arguments.ts";
import type { Io } from "../io.ts";
import { count, showProgress } from "../progress.ts";

export const usage: Usage = {
	about:
		"Checks that both directions of every edge, all counts and all names agree.",
	operands: [],
	options: { repair: { about: "bring what disagrees in line" } },
	more: "Exit 0 if everything agrees, or does after the repair; 1 if something does not.",
};

export async function run(given: Arguments, io: Io): Promise<number> {
	const config = readConfig(io.env);
	const repair = given.options.repair !== undefined;
	const signal = io.interruption();
	await using corkboard = await io.open(config, repair ? "own" : "read");
	const progress = showProgress(io);
	const verified = await verify(corkboard.store, {
		repair,
		signal,
		onProgress: ({ objects, edges, lists, lookups }) =>
			progress.show(`${count(objects + edges + lists + lookups)} rows checked`),
	});
	progress.end();
	io.out(summary(verified, repair).join("\n"));
	if (verified.outcome === "aborted") {
		io.err("interrupted before the end");
		return signal.reason === "SIGTERM" ? 143 : 130;
	}
	return verified.clean ? 0 : 1;
}

function summary(verified: Verified, repair: boolean): readonly string[] {
	const { checked, found, left, owed, mended, unmended } = verified;
	const lines = [
		`${count(checked.objects)} objects, ${count(checked.edges)} edges, ${count(checked.lists)} lists, ${count(checked.lookups)} lookups checked`,
		...(owed > 0 ? [`${count(owed)} debts not paid yet`] : []),
		...found.flatMap(told),
	];
	if (found.length === 0) return [...lines, "everything agrees"];
	if (!repair) return [...lines, "verify --repair brings it in line"];
	return [
		...lines,
		`${count(mended)} repaired`,
		...unmended,
		...(left.length === 0
			? ["everything agrees now"]
			: ["left after the repair:", ...left.flatMap(told)]),
	];
}

function told({ meaning, count: number, examples }: Found): readonly string[] {
	return [
		`${count(number)} ${meaning}`,
		...examples.map((example) => `  ${example}`),
	];
}
