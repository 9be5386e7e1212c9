import { readConfiguredTopology } from "../../app/openTopology.ts";
import { type Config, readConfig } from "../../config/config.ts";
import type { RestoreReport } from "../../dump/runRestore.ts";
import { CorkboardError } from "../../errors.ts";
import { deliverPending } from "../../graph/outbox/deliverPending.ts";
import { WritePipeline } from "../../graph/write/pipeline.ts";
import { createStoredTypes } from "../../model/storedTypes.ts";
import { type VerifyReport, verify } from "../../ops/verify/verify.ts";
import { dataFoldersOf, shardsOf } from "../../topology/ranges.ts";
import { formatNumber } from "../../util/format.ts";
import { codeOfInterrupt, INTERRUPTED, UsageError } from "../arguments.ts";
import {
	argument,
	command,
	DRY_RUN_FLAG,
	flag,
	option,
	type Result,
} from "../command.ts";
import { type CommandContext, openForCommand } from "../commandContext.ts";
import { createProgressLine } from "../progress.ts";
import { formatSeconds, integer, SHARD_RANGES } from "../values.ts";

const RAISE_BY = 1_000_000;

export const { usage, run } = command({
	summary:
		"Restores a dump into empty databases, or single objects of it into the living graph.",
	arguments: { from: argument("FROM") },
	options: {
		shards: option(
			SHARD_RANGES,
			"only these shards of the dump, such as 0-255,512, and no lookups",
		),
		resume: flag("go on with a restore that was interrupted"),
		raise: option(
			integer(1, 999_999_999),
			`how many local ids each table skips, because the dumped graph may have given them since (default ${formatNumber(RAISE_BY)})`,
			RAISE_BY,
		),
		parallel: option(
			integer(1, 64),
			"databases that are loaded at the same time (default 4)",
			4,
		),
		key: option("FILE", "the key that the dump was encrypted with"),
		endpoint: option("URL", "a server that speaks S3, other than that of AWS"),
		dryRun: DRY_RUN_FLAG,
	},
	details: [
		"FROM is file:FOLDER or s3://BUCKET/PREFIX with a dump that was made with --for restore.",
		"No server may run. Each table is compared with the dump, local ids are raised, outboxes",
		"are delivered, and verify --repair settles what differs between shards.",
	].join("\n"),
	exitCodes: {
		1: "damage that cannot be repaired, or an error",
		...INTERRUPTED,
	},
	async run(given, context) {
		const { from, key, shards, resume, parallel, dryRun } = given;
		// Loaded on demand: the help does not need them.
		const { databasesOf } = await import("../../dump/databases.ts");
		const { openFiles } = await import("../../dump/files/openFiles.ts");
		const { readCipher } = await import("../../dump/files/fileCipher.ts");
		const { readDump } = await import("../../dump/manifest.ts");
		const { requireRestorable, runRestore } = await import(
			"../../dump/runRestore.ts"
		);
		const config = readConfig(context.env);
		const { model } = await context.app();
		const cipher = key === undefined ? null : readCipher(key);
		const signal = context.interruptSignal();
		await using files = await openFiles(from, {
			endpoint: given.endpoint ?? null,
			sse: null,
		});
		const dump = await readDump(files);
		requireRestorable(files, dump, model, cipher);
		const topology = await readConfiguredTopology(config);
		const missing = shards?.find(
			(shard) => !shardsOf(topology.shards).includes(shard),
		);
		if (missing !== undefined) {
			throw new UsageError(`The topology has no shard ${missing}.`);
		}
		const isEmbedded = dataFoldersOf(topology).size > 0;
		// Embedded tables are made when the folder is opened for writing.
		if (isEmbedded) {
			await using _ = await openForCommand(context, config, "readWrite");
		}
		const databases = databasesOf(topology, model);
		const progress = createProgressLine(context);
		let report: RestoreReport;
		try {
			report = await withTarget(
				{ config, isEmbedded },
				context,
				parallel,
				(target) =>
					runRestore({
						...{ model, files, cipher, dump, databases, target },
						...{ resume, parallel, signal },
						isDryRun: dryRun,
						shards: shards ?? null,
						modShards: shardsOf(topology.lookups).length,
						raiseBy: given.raise,
						onProgress: ({ rows: { done, total }, secondsLeft }) =>
							progress.update(
								`${formatNumber(done)} of ${formatNumber(total)} rows${secondsLeft === null ? "" : `, ${formatSeconds(secondsLeft)} left`}`,
							),
					}),
			);
		} catch (error) {
			if (!signal.aborted) throw error;
			return {
				lines: [],
				notes: ["interrupted: run the restore again with --resume"],
				code: codeOfInterrupt(signal),
			};
		} finally {
			progress.end();
		}
		if (dryRun) {
			return {
				value: { ...report, verified: null },
				lines: [
					`would restore ${formatNumber(report.rows)} rows into ${formatNumber(report.databases)} databases, all of them empty; every file is there and whole`,
				],
			};
		}
		return settled(report, config, context, signal);
	},
});

/** Delivers what is in the outboxes, and repairs what differs between shards that were dumped one after another. */
async function settled(
	report: RestoreReport,
	config: Config,
	context: CommandContext,
	signal: AbortSignal,
): Promise<Result> {
	await using corkboard = await openForCommand(
		context,
		config,
		"readWrite",
		"restore",
	);
	const pass = await deliverPending(new WritePipeline(corkboard.store), 0);
	const verified = await verify(corkboard.store, {
		repair: true,
		types: createStoredTypes(corkboard.schema),
		signal,
	});
	return {
		value: { ...report, delivered: pass.delivered, verified },
		lines: summary(report, pass.delivered, verified),
		code: verified.remaining.length > 0 ? 1 : 0,
	};
}

function summary(
	{ rows, databases, tables, seconds }: RestoreReport,
	delivered: number,
	{ repaired, remaining }: VerifyReport,
): readonly string[] {
	return [
		`${formatNumber(rows)} rows restored into ${formatNumber(databases)} databases, ${formatSeconds(seconds)}; every table is as it was dumped`,
		...Object.entries(tables).map(
			([table, some]) => `  ${table} ${formatNumber(some)}`,
		),
		`${formatNumber(delivered)} outbox entries delivered, ${formatNumber(repaired)} rows repaired`,
		remaining.length === 0
			? "everything agrees"
			: "still damaged: run corkboard verify, which says what and where",
	];
}

/** Embedded: the folder is locked meanwhile. */
async function withTarget<T>(
	{
		config,
		isEmbedded,
	}: {
		readonly config: Config;
		readonly isEmbedded: boolean;
	},
	context: CommandContext,
	parallel: number,
	body: (
		target: import("../../dump/target/restoreTarget.ts").RestoreTarget,
	) => Promise<T>,
): Promise<T> {
	const { SqliteTarget } = await import("../../dump/target/sqliteTarget.ts");
	const { MysqlTarget } = await import("../../dump/target/mysqlTarget.ts");
	const { lockFolder } = await import(
		"../../storage/sqlite/driver/folderLock.ts"
	);
	if (!isEmbedded) {
		await using target = new MysqlTarget(context.env, parallel + 1);
		return await body(target);
	}
	const { store } = config;
	if (store.kind !== "embedded") {
		throw new CorkboardError(
			"BAD_CONFIG",
			"SQLite files are restored into the folder of CORKBOARD_DATA.",
		);
	}
	using _ = lockFolder(store.folder);
	await using target = new SqliteTarget();
	return await body(target);
}
