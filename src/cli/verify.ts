import { readConfig } from "../config.ts";
import { verifyGraph } from "../ops/verify.ts";
import type { Arguments, Usage } from "./arguments.ts";
import type { Io } from "./io.ts";
import { count, showProgress } from "./progress.ts";

export const usage: Usage = {
	about:
		"Checks that both directions of every edge, all counts and all names agree.",
	operands: [],
	options: { repair: { about: "bring what disagrees in line" } },
	more: "Exit 0 if everything agrees, or was repaired; 1 if something does not.",
};

const SPELLED_FAULTS = 100;

export async function run(given: Arguments, io: Io): Promise<number> {
	const repair = given.options.repair !== undefined;
	await using corkboard = await io.open(
		readConfig(io.env),
		repair ? "own" : "read",
	);
	const progress = showProgress(io);
	let faults = 0;
	const verified = await verifyGraph(corkboard.store, {
		repair,
		progress: (done, total) => progress.show(`${done} of ${total} shards`),
		fault(sentence) {
			if (++faults > SPELLED_FAULTS) return;
			progress.end();
			io.out(sentence);
		},
	});
	progress.end();
	if (faults > SPELLED_FAULTS) {
		io.out(`and ${count(faults - SPELLED_FAULTS)} more`);
	}
	const checked = `${count(verified.objects)} objects, ${count(verified.edges)} edges, ${count(verified.lookups)} lookups`;
	if (verified.faults === 0) {
		io.out(`${checked}: everything agrees`);
		return 0;
	}
	io.out(
		`${checked}: ${count(verified.faults)} disagree${repair ? `, ${count(verified.repaired)} of them repaired` : "; verify --repair brings them in line"}`,
	);
	return verified.repaired === verified.faults ? 0 : 1;
}
