import {
	openTopologyStore,
	readConfiguredTopology,
} from "../../app/openTopology.ts";
import { readConfig } from "../../config/config.ts";
import type { DumpProgress, DumpReport } from "../../dump/runDump.ts";
import { CorkboardError } from "../../errors.ts";
import { type DumpEnd, recordDump } from "../../topology/dumps.ts";
import { shardsOf } from "../../topology/ranges.ts";
import { formatBytes, formatNumber } from "../../util/format.ts";
import { reasonOf } from "../../util/reasonOf.ts";
import { readTextFile, whyUnread } from "../../util/textFile.ts";
import { codeOfInterrupt, INTERRUPTED, UsageError } from "../arguments.ts";
import { argument, command, flag, option } from "../command.ts";
import { createProgressLine } from "../progress.ts";
import {
	duration,
	formatSeconds,
	integer,
	oneOf,
	SHARD_RANGES,
} from "../values.ts";

const MAX_LAG_MS = 5_000;

export const { usage, run } = command({
	summary:
		"Dumps the graph from replicas into files, for analysis or to restore it.",
	arguments: { dest: argument("DEST") },
	options: {
		for: option(
			oneOf("PURPOSE", ["analytics", "restore"]),
			"analytics: what everybody may see, as fields of the API; restore: all rows as stored (default analytics)",
			"analytics" as const,
		),
		shards: option(
			SHARD_RANGES,
			"only these shards, such as 0-255,512, and no lookups",
		),
		parallel: option(
			integer(1, 64),
			"databases that are read at the same time (default 4)",
			4,
		),
		rate: option(
			integer(1, 99_999_999),
			"rows a second at most (default: as fast as it goes)",
		),
		maxLag: option(
			duration(0),
			"wait while a replica is further behind (default 5s)",
			MAX_LAG_MS,
		),
		erased: option(
			"FILE",
			"with --for analytics: leave out objects with these ids, one a line, and their edges",
		),
		primaries: flag(
			"read the primary of a range that has no replica in the topology",
		),
		key: option(
			"FILE",
			"encrypt the files with the key in this file, of 32 bytes or more",
		),
		sse: option(
			"KIND",
			"let the bucket encrypt: AES256, aws:kms or aws:kms:KEY",
		),
		unencrypted: flag("with --for restore: the files are not encrypted"),
		endpoint: option("URL", "a server that speaks S3, other than that of AWS"),
	},
	details: [
		"DEST is file:FOLDER or s3://BUCKET/PREFIX; AWS's own settings have the account and the region.",
		"Every database is read at one moment, named in its manifest. To continue an interrupted dump,",
		"run it again with the same options. --for restore has e-mail addresses and",
		"everything else that is stored, so it needs --key, --sse or --unencrypted.",
	].join("\n"),
	exitCodes: INTERRUPTED,
	async run(given, context) {
		const { dest, key, sse, unencrypted, maxLag, rate, parallel } = given;
		const isEncrypted = key !== undefined || sse !== undefined;
		if (given.for === "restore" && !isEncrypted && !unencrypted) {
			throw new UsageError(
				"A dump to restore has e-mail addresses and everything else that is stored. Give --key FILE or --sse KIND to encrypt it, or --unencrypted.",
			);
		}
		if (isEncrypted && unencrypted) {
			throw new UsageError("--unencrypted does not go with --key or --sse.");
		}
		if (given.erased !== undefined && given.for === "restore") {
			throw new UsageError(
				"--erased is for --for analytics: a dump for a restore has all rows. Erase these users again after the restore.",
			);
		}
		if (key !== undefined && given.for === "analytics") {
			throw new UsageError(
				"--key is for --for restore: programs that read a dump for analysis cannot decrypt it.",
			);
		}
		const config = readConfig(context.env, { secret: "unneeded" });
		const { model, schema, domain } = await context.app();
		// Loaded on demand: the help does not need them.
		const { databasesOf } = await import("../../dump/databases.ts");
		const { openFiles } = await import("../../dump/files/openFiles.ts");
		const { readCipher } = await import("../../dump/files/fileCipher.ts");
		const { openSource } = await import("../../dump/openSource.ts");
		const { runDump } = await import("../../dump/runDump.ts");
		const cipher = key === undefined ? null : readCipher(key);
		const erased = await readIds(given.erased);
		const topology = await readConfiguredTopology(config);
		const databases = databasesOf(topology, model).filter(({ kind, number }) =>
			kind === "mod"
				? given.for === "restore" && given.shards === undefined
				: (given.shards?.includes(number) ?? true),
		);
		const missing = given.shards?.find(
			(shard) => !databases.some(({ number }) => number === shard),
		);
		if (missing !== undefined) {
			throw new UsageError(`The topology has no shard ${missing}.`);
		}
		const signal = context.interruptSignal();
		await using files = await openFiles(dest, {
			endpoint: given.endpoint ?? null,
			sse: sse ?? null,
		});
		await using source = openSource({
			model,
			topology,
			databases,
			environment: context.env,
			mayReadPrimaries: given.primaries,
		});
		const faults = await source.faults(databases);
		if (faults.length > 0) {
			throw new CorkboardError("UNAVAILABLE", faults.join("\n"));
		}
		const progress = createProgressLine(context);
		const record = async (end: DumpEnd) => {
			if (config.store.kind === "embedded") return;
			try {
				await using store = openTopologyStore(config.store);
				await recordDump(store, given.for, end);
			} catch (thrown) {
				context.stderr(
					`The metrics of servers will not show how this dump ended: ${reasonOf(thrown)}`,
				);
			}
		};
		const report = await runDump({
			model,
			schema,
			domain,
			source,
			files,
			cipher,
			databases,
			for: given.for,
			erased,
			parallel,
			signal,
			modShards: shardsOf(topology.lookups).length,
			rate: rate ?? null,
			maxLagSeconds: maxLag / 1_000,
			onProgress: (now) => progress.update(describeProgress(now)),
			onLate(server, seconds) {
				progress.end();
				context.stderr(`${server} is ${seconds} s behind: waiting for it …`);
			},
		})
			.catch(async (thrown: unknown) => {
				await record("failed");
				throw thrown;
			})
			.finally(() => progress.end());
		// One of some shards does not stand for the fleet.
		if (report.status === "done" && given.shards === undefined) {
			await record(report);
		}
		const result = { value: report, lines: summary(report, files.name) };
		return report.status === "aborted"
			? {
					...result,
					notes: ["interrupted: run the dump again to continue it"],
					code: codeOfInterrupt(signal),
				}
			: result;
	},
});

