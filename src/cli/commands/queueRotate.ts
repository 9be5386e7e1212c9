import { CorkboardError } from "../../errors.ts";
import { findQueue, listQueues } from "../../queue/admin/queueAdmin.ts";
import type { ShardOfQueue } from "../../queue/jobStore.ts";
import {
	planRotation,
	type RotationReport,
	rotate,
} from "../../queue/rotation.ts";
import { formatNumber } from "../../util/format.ts";
import { command, DRY_RUN_FLAG, optional } from "../command.ts";
import {
	accessOf,
	failuresAsJson,
	openQueuesForCommand,
	reportFailures,
} from "../queue/queueCommand.ts";
import { table } from "../table.ts";

/** The server did not let the table be changed. */
const REFUSED = 3;

export const { usage, run } = command({
	summary:
		"Gives back the disk of finished jobs now, which workers do every three minutes.",
	arguments: { queue: optional("QUEUE") },
	options: { dryRun: DRY_RUN_FLAG },
	details:
		"Prints each span of the past, with what becomes of it and why. No job that is to be kept is lost, also if this is interrupted.",
	exitCodes: {
		1: "a shard does not answer, or an error",
		3: "somebody else uses the table, so it was not changed; workers try again",
	},
	async run({ queue, dryRun }, context) {
		await using opened = await openQueuesForCommand(context, accessOf(dryRun));
		const { store } = opened;
		const { queues, failures } =
			queue === undefined
				? await listQueues(store)
				: { queues: [await findQueue(store, queue)], failures: new Map() };
		const failed = new Map<number, CorkboardError>(failures);
		const rows: Row[] = [];
		for (const { name, settings, state, missingOn } of queues) {
			if (state === "deleting") continue;
			for (const shard of store.shards) {
				if (failed.has(shard) || missingOn.includes(shard)) continue;
				const at = { queue: name, shard };
				try {
					const done = dryRun
						? {
								spans: await planRotation(store, at, settings),
								bytes: 0,
								moved: 0,
								refused: null,
							}
						: await rotate(store, at, settings);
					rows.push({ ...at, ...done });
				} catch (error) {
					if (!(error instanceof CorkboardError)) throw error;
					failed.set(shard, error);
				}
			}
		}
		const { notes, code } = reportFailures(failed);
		const isRefused = rows.some(({ refused }) => refused !== null);
		return {
			value: {
				dryRun,
				queues: rows.map(asJson),
				failures: failuresAsJson(failed),
			},
			lines: printed(rows, dryRun),
			notes,
			code: code === 0 && isRefused ? REFUSED : code,
		};
	},
});

interface Row
	extends ShardOfQueue,
		Pick<RotationReport, "spans" | "bytes" | "moved" | "refused"> {}

function printed(rows: readonly Row[], isDryRun: boolean): readonly string[] {
	const spans = rows.flatMap(({ queue, shard, spans }) =>
		spans.map((span) => [
			queue,
			String(shard),
			hourText(span.bucket),
			megabytes(span.bytes),
			span.decision,
			span.why,
		]),
	);
	const lines =
		spans.length === 0
			? ["no spans of the past"]
			: table([
					["queue", "shard", "due until", "MB", "decision", "why"],
					...spans,
				]);
	if (isDryRun) return lines;
	return [
		...lines,
		...rows
			.filter(({ bytes, moved }) => bytes + moved > 0)
			.map(
				({ queue, shard, bytes, moved }) =>
					`${queue} on shard ${shard}: ${megabytes(bytes)} MB given back, ${formatNumber(moved)} jobs moved`,
			),
		...rows.flatMap(({ queue, shard, refused }) =>
			refused === null ? [] : [`${queue} on shard ${shard}: ${refused}`],
		),
	];
}

function asJson({ queue, shard, spans, bytes, moved, refused }: Row) {
	return {
		queue,
		shard,
		bytes,
		moved,
		refused,
		spans: spans.map(({ bucket, rows, decision, why, ...span }) => ({
			dueUntil: hourText(bucket),
			decision,
			why,
			bytes: span.bytes,
			jobs: rows,
			kept: {
				pending: span.pending,
				running: span.running,
				succeeded: span.succeeded,
				failed: span.failed,
			},
		})),
	};
}

/** The end of the hour. */
function hourText(bucket: number): string {
	return new Date((bucket + 1) * 3_600_000).toISOString();
}

function megabytes(bytes: number): string {
	return (bytes / 1_000_000).toFixed(1);
}
