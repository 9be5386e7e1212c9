import { open } from "node:fs/promises";
import type { Readable } from "node:stream";
import { setFlagsFromString } from "node:v8";
import { type Config, readConfig } from "../../config/config.ts";
import { CorkboardError } from "../../errors.ts";
import { createFieldReaders } from "../../model/fieldReaders.ts";
import {
	type ImportReport,
	importLines,
	PATIENT_RETRIES_MS,
} from "../../ops/import/importLines.ts";
import { formatNumber } from "../../util/format.ts";
import { codeOfInterrupt, INTERRUPTED } from "../arguments.ts";
import { argument, command, flag } from "../command.ts";
import { type CommandContext, openForCommand } from "../commandContext.ts";
import { createProgressLine, formatPace } from "../progress.ts";
import { present } from "../values.ts";

/** All bad lines are counted; this many are printed. */
const PRINTED_BAD_LINES = 100;

export const { usage, run } = command({
	summary:
		"Imports objects and edges from a file, one JSON value per line, parents first.",
	arguments: { file: argument("FILE|-") },
	options: {
		strict: flag("stop at the first bad line"),
	},
	details: [
		'  {"type":"TYPE","key":"u:7","fields":{"FIELD":"pinner7"}}',
		'  {"edge":"MAPPING","from":"u:7","to":"u:9"}',
		"",
		"Importing the same lines again changes nothing. Run an interrupted import again",
		"to resume it. Bad lines are reported and skipped. If a shard does not answer,",
		"it tries again for half a minute.",
	].join("\n"),
	exitCodes: { 1: "bad lines, or an error", ...INTERRUPTED },
	async run({ file, strict }, context) {
		const config = readConfig(context.env);
		limitYoungGeneration(config);
		const { bytes, totalBytes } = await openSource(file, context);
		const signal = context.interruptSignal();
		await using corkboard = await openForCommand(
			context,
			config,
			"readWrite",
			"import",
		);
		const { admin, schema, store } = corkboard;
		await admin.createTables();
		const progress = createProgressLine(context);
		let bad = 0;
		const report = await importLines(store, bytes, {
			fields: createFieldReaders(schema, store.domain.fields),
			strict,
			signal,
			...present({ totalBytes }),
			onWaiting: (what) => context.stderr(`waiting for ${what} …`),
			retryAfterMs: PATIENT_RETRIES_MS,
			onRetry(error, ms) {
				progress.end();
				context.stderr(`${error.message} Trying again in ${ms / 1_000} s.`);
			},
			onProgress: (done) => progress.update(formatPace(done)),
			onBadLine(line, reason) {
				if (++bad > PRINTED_BAD_LINES) return;
				progress.end();
				context.stderr(`line ${line}: ${reason}`);
			},
		});
		progress.end();
		if (bad > PRINTED_BAD_LINES) {
			context.stderr(`${formatNumber(bad - PRINTED_BAD_LINES)} more bad lines`);
		}
		const result = { value: report, lines: summary(report) };
		return report.status === "aborted"
			? {
					...result,
					notes: ["interrupted: run the import again to resume it"],
					code: codeOfInterrupt(signal),
				}
			: { ...result, code: report.bad === 0 ? 0 : 1 };
	},
});

/**
 * Limits V8's young generation. Lines become garbage with their batch, and by
 * default V8 keeps much of it: 355 MB after 116,372 lines, against 246 MB at the
 * same speed with semi-spaces of 8 MB. The batches of a fleet are larger: with
 * 8 MB a quarter of the time went into collections, with 16 MB a tenth.
 */
function limitYoungGeneration({ store }: Config): void {
	const megabytes = store.kind === "embedded" ? 8 : 16;
	setFlagsFromString(`--max-semi-space-size=${megabytes}`);
	setFlagsFromString("--semi-space-growth-factor=1");
}

function summary(report: ImportReport): readonly string[] {
	const { lines, objects, edges, existing, bad, pending } = report;
	const { changed, deleted, newerHere } = report;
	return [
		`${formatNumber(lines)} lines: ${formatNumber(sum(objects))} objects and ${formatNumber(sum(edges))} edges created, ${formatNumber(existing)} existing, ${formatNumber(bad)} bad`,
		...[...Object.entries(objects), ...Object.entries(edges)].map(
			([name, number]) => `  ${name} ${formatNumber(number)}`,
		),
		...(changed + deleted + newerHere > 0
			? [
					`${formatNumber(changed)} changed, ${formatNumber(deleted)} deleted, ${formatNumber(newerHere)} left because they were changed here since`,
				]
			: []),
		...(pending > 0
			? [
					`${formatNumber(pending)} outbox entries are pending, because a cache or a shard did not answer: servers deliver them, or the next import`,
				]
			: []),
	];
}

function sum(counts: Readonly<Record<string, number>>): number {
	return Object.values(counts).reduce((total, number) => total + number, 0);
}

async function openSource(
	file: string,
	context: CommandContext,
): Promise<{ readonly bytes: Readable; readonly totalBytes?: number }> {
	if (file === "-") return { bytes: context.stdin };
	try {
		// Opened here so that an unreadable file fails before anything else is opened.
		const handle = await open(file);
		const found = await handle.stat();
		if (found.isDirectory()) {
			await handle.close();
			throw new Error("it is a folder");
		}
		const bytes = handle.createReadStream();
		// A pipe (`<(zcat …)`) has no length.
		return found.isFile() ? { bytes, totalBytes: found.size } : { bytes };
	} catch (cause) {
		const { code, message } = cause as NodeJS.ErrnoException;
		throw new CorkboardError(
			"BAD_DATA",
			`Cannot read ${file}: ${code ?? message}.`,
			{ cause },
		);
	}
}
