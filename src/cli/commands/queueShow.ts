import { CorkboardError } from "../../errors.ts";
import { lookupJobs } from "../../queue/admin/changeJobs.ts";
import { columns } from "../arguments.ts";
import { argument, command } from "../command.ts";
import {
	jobAsJson,
	openQueuesForCommand,
	type PrintedJob,
} from "../queue/queueCommand.ts";

export const { usage, run } = command({
	summary:
		"Prints a job: its state, its attempts, what workers said, its body.",
	arguments: { id: argument("ID") },
	details:
		"ID is such as feedPin.3.497904.01jd9k4w7r2bx8q0m5t6v3n1ye, as jobs list and the log print it.",
	async run({ id }, context) {
		await using opened = await openQueuesForCommand(context, "readOnly");
		const [found = null] = await lookupJobs(opened.store, [id], { body: true });
		if (found === null) {
			throw new CorkboardError(
				"NOT_FOUND",
				`There is no job ${id}. Finished jobs are kept for a while (keepSucceededMs and keepFailedMs of the queue), and then deleted.`,
			);
		}
		const job = jobAsJson(found);
		return { value: job, lines: printed(job) };
	},
});

function printed(job: PrintedJob): readonly string[] {
	const { dueAt, claimEndsAt, endedAt, status } = job;
	const rows: (readonly [string, string])[] = [
		["id", job.id],
		["queue", job.queue],
		["shard", String(job.shard)],
		["state", job.state],
		["priority", String(job.priority)],
		["created", job.createdAt],
		...row("due", dueAt),
		...row("claim ends", claimEndsAt),
		...row("ended", endedAt),
		["attempts", `${job.attempts} of ${job.allowed}`],
		...row("key", job.key),
		...status.map((line, index): readonly [string, string] => [
			index === 0 ? "status" : "",
			line,
		]),
		["body", pretty(job.body ?? "")],
	];
	return columns(rows).map((line) => line.slice(2));
}

function row(
	name: string,
	value: string | null,
): readonly (readonly [string, string])[] {
	return value === null ? [] : [[name, value]];
}

/** JSON over several lines, anything else as it is; without characters that would move the cursor. */
function pretty(body: string): string {
	try {
		return JSON.stringify(JSON.parse(body));
	} catch {
		return JSON.stringify(body);
	}
}
