import { CorkboardError } from "../../errors.ts";
import {
	type ChangedJobs,
	DEFAULT_LIMIT,
	lookupJobs,
} from "../../queue/admin/changeJobs.ts";
import { findQueue } from "../../queue/admin/queueAdmin.ts";
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
import type { CommandContext } from "../commandContext.ts";
import { integer } from "../values.ts";
import { accessOf, openQueuesForCommand } from "./queueCommand.ts";

/** What `jobs retry` and `jobs delete` have in common. */

const MOST_CHANGED = 100_000;

export const LIMIT = option(
	integer(1, MOST_CHANGED),
	`at most so many, the oldest first (default ${DEFAULT_LIMIT}, at most ${MOST_CHANGED})`,
);

/** What is given to either. */
interface Given {
	readonly target: string;
	readonly limit: number | undefined;
	readonly dryRun: boolean;
}

interface Way {
	/** `retried` */
	readonly verb: string;
	/** Options that choose among jobs of a queue. */
	readonly choices: Readonly<Record<string, unknown>>;
	/** The states that a job named by its id may have. */
	readonly states: readonly JobState[];
	change(store: JobStore, shard: number): Promise<JobChange>;
	changeAll(
		store: JobStore & JobAdmin,
		options: { readonly limit: number; readonly dryRun: boolean },
	): Promise<ChangedJobs>;
}

/** Changes the jobs of a queue that the options choose, or one that is named by its id. */
export async function changeTarget(
	context: CommandContext,
	{ target, limit, dryRun }: Given,
	{ verb, choices, states, change, changeAll }: Way,
): Promise<Result> {
	const isOne = parseJobId(target) !== null;
	if (isOne) refuseChoices({ ...choices, limit });
	await using opened = await openQueuesForCommand(context, accessOf(dryRun));
	const { store } = opened;
	if (isOne) {
		const job = await findOne(store, target, states);
		const { queue, shard } = job;
		const changed = dryRun
			? 0
			: await store.change({ queue, shard }, [job], await change(store, shard));
		return result(queue, { found: [job], changed, hasMore: false });
	}
	await findQueue(store, target);
	const all = { limit: limit ?? DEFAULT_LIMIT, dryRun };
	return result(target, await changeAll(store, all));

	function result(
		queue: string,
		{ found, changed, hasMore }: ChangedJobs,
	): Result {
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
}

/** Throws a usage error if an option is given that chooses among jobs. */
function refuseChoices(choices: Readonly<Record<string, unknown>>): void {
	if (Object.values(choices).every((value) => value === undefined)) return;
	const names = Object.keys(choices).map((name) => `--${name}`);
	throw new UsageError(
		`${names.slice(0, -1).join(", ")} and ${names.at(-1)} choose among jobs of a queue, not with an ID.`,
	);
}

/** Throws NOT_FOUND, and CONFLICT for a job in a state that cannot be changed so. */
async function findOne(
	store: JobStore & JobAdmin,
	text: string,
	states: readonly JobState[],
) {
	const [job = null] = await lookupJobs(store, [text]);
	if (job === null) {
		throw new CorkboardError("NOT_FOUND", `There is no job ${text}.`);
	}
	if (states.includes(job.state)) return job;
	throw new CorkboardError(
		"CONFLICT",
		`Job ${text} is ${job.state}. This is for jobs that are ${states.join(" or ")}.${job.state === "running" ? ` If its worker has gone: jobs retry ${text} --running.` : ""}`,
	);
}
