import { readConfiguredTopology } from "../../app/openTopology.ts";
import { type Config, readConfig } from "../../config/config.ts";
import type { DumpedGraphOptions } from "../../dump/dumpedGraph.ts";
import type { RestorePartReport } from "../../dump/restorePart.ts";
import type { RestoreReport } from "../../dump/runRestore.ts";
import type { RestoreTarget } from "../../dump/target/restoreTarget.ts";
import { CorkboardError } from "../../errors.ts";
import { deliverPending } from "../../graph/outbox/deliverPending.ts";
import { WritePipeline } from "../../graph/write/pipeline.ts";
import { type Id, parseId, unpackId } from "../../id/ids.ts";
import { createStoredTypes } from "../../model/storedTypes.ts";
import type { Model } from "../../model/types.ts";
import { type VerifyReport, verify } from "../../ops/verify/verify.ts";
import { dataFoldersOf, shardsOf } from "../../topology/ranges.ts";
import { compact } from "../../util/compact.ts";
import { formatNumber, plural } from "../../util/format.ts";
import { quoted } from "../../util/quoted.ts";
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
		only: option(
			"TYPE:ID",
			"bring this object back, with what belongs to it, where it is deleted; nothing that lives is changed",
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
		"With --only servers go on. Without it no server may run: each table is compared with",
		"the dump, local ids are raised, outboxes are delivered, and verify --repair settles what differs between shards.",
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
		const folders = dataFoldersOf(topology);
		const databases = databasesOf(topology, model);
		if (given.only !== undefined) {
			if (resume || shards !== undefined) {
				throw new UsageError("--resume and --shards do not go with --only.");
			}
			const root = rootOf(given.only, model);
			return restoreOnly(
				root,
				{ files, cipher, dump, databases, isDryRun: dryRun, signal },
				config,
				context,
			);
		}
		// Embedded tables are made when the folder is opened for writing.
		if (folders.size > 0) {
			await using _ = await openForCommand(context, config, "readWrite");
		}
		const progress = createProgressLine(context);
		let report: RestoreReport;
		try {
			report = await withTarget(folders, context, parallel, (target) =>
				runRestore({
					model,
					files,
					cipher,
					dump,
					databases,
					target,
					resume,
					parallel,
					signal,
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

interface Root {
	readonly type: string;
	readonly id: Id;
}

/** `board:844562369085441`; the type's name in any case. Throws UsageError. */
function rootOf(text: string, { objects }: Model): Root {
	const [name = "", rest = ""] = text.split(":");
	const type = [...objects.values()].find(
		(each) => each.name.toLowerCase() === name.toLowerCase(),
	);
	const id = parseId(rest);
	if (type === undefined) {
		throw new UsageError(
			`--only must be TYPE:ID with a type of ${[...objects.keys()].join(", ")}, got ${quoted(text)}.`,
		);
	}
	if (id === "malformed" || id === "reserved") {
		throw new UsageError(`--only must be TYPE:ID, got ${quoted(text)}.`);
	}
	if (unpackId(id).type !== type.number) {
		throw new UsageError(
			`${id} is not the id of a ${type.name}: corkboard objects show ${id} says what it is.`,
		);
	}
	return { type: type.name, id };
}

async function restoreOnly(
	{ type, id }: Root,
	{
		isDryRun,
		...options
	}: Omit<DumpedGraphOptions, "store"> & { readonly isDryRun: boolean },
	config: Config,
	context: CommandContext,
): Promise<Result> {
	const { readPart } = await import("../../dump/dumpedGraph.ts");
	const { restorePart } = await import("../../dump/restorePart.ts");
	const { signal, files } = options;
	await using corkboard = await openForCommand(
		context,
		config,
		isDryRun ? "readOnly" : "readWrite",
		"restore",
	);
	const { store } = corkboard;
	const progress = createProgressLine(context);
	try {
		progress.update(`reading ${files.name} …`);
		const part = await readPart({ ...options, store }, id);
		if (part.objects.length === 0) {
			throw new CorkboardError(
				"NOT_FOUND",
				`The dump in ${files.name} has no ${type} ${id}, or it was deleted before the dump.`,
			);
		}
		const report = await restorePart(
			{
				store,
				isDryRun,
				signal,
				onStep: (what) => progress.update(`${what} …`),
			},
			part,
		);
		return { value: report, lines: summaryOfPart(report, isDryRun) };
	} catch (error) {
		if (!signal.aborted) throw error;
		return {
			lines: [],
			notes: ["interrupted: run the restore again to go on with it"],
			code: codeOfInterrupt(signal),
		};
	} finally {
		progress.end();
	}
}

function summaryOfPart(
	{ dumped, back, living, edges, left, taken }: RestorePartReport,
	isDryRun: boolean,
): readonly string[] {
	const numbers = Object.values(back);
	const objects = numbers.reduce((sum, each) => sum + each, 0);
	const come = isDryRun ? "would come back" : "came back";
	return compact([
		`${formatNumber(objects)} of ${plural(dumped, "object")} ${come}${living > 0 ? `; ${formatNumber(living)} live, and stay as they are` : ""}`,
		...Object.entries(back).map(
			([name, some]) => `  ${name} ${formatNumber(some)}`,
		),
		...Object.entries(edges).map(
			([name, some]) => `  ${name} ${formatNumber(some)}`,
		),
		left.removed > 0 &&
			`left: ${plural(left.removed, "edge")} that somebody removed before the deletion`,
		left.gone > 0 &&
			`left: ${plural(left.gone, "edge")} whose other end is gone`,
		...taken.map(
			(key) =>
				`taken by somebody else: ${key}. Run corkboard verify --repair, which gives another one`,
		),
	]);
}

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

/** Folders of SQLite files are locked meanwhile. */
async function withTarget<T>(
	folders: ReadonlySet<string>,
	context: CommandContext,
	parallel: number,
	body: (target: RestoreTarget) => Promise<T>,
): Promise<T> {
	if (folders.size === 0) {
		const { MysqlTarget } = await import("../../dump/target/mysqlTarget.ts");
		await using target = new MysqlTarget(context.env, parallel + 1);
		return await body(target);
	}
	const { SqliteTarget } = await import("../../dump/target/sqliteTarget.ts");
	const { lockFolder } = await import(
		"../../storage/sqlite/driver/folderLock.ts"
	);
	using locks = new DisposableStack();
	for (const folder of folders) locks.use(lockFolder(folder));
	await using target = new SqliteTarget();
	return await body(target);
}
