/**
 * `npm run bench:queue`: the queue beside graphile-worker, pg-boss, BullMQ and
 * PinLater's layouts. `npm run bench:queue -- --help` lists the options.
 */
import { mkdirSync } from "node:fs";
import { Progress } from "../progress.ts";
import { readOptions, USAGE, UsageError } from "./options.ts";
import { publish } from "./publish.ts";
import { runQueueBench } from "./run.ts";

async function main(): Promise<number> {
	const args = process.argv.slice(2);
	if (args.includes("--help")) {
		console.log(USAGE);
		return 0;
	}
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

let exitCode = 1;
try {
	exitCode = await main();
} catch (error) {
	const isUsage = error instanceof UsageError;
	console.error(isUsage ? `${error.message}\n\n${USAGE}` : error);
	exitCode = isUsage ? 2 : 1;
}
// Everything is closed. What a failed start left behind must not keep the terminal waiting.
process.exit(exitCode);
