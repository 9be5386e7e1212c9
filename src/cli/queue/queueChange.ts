import { CorkboardError } from "../../errors.ts";
import {
	type ChangedJobs,
	DEFAULT_LIMIT,
	lookupJobs,
} from "../../queue/admin/changeJobs.ts";
import { formatJobId, parseJobId } from "../../queue/jobId.ts";
import type {
	JobAdmin,
	JobChange,
	JobState,
	JobStore,
} from "../../queue/jobStore.ts";
import { compact } from "../../util/compact.ts";
import { plural } from "../../util/format.ts";
import { UsageError } from "../arguments.ts";
import { option, type Result } from "../command.ts";
import { integer } from "../values.ts";

/** What `queue retry` and `queue remove` have in common. */

const MOST_CHANGED = 100_000;

export { DEFAULT_LIMIT };

export const LIMIT = option(
	integer(1, MOST_CHANGED),
	`at most so many, the oldest first (default ${DEFAULT_LIMIT}, at most ${MOST_CHANGED})`,
);

/** Throws a usage error where an option is given that chooses among jobs. */
export function refuseChoices(
	choices: Readonly<Record<string, unknown>>,
): void {
	if (Object.values(choices).every((value) => value === undefined)) return;
	const names = Object.keys(choices).map((name) => `--${name}`);
	throw new UsageError(
		`${names.slice(0, -1).join(", ")} and ${names.at(-1)} choose among jobs of a queue, not with an ID.`,
	);
}

export function changedResult({
	queue,
	changed: { found, changed, hasMore },
	dryRun,
	verb,
}: {
	readonly queue: string;
	readonly changed: ChangedJobs;
	readonly dryRun: boolean;
	/** `retried` */
	readonly verb: string;
}): Result {
	const jobs = found.map(({ shard, bucket, local }) =>
		formatJobId({ queue, shard, bucket, local }),
	);
	const less = found.length - changed;
	return {
		value: { queue, dryRun, found: found.length, changed, hasMore, jobs },
		lines: dryRun ? jobs : [`${plural(changed, "job")} ${verb}`],
		hints: compact([
			dryRun && `${plural(found.length, "job")} would be ${verb}`,
			!dryRun && less > 0 && `${plural(less, "job")} had changed meanwhile`,
			hasMore && "there may be more: run it again",
		]),
	};
}

/** Changes one job, named by its id. Throws NOT_FOUND, and CONFLICT for a job in a state that cannot be changed so. */
export async function changeOne(
	store: JobStore & JobAdmin,
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
