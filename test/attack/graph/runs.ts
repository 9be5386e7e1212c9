import type { Options } from "./options.ts";
import {
	type RecordedRun,
	readRecordedRun,
	recordedRuns,
} from "./recordedRuns.ts";
import type { Fault } from "./schedule.ts";

export interface Run extends Options {
	readonly name: string;
	/** Absent: by the seed. */
	readonly faults?: readonly Fault[];
}

/** What a command line asks for. */
export function runsOf(options: Options): readonly Run[] {
	const recorded = ([name, run]: readonly [string, RecordedRun]): Run => ({
		...options,
		...run,
		name: `${name}: `,
	});
	if (options.isKnown) return [...recordedRuns()].map(recorded);
	const { schedule } = options;
	return schedule === null
		? [{ ...options, name: "" }]
		: [recorded([schedule, readRecordedRun(schedule)])];
}