/** One on each line; what follows a space is a comment. Throws BAD_DATA. */
async function readIds(file: string | undefined): Promise<readonly string[]> {
	if (file === undefined) return [];
	let text: string;
	try {
		text = await readTextFile(file);
	} catch (cause) {
		throw new CorkboardError(
			"BAD_DATA",
			`Cannot read ${file}: ${whyUnread(cause)}.`,
			{ cause },
		);
	}
	const ids = text
		.split("\n")
		.map((line) => line.trim().split(/\s/)[0] ?? "")
		.filter((id) => id !== "");
	const wrong = ids.find((id) => !/^\d{1,20}$/.test(id));
	if (wrong !== undefined) {
		throw new CorkboardError(
			"BAD_DATA",
			`${file} has to have an id on each line, got ${JSON.stringify(wrong)}.`,
		);
	}
	return ids;
}

function describeProgress({
	databases: { done, total },
	rows,
	bytes,
	secondsLeft,
	waitsFor,
}: DumpProgress): string {
	return [
		`${formatNumber(done)} of ${formatNumber(total)} databases`,
		`${formatNumber(rows)} rows`,
		formatBytes(bytes),
		...(secondsLeft === null ? [] : [`${formatSeconds(secondsLeft)} left`]),
		...(waitsFor === null ? [] : [`waits for ${waitsFor}`]),
	].join(", ");
}

function summary(
	{ databases, rows, bytes, maxLagSeconds, tables, seconds }: DumpReport,
	name: string,
): readonly string[] {
	const { total, done, before } = databases;
	return [
		`${formatNumber(done + before)} of ${formatNumber(total)} databases${before > 0 ? ` (${formatNumber(before)} by a run before)` : ""}: ${formatNumber(rows)} rows, ${formatBytes(bytes)} in ${name}, ${formatSeconds(seconds)}${maxLagSeconds === null ? "" : `, replicas at most ${maxLagSeconds} s behind`}`,
		...Object.entries(tables)
			.filter(([, some]) => some > 0)
			.map(([table, some]) => `  ${table} ${formatNumber(some)}`),
	];
}
