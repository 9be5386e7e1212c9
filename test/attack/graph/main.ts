/** `npm run attack -- graph`: attacks a fleet of real servers and compares what it shows with a model. */
import { attack } from "./attack.ts";
import { readOptions, USAGE } from "./options.ts";
import { summary } from "./report.ts";
import { runsOf } from "./runs.ts";

export const usage = USAGE;

export async function run(args: readonly string[]): Promise<number> {
	const options = readOptions(args);
	const interrupt = new AbortController();
	for (const name of ["SIGINT", "SIGTERM"] as const) {
		process.once(name, () => interrupt.abort());
	}
	let broken = 0;
	for (const { name, faults, ...run } of runsOf(options)) {
		if (interrupt.signal.aborted) break;
		console.error(`${name}seed ${run.seed}, ${run.minutes} min`);
		const result = await attack(run, {
			print: run.isJson ? console.error : console.log,
			interrupt: interrupt.signal,
			...(faults && { faults }),
		});
		console.log(run.isJson ? JSON.stringify(result) : summary(result));
		broken += result.violations.length;
	}
	return broken === 0 ? 0 : 1;
}
