/** `npm run attack`: attacks a fleet of real servers and compares what it shows with a model. */
import { attack } from "./attack.ts";
import { type Options, readOptions, USAGE } from "./options.ts";
import { summary } from "./report.ts";
import { runsOf } from "./runs.ts";

const print = (line: string) => void process.stdout.write(`${line}\n`);
const warn = (line: string) => void process.stderr.write(`${line}\n`);

async function main(): Promise<number> {
	let options: Options | null;
	try {
		options = readOptions(process.argv.slice(2));
	} catch (error) {
		warn(`attack: ${error instanceof Error ? error.message : error}`);
		return 2;
	}
	if (options === null) {
		print(USAGE);
		return 0;
	}
	const interrupt = new AbortController();
	for (const name of ["SIGINT", "SIGTERM"] as const) {
		process.once(name, () => interrupt.abort());
	}
	let broken = 0;
	for (const { name, faults, ...run } of runsOf(options)) {
		if (interrupt.signal.aborted) break;
		warn(`${name}seed ${run.seed}, ${run.minutes} min`);
		const result = await attack(run, {
			print: run.isJson ? warn : print,
			interrupt: interrupt.signal,
			...(faults && { faults }),
		});
		print(run.isJson ? JSON.stringify(result) : summary(result));
		broken += result.violations.length;
	}
	return broken === 0 ? 0 : 1;
}

try {
	process.exitCode = await main();
} catch (error) {
	warn(`attack: ${error instanceof Error ? (error.stack ?? error) : error}`);
	process.exitCode = 1;
}
