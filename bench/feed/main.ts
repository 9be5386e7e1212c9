/**
 * `npm run bench -- feed`: the home feed on a fleet with a real graph: fan-out, lag,
 * pages, disk. `npm run bench -- feed --help` lists the options.
 */
import { writeFileSync } from "node:fs";
import { Progress } from "../progress.ts";
import { measureBytes } from "./bytes.ts";
import { startFeedFleet } from "./fleet.ts";
import { measureLag } from "./lag.ts";
import { type Options, readOptions, USAGE } from "./options.ts";
import { measurePages } from "./pages.ts";
import { measurePushLimit } from "./pushLimit.ts";
import { measureReaders } from "./read.ts";
import { type FeedResults, type Measurement, markdownOf } from "./results.ts";
import { measureRows } from "./rows.ts";

const ON_FLEET = {
	lag: measureLag,
	page: measurePages,
	read: measureReaders,
	limit: measurePushLimit,
} as const;

async function measure(
	options: Options,
	progress: Progress,
): Promise<FeedResults> {
	const measurements: Measurement[] = [];
	const { parts } = options;
	if (parts.includes("rows")) {
		measurements.push(...(await measureRows(options, progress)));
	}
	if (parts.includes("bytes")) {
		measurements.push(...(await measureBytes(options, progress)));
	}
	const onFleet = parts.filter((part) => part in ON_FLEET);
	const size = { users: 0, pins: 0, follows: 0 };
	if (onFleet.length > 0) {
		await using fleet = await startFeedFleet(options, progress);
		size.users = fleet.graph.users.length;
		size.pins = fleet.graph.owners.length;
		size.follows = fleet.graph.follows;
		for (const part of onFleet) {
			const measurePart = ON_FLEET[part as keyof typeof ON_FLEET];
			measurements.push(...(await measurePart(fleet, options, progress)));
		}
	}
	return { when: new Date().toISOString(), ...size, measurements };
}

export const usage = USAGE;

export async function run(args: readonly string[]): Promise<number> {
	const options = readOptions(args);
	const results = await measure(options, new Progress());
	const text = JSON.stringify(results, null, "\t");
	if (options.out !== null) writeFileSync(options.out, `${text}\n`);
	console.log(options.json ? text : markdownOf(results));
	return 0;
}
