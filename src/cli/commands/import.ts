import { open } from "node:fs/promises";
import type { Readable } from "node:stream";
import { setFlagsFromString } from "node:v8";
import { type Config, readConfig } from "../../config.ts";
import { CorkboardError } from "../../errors.ts";
import { createFieldReaders } from "../../model/fieldReaders.ts";
import {
	type ImportReport,
	importLines,
} from "../../ops/import/importLines.ts";
import type { ParsedArguments, Usage } from "../arguments.ts";
import { type CommandContext, openForCommand } from "../commandContext.ts";
import { createProgressLine, formatCount, formatPace } from "../progress.ts";

export const usage: Usage = {
	summary: "Reads a graph, a JSON object or edge a line, parents first.",
	operands: ["FILE|-"],
	options: { strict: { description: "stop at the first bad line" } },
	details: [
		'  {"type":"User","key":"u:7","fields":{"username":"pinner7"}}',
		'  {"edge":"followUser","from":"u:7","to":"u:9"}',
		"",
		"A second run of the same lines changes nothing, and one that was interrupted is",
		"gone on with by running it again. Bad lines are reported and left out (exit 1).",
	].join("\n"),
};

/** Bad lines are counted to the end and spelled out up to here. */
const SPELLED_BAD_LINES = 100;

export async function run(
	given: ParsedArguments,
	io: CommandContext,
): Promise<number> {
	const [file = "-"] = given.operands;
	const config = readConfig(io.env);
	limitYoungGeneration(config);
	const source = await openSource(file, io);
	const signal = io.interruptSignal();
	await using corkboard = await openForCommand(io, config, "readWrite");
	await corkboard.storage.createTables();
	const progress = createProgressLine(io);
	let bad = 0;
	const report = await importLines(corkboard.store, source.bytes, {
		fields: createFieldReaders(corkboard.schema, corkboard.store.domain.fields),
		strict: given.options.strict !== undefined,
		signal,
		...(source.totalBytes === undefined
			? {}
			: { totalBytes: source.totalBytes }),
		onWaiting: (what) => io.stderr(`waiting for ${what} …`),
		onProgress: (done) => progress.update(formatPace(done)),
		onBadLine(line, reason) {
			if (++bad > SPELLED_BAD_LINES) return;
			progress.end();
			io.stderr(`line ${line}: ${reason}`);
		},
	});
	progress.end();
	if (bad > SPELLED_BAD_LINES) {
		io.stderr(`and ${formatCount(bad - SPELLED_BAD_LINES)} bad lines more`);
	}
	io.stdout(summary(report));
	if (report.outcome === "aborted") {
		io.stderr("interrupted: run it again to go on");
		return signal.reason === "SIGTERM" ? 143 : 130;
	}
	return report.bad === 0 ? 0 : 1;
}

/**
 * Lines become garbage with their batch. V8's own choice lets a lot of it lie
 * about: 355 MB at the end of 116,372 lines, against 246 MB at the same speed
 * with 8 MB for the young. A fleet's batches are larger: with 8 MB a quarter of
 * the time went to collecting what outgrew them, with 32 MB a tenth.
 */
function limitYoungGeneration({ store }: Config): void {
	const megabytes = store.kind === "embedded" ? 8 : 16;
	setFlagsFromString(`--max-semi-space-size=${megabytes}`);
	setFlagsFromString("--semi-space-growth-factor=1");
}

function summary({ lines, objects, edges, existing, bad }: ImportReport) {
	return [
		`${formatCount(lines)} lines: ${formatCount(sum(objects))} objects and ${formatCount(sum(edges))} edges made, ${formatCount(existing)} there already, ${formatCount(bad)} bad`,
		...[...Object.entries(objects), ...Object.entries(edges)].map(
			([name, number]) => `  ${name} ${formatCount(number)}`,
		),
	].join("\n");
}

function sum(counts: Readonly<Record<string, number>>): number {
	return Object.values(counts).reduce((total, number) => total + number, 0);
}

async function openSource(
	file: string,
	io: CommandContext,
): Promise<{ readonly bytes: Readable; readonly totalBytes?: number }> {
	if (file === "-") return { bytes: io.stdin };
	try {
		// Opened here, so that one that cannot be is refused here.
		const handle = await open(file);
		const found = await handle.stat();
		if (found.isDirectory()) {
			await handle.close();
			throw new Error("a folder");
		}
		const bytes = handle.createReadStream();
		// A pipe (`<(zcat …)`) has no length.
		return found.isFile() ? { bytes, totalBytes: found.size } : { bytes };
	} catch (cause) {
		const { code, message } = cause as NodeJS.ErrnoException;
		throw new CorkboardError(
			"BAD_DATA",
			`expected a file to import but got: ${file} (${code ?? message})`,
			{ cause },
		);
	}
}
