import type { AccessMode } from "../app/openStore.ts";
import { CorkboardError } from "../errors.ts";
import {
	type ChangedJobs,
	DEFAULT_LIMIT,
	lookupJobs,
} from "../queue/changeJobs.ts";
import { formatJobId, parseJobId } from "../queue/jobId.ts";
import type { JobChange, JobState, JobStore } from "../queue/jobStore.ts";
import { plural } from "../util/format.ts";
import type { Option, ParsedArguments } from "./arguments.ts";
import type { CommandContext } from "./commandContext.ts";
import { countOf } from "./queueCommand.ts";

/** What `queue retry` and `queue remove` have in common. */

const MOST_CHANGED = 100_000;

export const LIMIT_OPTION: Option = {
	value: "N",
	description: `at most so many, the oldest first (default ${DEFAULT_LIMIT}, at most ${MOST_CHANGED})`,
};

export function limitOf({ options }: ParsedArguments): number {
	return countOf("limit", options.limit, MOST_CHANGED) ?? DEFAULT_LIMIT;
}

/** A dry run reads only. */
export function accessOf({ options }: ParsedArguments): AccessMode {
	return options["dry-run"] === undefined ? "readWrite" : "readOnly";
}

/** Prints what was done. Returns the exit code. */
export function printChanged(
	context: CommandContext,
	{ options }: ParsedArguments,
	{
		queue,
		changed,
		verb,
	}: {
		readonly queue: string;
		readonly changed: ChangedJobs;
		/** `retried` */
		readonly verb: string;
	},
): number {
	const isDryRun = options["dry-run"] !== undefined;
	const { found, hasMore } = changed;
	const ids = found.map(({ shard, bucket, local }) =>
		formatJobId({ queue, shard, bucket, local }),
	);
	if (options.json !== undefined) {
		const shown = {
			queue,
			dryRun: isDryRun,
			found: found.length,
			changed: changed.changed,
			hasMore,
			jobs: ids,
		};
		context.stdout(JSON.stringify(shown, null, "\t"));
		return 0;
	}
	if (isDryRun) {
		for (const id of ids) context.stdout(id);
		context.stderr(`${plural(found.length, "job")} would be ${verb}`);
	} else {
		context.stdout(`${plural(changed.changed, "job")} ${verb}`);
		const less = found.length - changed.changed;
		if (less > 0) {
			context.stderr(`${plural(less, "job")} had changed meanwhile`);
		}
	}
	if (hasMore) context.stderr("there may be more: run it again");
	return 0;
}

/** Changes one job, named by its id. Throws NOT_FOUND, and CONFLICT for a job in a state that cannot be changed so. */
export async function changeOne(
	store: JobStore,
	text: string,
	{
		states,
		change,
		isDryRun,
	}: {
		readonly states: readonly JobState[];
		readonly change: (shard: number) => Promise<JobChange>;
		readonly isDryRun: boolean;
	},
): Promise<{ readonly queue: string; readonly changed: ChangedJobs }> {
	const [job = null] = await lookupJobs(store, [text]);
	if (job === null) {
		throw new CorkboardError("NOT_FOUND", `There is no job ${text}.`);
	}
	const { queue, shard, state } = job;
	if (!states.includes(state)) {
		throw new CorkboardError(
			"CONFLICT",
			`Job ${text} is ${state}. This is for jobs that are ${states.join(" or ")}.`,
		);
	}
	const changed = isDryRun
		? 0
		: await store.change({ queue, shard }, [job], await change(shard));
	return { queue, changed: { found: [job], changed, hasMore: false } };
}

export function isJobId(text: string): boolean {
	return parseJobId(text) !== null;
}
