import { readConfiguredTopology } from "../../app/openTopology.ts";
import { type Config, readConfig } from "../../config/config.ts";
import type { DumpedGraphOptions } from "../../dump/dumpedGraph.ts";
import type { RestorePartReport } from "../../dump/restorePart.ts";
import type { RestoreRecord } from "../../dump/restoreRecord.ts";
import type { RestoreReport } from "../../dump/runRestore.ts";
import type { Settled } from "../../dump/settleRestore.ts";
import type { RestoreTarget } from "../../dump/target/restoreTarget.ts";
import { CorkboardError } from "../../errors.ts";
import { type Id, parseId, unpackId } from "../../id/ids.ts";
import { createStoredTypes } from "../../model/storedTypes.ts";
import type { Model } from "../../model/types.ts";
import { readGraphId } from "../../ops/graphId.ts";
import { dataFoldersOf, shardsOf } from "../../topology/ranges.ts";
import type { Environment } from "../../topology/secret.ts";
import type { Topology } from "../../topology/types.ts";
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
		"Restores a dump into empty databases, or single objects of it into the graph while it is served.",
	arguments: { from: argument("FROM") },
	options: {
		shards: option(
			SHARD_RANGES,
			"only these shards of the dump, such as 0-255,512, and no lookups",
		),
		only: option(
			"TYPE:ID",
			"bring this object back if it is deleted, with what belongs to it; nothing that exists is changed",
		),
		resume: flag("continue a restore that was interrupted"),
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
		"With --only servers may run. Without it none may: each table is compared with",
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
		const { settleRestore } = await import("../../dump/settleRestore.ts");
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
		const { requireLockKept } = await import("../../app/readApp.ts");
		requireLockKept(await context.app());
		const progress = createProgressLine(context);
		let hasBegun = resume;
		try {
			const opened = {
				config,
				model,
				topology,
				parallel,
				isDryRun: dryRun,
				environment: context.env,
			};
			const { report, record } = await withTarget(opened, (target) =>
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
					onBegun: () => {
						hasBegun = true;
					},
					onProgress: ({ rows: { done, total }, secondsLeft }) =>
						progress.update(
							`${formatNumber(done)} of ${formatNumber(total)} rows${secondsLeft === null ? "" : `, ${formatSeconds(secondsLeft)} left`}`,
						),
				}),
			);
			if (dryRun) {
				return {
					value: { ...report, verified: null },
					lines: [wouldRestore(report, resume ? record : null)],
				};
			}
			progress.update("delivers outboxes, and verifies …");
			await using corkboard = await openForCommand(
				context,
				config,
				"readWrite",
				"restore",
			);
			const settled = await settleRestore(
				corkboard.store,
				createStoredTypes(corkboard.schema),
				record,
				signal,
			);
			return {
				value: { ...report, ...settled },
				lines: summary(report, settled),
				code: settled.verified.remaining.length > 0 ? 1 : 0,
			};
		} catch (error) {
			if (!signal.aborted) throw error;
			return {
				lines: [],
				notes: [
					`interrupted: run the restore again${hasBegun ? " with --resume" : "; nothing was changed"}`,
				],
				code: codeOfInterrupt(signal),
			};
		} finally {
			progress.end();
		}
	},
});

function wouldRestore(
	{ rows, databases }: RestoreReport,
	/** Null: it would begin. */
	record: RestoreRecord | null,
): string {
	const what = `${formatNumber(rows)} rows into ${formatNumber(databases)} databases`;
	return record === null
		? `would restore ${what}, all of them empty; every file is there and whole`
		: `would continue the restore of ${record.began} (${record.step}): ${what}`;
}

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
	const { requireSameGraph } = await import("../../dump/dumpedGraphId.ts");
	const { restorePart } = await import("../../dump/restorePart.ts");
	const { signal, files, dump } = options;
	await using corkboard = await openForCommand(
		context,
		config,
		isDryRun ? "readOnly" : "readWrite",
		"restore",
	);
	const { store } = corkboard;
	requireSameGraph(files, dump.head, await readGraphId(store.storage));
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
			notes: ["interrupted: run the restore again to continue it"],
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

function summary(
	{ rows, databases, tables, seconds }: RestoreReport,
	{ delivered, verified: { repaired, remaining } }: Settled,
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

/** Folders of SQLite files are locked meanwhile, and have their tables; but a dry run changes nothing there. */
async function withTarget<T>(
	{
		config,
		model,
		topology,
		parallel,
		isDryRun,
		environment,
	}: {
		readonly config: Config;
		readonly model: Model;
		readonly topology: Topology;
		readonly parallel: number;
		readonly isDryRun: boolean;
		readonly environment: Environment;
	},
	body: (target: RestoreTarget) => Promise<T>,
): Promise<T> {
	const folders = dataFoldersOf(topology);
	if (folders.size === 0) {
		const { MysqlTarget } = await import("../../dump/target/mysqlTarget.ts");
		await using target = new MysqlTarget(environment, parallel + 1);
		return await body(target);
	}
	const { SqliteTarget } = await import("../../dump/target/sqliteTarget.ts");
	if (isDryRun) {
		await using target = new SqliteTarget({ isDryRun });
		return await body(target);
	}
	const { createFolderTables, lockDataFolders } = await import(
		"../../app/openStore.ts"
	);
	const { openSqliteStorage } = await import(
		"../../storage/sqlite/sqliteStorage.ts"
	);
	await using opened = new AsyncDisposableStack();
	lockDataFolders(topology, "readWrite", opened);
	// Not by opening the graph: its outbox worker would write between rows that are loaded.
	const storage = opened.use(await openSqliteStorage({ model, topology }));
	const hasStore = config.store.kind === "topology";
	await createFolderTables(storage.admin, topology, hasStore);
	const target = opened.use(new SqliteTarget({ isDryRun }));
	return await body(target);
}
