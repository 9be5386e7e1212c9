import { CorkboardError } from "../../errors.ts";
import { findQueue, listQueues } from "../../queue/queueAdmin.ts";
import {
	type DecidedSpan,
	planRotation,
	rotate,
} from "../../queue/rotation.ts";
import { formatNumber } from "../../util/format.ts";
import { JSON_OPTION, type ParsedArguments, type Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import { accessOf } from "../queueChange.ts";
import {
	DRY_RUN_OPTION,
	failuresAsJson,
	openQueuesForCommand,
	reportFailures,
} from "../queueCommand.ts";
import { table } from "../table.ts";

/** The server did not let the table be changed. */
const REFUSED = 3;

export const usage: Usage = {
	summary:
		"Gives back the disk of finished jobs now, which workers do every three minutes.",
	operands: [],
	optionalOperands: ["QUEUE"],
	options: { "dry-run": DRY_RUN_OPTION, json: JSON_OPTION },
	details:
		"Prints each span of the past, with what becomes of it and why. No job that is to be kept is lost, also if this is interrupted.",
	exitCodes: {
		1: "a shard does not answer, or an error",
		3: "somebody else uses the table, so it was not changed; workers try again",
	},
};

interface Row {
	readonly queue: string;
	readonly shard: number;
	readonly spans: readonly DecidedSpan[];
	readonly bytes: number;
	readonly moved: number;
	readonly refused: string | null;
}

export async function run(
	given: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const {
		operands: [name],
		options,
	} = given;
	const isDryRun = options["dry-run"] !== undefined;
	await using opened = await openQueuesForCommand(context, accessOf(given));
	const { store } = opened;
	const { queues, failures } =
		name === undefined
			? await listQueues(store)
			: { queues: [await findQueue(store, name)], failures: new Map() };
	const failed = new Map<number, CorkboardError>(failures);
	const rows: Row[] = [];
	for (const { name: queue, settings, state, missingOn } of queues) {
		if (state === "deleting") continue;
		for (const shard of store.shards) {
			if (failed.has(shard) || missingOn.includes(shard)) continue;
			const at = { queue, shard };
			try {
				const done = isDryRun
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
	if (options.json === undefined) {
		context.stdout(printed(rows, isDryRun).join("\n"));
	} else {
		const shown = {
			dryRun: isDryRun,
			queues: rows.map(asJson),
			failures: failuresAsJson(failed),
		};
		context.stdout(JSON.stringify(shown, null, "\t"));
	}
	const code = reportFailures(context, failed);
	if (code !== 0) return code;
	return rows.some(({ refused }) => refused !== null) ? REFUSED : 0;
}

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
