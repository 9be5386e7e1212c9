/**
 * `npm run bench`: Corkboard beside its peers, on the same graph and with equal
 * answers. `npm run bench -- --help` lists the options.
 */
import { mkdirSync } from "node:fs";
import { type CurvePoint, measureCurves } from "./curves.ts";
import { type Options, readOptions, USAGE } from "./options.ts";
import { Progress } from "./progress.ts";
import { writeCurves } from "./report/curvesReport.ts";
import { publish } from "./report/publish.ts";
import { runBench } from "./run.ts";
import { run as runSigned } from "./signed/main.ts";

export const usage = USAGE;

export async function run(args: readonly string[]): Promise<number> {
	const options = readOptions(args);
	if (options.publish !== null) {
		for (const file of publish(options.publish))
			console.log(`written: ${file}`);
		return 0;
	}
	mkdirSync(options.out, { recursive: true });
	const stop = new AbortController();
	for (const name of ["SIGINT", "SIGTERM"] as const) {
		process.once(name, () => {
			progress.say(`${name}: ending with the finished measurements`);
			stop.abort(new Error(`ended by ${name}`));
		});
	}
	const progress = new Progress();
	if (options.curves) return runCurves(options, progress, stop.signal);
	// First what most teams have: people who are signed in, some of whom write.
	const signed = options.beginsWithSigned
		? await runSigned([
				...["--scale", String(options.scale), "--parts", "blend,shapes"],
				...["--shards", String(options.shards)],
				...["--out", `${options.out}/signed.json`],
			])
		: 0;
	const results = await runBench(options, progress, stop.signal);
	if (options.json) console.log(JSON.stringify(results, null, "\t"));
	else console.log(`\nReport: ${options.out}/report.md`);
	if (stop.signal.aborted) return 130;
	return results.cells.some(({ errors }) => errors > 0) ? 1 : signed;
}

async function runCurves(
	options: Options,
	progress: Progress,
	signal: AbortSignal,
): Promise<number> {
	const points: CurvePoint[] = [];
	try {
		for await (const point of measureCurves(options, progress, signal)) {
			points.push(point);
			writeCurves(points, options.out);
		}
	} catch (error) {
		if (!signal.aborted) throw error;
	}
	const faults = writeCurves(points, options.out);
	for (const fault of faults) progress.say(fault);
	console.log(`\nReport: ${options.out}/curves.md`);
	return signal.aborted ? 130 : faults.length === 0 ? 0 : 1;
}
