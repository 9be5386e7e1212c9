/**
 * `npm run bench -- sessions`: what people with an app cost, beside peers.
 * Servers take turns, so what else the machine does falls on all of them.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { UsageError } from "../../tools/namedProgram.ts";
import type { Graph } from "../graph/generate.ts";
import { readOptions } from "../options.ts";
import { Progress } from "../progress.ts";
import { describeMachine } from "../results.ts";
import { CAN_PIN } from "../servers/cores.ts";
import { createWorld, type World } from "../world.ts";
import { checkAgreement } from "./agree.ts";
import { Crowds } from "./crowds.ts";
import { KNOWN } from "./documents.ts";
import { readSessionOptions, type SessionOptions, usage } from "./options.ts";
import { peopleGraph } from "./peopleGraph.ts";
import { publish } from "./publish.ts";
import { reportOf, type SessionResults } from "./report.ts";
import { Run } from "./run.ts";
import { contendersOf, startSystems } from "./systems.ts";

export { usage };

export async function run(args: readonly string[]): Promise<number> {
	const options = readSessionOptions(args);
	if (options.publish !== null) {
		for (const file of publish(options.publish))
			console.log(`written: ${file}`);
		return 0;
	}
	const { peers, seed } = options;
	const progress = new Progress();
	const say = (text: string) => progress.say(text);
	const { signal } = new AbortController();
	await using stack = new AsyncDisposableStack();
	const graph = await peopleGraph(options.cut);
	const world = stack.use(
		await createWorld(
			{
				...readOptions([
					...["--seed", String(seed), "--shards", options.shards],
					...["--only", ["known", ...peers].join(",")],
				]),
				documents: KNOWN,
			},
			say,
			signal,
			{ graph },
		),
	);
	const about = describe(options, graph, world.lines);
	console.log(about);
	// Awaited: the world is disposed of when this function returns.
	if (!options.waits) return await measure(world, options, about, progress);
	let failed = 0;
	say("ready: each line on stdin is one measurement, with the options in it");
	for await (const line of createInterface({ input: process.stdin })) {
		const more = line.split(" ").filter((word) => word !== "");
		try {
			const changed = readSessionOptions([...args, ...more]);
			const code = await measure(world, changed, about, progress);
			failed = Math.max(failed, code);
		} catch (error) {
			// The next line may be right, and the import took minutes.
			console.error(error instanceof UsageError ? error.message : error);
			failed = 1;
		}
		say("ready");
	}
	return failed;
}

/** Starts the servers, and returns the exit code. */
async function measure(
	world: World,
	options: SessionOptions,
	about: string,
	progress: Progress,
): Promise<number> {
	const say = (text: string) => progress.say(text);
	await using stack = new AsyncDisposableStack();
	const systems = await startSystems(world, options, say, stack);
	const contenders = contendersOf(systems, options.ways);
	const crowds = stack.use(await Crowds.start(world, systems, options));
	const compared = await checkAgreement(world, contenders, crowds.people);
	say(`${compared} pairs of answers are equal`);
	const running = new Run({ world, contenders, crowds, options, progress });
	await running.warm();
	await running.closed();
	await running.open();
	const results: SessionResults = {
		seed: options.seed,
		at: new Date().toISOString(),
		about,
		contenders: contenders.map(({ title, isOurs }) => ({ title, isOurs })),
		cells: running.cells,
	};
	console.log(`\n${reportOf(results)}`);
	mkdirSync(dirname(options.out), { recursive: true });
	writeFileSync(options.out, `${JSON.stringify(results, null, "\t")}\n`);
	console.log(`\nResults: ${options.out}`);
	return running.failed === 0 ? 0 : 1;
}

function describe(
	options: SessionOptions,
	{ users, boards, pins, likes, follows }: Graph,
	lines: number,
): string {
	const { cut, habits, people, sessions, connections, pauses } = options;
	return [
		`${people} people, ${Math.round(people * habits.signedIn)} of them signed in, ${sessions} sessions under way; ${connections} connections; ${options.rounds} rounds of ${options.seconds} s`,
		`${cut.folder === null ? "a generated graph" : "the real graph"}: ${users.length} users, ${boards.length} boards, ${pins.length} pins, ${likes.length} likes, ${follows.length} follows; ${lines} lines, ${options.shards} shards`,
		`cut ${cut.kind}, ${cut.rows} lists each, habits ${options.habitsName}, seed ${options.seed}${pauses === null ? "" : `, the server stops for ${pauses.ms} ms every ${pauses.everySeconds} s of an open loop`}`,
		JSON.stringify(describeMachine(CAN_PIN)),
	].join("; ");
}
