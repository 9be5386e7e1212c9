/**
 * `npm run bench -- signed`: what a request takes when many viewers are signed in
 * and some of them write, beside peers, and what shapes take that no other bench
 * asks for. Servers take turns, so what else the machine does falls on all of them.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { readOptions } from "../options.ts";
import { Progress } from "../progress.ts";
import { describeMachine } from "../results.ts";
import { CAN_PIN } from "../servers/cores.ts";
import { createWorld } from "../world.ts";
import { checkAgreement } from "./agree.ts";
import { Cursors } from "./cursors.ts";
import { KNOWN } from "./documents.ts";
import { readSignedOptions, usage } from "./options.ts";
import { publish } from "./publish.ts";
import { reportOf, type SignedResults } from "./report.ts";
import { Run } from "./run.ts";
import { contendersOf, startSystems, viewersOf } from "./systems.ts";

export { type SignedResults, usage };

export async function run(args: readonly string[]): Promise<number> {
	const options = readSignedOptions(args);
	if (options.publish !== null) {
		for (const file of publish(options.publish))
			console.log(`written: ${file}`);
		return 0;
	}
	const { parts, peers, seed } = options;
	const progress = new Progress();
	const { signal } = new AbortController();
	await using stack = new AsyncDisposableStack();
	const world = stack.use(
		await createWorld(
			{
				...readOptions([
					...["--scale", String(options.scale), "--seed", String(seed)],
					...["--shards", options.shards],
					...["--only", ["known", ...peers].join(",")],
				]),
				documents: KNOWN,
			},
			(text) => progress.say(text),
			signal,
		),
	);
	const viewers = await viewersOf(world, options.viewers);
	const systems = await startSystems(world, options, stack);
	const contenders = contendersOf(systems);
	const about = `${viewers.length} viewers, ${options.connections} connections; ${world.lines} lines, ${options.shards} shards, seed ${seed}, scale ${options.scale}; ${JSON.stringify(describeMachine(CAN_PIN))}`;
	console.log(about);
	const cursors = parts.includes("shapes")
		? await Cursors.read(
				world,
				systems.filter(({ flavor }) => flavor !== "postgraphile"),
				seed,
			)
		: null;
	const compared = await checkAgreement(world, contenders, {
		viewers,
		cursors,
		seed,
	});
	progress.say(`${compared} pairs of answers are equal`);
	const running = new Run({ world, viewers, contenders, options, progress });
	await running.warm();
	if (parts.includes("blend")) await running.blend();
	if (parts.includes("half")) await running.half();
	if (parts.includes("garbage")) await running.garbage();
	if (cursors !== null) await running.shapes(cursors);
	const { cells, collected } = running;
	const results: SignedResults = {
		seed,
		at: new Date().toISOString(),
		about,
		contenders: contenders.map(({ title, isOurs }) => ({ title, isOurs })),
		...cells,
		garbage: collected,
	};
	console.log(`\n${reportOf(results)}`);
	mkdirSync(dirname(options.out), { recursive: true });
	writeFileSync(options.out, `${JSON.stringify(results, null, "\t")}\n`);
	console.log(`\nResults: ${options.out}`);
	return running.failed === 0 ? 0 : 1;
}
