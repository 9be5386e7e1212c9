/**
 * `npm run bench -- queue`: the queue beside graphile-worker, pg-boss, BullMQ and
 * PinLater's layouts. `npm run bench -- queue --help` lists the options.
 */
import { mkdirSync } from "node:fs";
import { Progress } from "../progress.ts";
import { readOptions, USAGE } from "./options.ts";
import { publish } from "./publish.ts";
import { runQueueBench } from "./run.ts";

export const usage = USAGE;

export async function run(args: readonly string[]): Promise<number> {
	const options = readOptions(args);
	if (options.publish.length > 0) {
		console.log(`written: ${publish(options.publish)}`);
		return 0;
	}
	mkdirSync(options.out, { recursive: true });
	const progress = new Progress();
	const stop = new AbortController();
	for (const name of ["SIGINT", "SIGTERM"] as const) {
		process.once(name, () => {
			progress.say(`${name}: ending with the finished measurements`);
			stop.abort(new Error(`ended by ${name}`));
		});
	}
	const results = await runQueueBench(options, progress, stop.signal);
	if (options.json) console.log(JSON.stringify(results, null, "\t"));
	else console.log(`\nReport: ${options.out}/report.md`);
	if (stop.signal.aborted) return 130;
	const hasFailed = results.cells.some(
		({ error, values }) => error !== undefined || (values.lost ?? 0) > 0,
	);
	return hasFailed ? 1 : 0;
}
