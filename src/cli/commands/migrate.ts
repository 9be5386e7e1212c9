import type { Corkboard } from "../../app/openCorkboard.ts";
import { readConfig } from "../../config/config.ts";
import { CorkboardError } from "../../errors.ts";
import { createFieldReaders } from "../../model/fieldReaders.ts";
import { createLineReader } from "../../ops/import/lineReader.ts";
import { backFeedLines } from "../../ops/migrate/backFeed.ts";
import { groupByReason } from "../../ops/migrate/badRows.ts";
import { checkRows, type TableCheck } from "../../ops/migrate/checkRows.ts";
import {
	compareObjects,
	type ObjectComparison,
} from "../../ops/migrate/compareObjects.ts";
import { partsOfKey } from "../../ops/migrate/keys.ts";
import { scaffold as scaffoldOf } from "../../ops/migrate/scaffold.ts";
import { shadow as shadowScreens } from "../../ops/migrate/shadow.ts";
import { openSource } from "../../ops/migrate/sources/openSource.ts";
import { isWhole, readMigrationState } from "../../ops/migrate/state.ts";
import { formatNumber } from "../../util/format.ts";
import { Pace } from "../../util/pace.ts";
import { quoted } from "../../util/quoted.ts";
import {
	codeOfInterrupt,
	columns,
	INTERRUPTED,
	UsageError,
} from "../arguments.ts";
import {
	argument,
	command,
	DRY_RUN_FLAG,
	flag,
	option,
	type Result,
	required,
} from "../command.ts";
import { type CommandContext, openForCommand } from "../commandContext.ts";
import { compareSides, comparisonLines } from "../migrate/compareSides.ts";
import { finishMigration } from "../migrate/finish.ts";
import {
	filesOf,
	MAPPING,
	openMigration,
	readScreens,
	reasonLines,
} from "../migrate/openMigration.ts";
import { passTable } from "../migrate/passTable.ts";
import { openRunner, stopFollowing } from "../migrate/runner.ts";
import { screenLines, showScreens } from "../migrate/showScreens.ts";
import { createProgressLine } from "../progress.ts";
import { table } from "../table.ts";
import { decimal, duration, integer, list } from "../values.ts";

const run = command({
	summary:
		"Brings the rows of another database over: one pass, which is repeated until nothing is left to do.",
	arguments: { mapping: MAPPING },
	options: {
		changed: flag(
			"read only what changed since the last pass, of tables whose mapping names the column changed; rows that are gone are not found",
		),
		follow: flag(
			"take over what changes, from the log of the old database, until it is interrupted; the first time after a full pass",
		),
		timeout: option(
			duration(1_000, 365 * 86_400_000),
			"with --follow: end after so long, such as 10m",
		),
		unfollow: flag(
			"follow no more: the old database need not keep its log for this",
		),
		only: option(
			list("NAMES"),
			"read only these types and edges, separated by commas: the other rows stay for other passes",
		),
		rate: option(
			integer(1, 10_000_000, "ROWS"),
			"read at most so many rows a second (default: as many as can be written)",
		),
		deleteMany: flag(
			"delete here what is gone there, even if it is more than a tenth",
		),
		revive: flag(
			"bring back what is deleted here and not there; use it only before clients switch, because it also brings back what they deleted",
		),
		dryRun: DRY_RUN_FLAG,
	},
	details: [
		"MAPPING is a module that says which tables and columns become which types and",
		"fields (migrate scaffold writes a first one). A row that did not change costs a",
		"look-up. An object that was changed here since is left alone and counted. What is gone",
		"there is deleted here. A pass that was interrupted or killed continues after the",
		"last row that was written: MAPPING's .state.json says which.",
		"",
		"--follow reads the binary log of MySQL or MariaDB, or a replication slot of",
		"PostgreSQL, which keeps its log until migrate finish or --unfollow.",
	].join("\n"),
	exitCodes: { 1: "bad rows, or an error", ...INTERRUPTED },
	async run(given, context) {
		const { mapping, changed, follow, unfollow, deleteMany, dryRun } = given;
		if (Number(changed) + Number(follow) + Number(unfollow) > 1) {
			throw new UsageError(
				"Give one of --changed, --follow and --unfollow: each is a way of its own.",
			);
		}
		if (given.revive && (changed || follow || unfollow)) {
			throw new UsageError(
				"--revive needs a full pass: no --changed, --follow or --unfollow.",
			);
		}
		if (given.only !== undefined && (follow || unfollow)) {
			throw new UsageError("A log is followed for all tables: no --only.");
		}
		if (given.timeout !== undefined && !follow) {
			throw new UsageError("--timeout needs --follow.");
		}
		await using migration = await openMigration(mapping, context);
		const { plans, source, files } = migration;
		const state = readMigrationState(files.state);
		const last = state.passes.at(-1);
		const { only } = given;
		const unknown = only?.find((one) =>
			plans.every(({ name }) => name !== one),
		);
		if (unknown !== undefined) {
			throw new CorkboardError(
				"BAD_USER_INPUT",
				`--only: the mapping has no ${unknown}. It has ${plans.map(({ name }) => name).join(", ")}.`,
			);
		}
		if (changed && !state.passes.some(isWhole)) {
			throw new CorkboardError(
				"BAD_USER_INPUT",
				"--changed needs a full pass before it that has ended: run without --changed first.",
			);
		}
		if (changed && last?.kind === "full" && !last.isFinished) {
			throw new CorkboardError(
				"BAD_USER_INPUT",
				"The last full pass has not ended: run without --changed to continue it.",
			);
		}
		if (dryRun) {
			const tables = await Promise.all(
				plans.map(async (plan) => ({
					name: plan.name,
					table: plan.table,
					rows: await source.estimate(plan),
				})),
			);
			return describe(tables, state.position);
		}
		if (unfollow) return stopFollowing(migration);
		const signal = context.interruptSignal();
		await using runner = await openRunner(migration, context, given.rate);
		const report = follow
			? await runner.follow({ ...given, signal })
			: await runner.pass({
					onlyChanged: changed,
					deleteMany,
					revives: given.revive,
					signal,
					...(only !== undefined && { only }),
				});
		const { passes } = readMigrationState(files.state);
		const { bad: decided, withRefused, withDeleted } = report;
		const hasBad = decided + withRefused + withDeleted > 0;
		const bad = hasBad ? groupByReason(files.badRows.read()) : [];
		const result: Result = {
			value: { pass: report, bad },
			lines: [...passTable(passes), ...reasonLines(bad)],
		};
		return signal.aborted && (follow || !report.isFinished)
			? {
					...result,
					notes: ["interrupted: run the same command again to continue"],
					code: codeOfInterrupt(signal),
				}
			: { ...result, code: report.bad === 0 ? 0 : 1 };
	},
});

function describe(
	tables: readonly {
		readonly name: string;
		readonly table: string;
		readonly rows: number | null;
	}[],
	position: { readonly table: string } | null,
): Result {
	return {
		value: { tables, resumesAt: position?.table ?? null },
		lines: [
			...columns(
				tables.map(({ name, table, rows }) => [
					name,
					rows === null ? table : `${table}, about ${formatNumber(rows)} rows`,
				]),
			),
			...(position === null ? [] : [`It would continue in ${position.table}.`]),
			"Nothing was written. migrate check says which rows would be refused.",
		],
	};
}

const status = command({
	isWatched: true,
	summary: "Says how far a migration is: what each pass did.",
	arguments: { mapping: MAPPING },
	async run({ mapping }) {
		const { passes, position } = readMigrationState(filesOf(mapping).state);
		return {
			value: { passes, resumesAt: position?.table ?? null },
			lines:
				passes.length === 0
					? ["No pass has begun: migrate run begins the first one."]
					: passTable(passes),
		};
	},
});

const bad = command({
	summary: "Lists the rows that the last passes of a migration refused.",
	arguments: { mapping: MAPPING },
	options: {
		byReason: flag("count them by reason"),
	},
	async run({ mapping, byReason }) {
		const rows = filesOf(mapping).badRows.read();
		if (byReason) {
			const groups = groupByReason(rows);
			return { value: groups, lines: reasonLines(groups) };
		}
		return {
			value: rows,
			lines: rows.map(({ key, reason }) => `${key}: ${reason}`),
		};
	},
});

function openToRead(context: CommandContext): Promise<Corkboard> {
	return openForCommand(context, readConfig(context.env), "readOnly");
}

const ROWS = 1_000;

const check = command({
	summary:
		"Reads the first rows of each table, and says which of them a pass would refuse, and why.",
	arguments: { mapping: MAPPING },
	options: {
		limit: option(
			integer(1, 1_000_000),
			`read so many rows of each table (default ${formatNumber(ROWS)})`,
			ROWS,
		),
	},
	exitCodes: { 1: "rows would be refused, or an error" },
	async run({ mapping, limit }, context) {
		await using migration = await openMigration(mapping, context);
		const { plans, source, fields } = migration;
		const { model, domain } = await context.app();
		const tables: TableCheck[] = [];
		const given = { model, domain, fields, limit };
		for await (const one of checkRows(plans, source, given)) tables.push(one);
		const isClean = tables.every(({ bad }) =>
			bad.every(({ hangsOn }) => hangsOn !== null),
		);
		return {
			value: tables,
			lines: tables.flatMap(({ rows, deleted, leftOut, bad, ...one }) => [
				[
					`${one.name} (${one.table}): ${formatNumber(rows)} rows read`,
					...(deleted > 0 ? [`${formatNumber(deleted)} deleted`] : []),
					...(leftOut > 0 ? [`${formatNumber(leftOut)} left out`] : []),
				].join(", "),
				...reasonLines(bad),
			]),
			code: isClean ? 0 : 1,
		};
	},
});

const show = command({
	summary: "Shows an object of the old database, field by field on both sides.",
	arguments: { mapping: MAPPING, key: argument("KEY") },
	details: "KEY is the type and the key of the row: TYPE:8123.",
	exitCodes: { 1: "the sides differ, or an error" },
	async run({ mapping, key }, context) {
		await using migration = await openMigration(mapping, context);
		const { plans, source, fields, files } = migration;
		const plan = plans.find(
			({ kind, name }) => kind === "object" && key.startsWith(`${name}:`),
		);
		if (plan === undefined) {
			const types = plans.filter(({ kind }) => kind === "object");
			throw new CorkboardError(
				"BAD_USER_INPUT",
				`KEY must be a type of the mapping and a key, such as ${types[0]?.name}:1, got ${JSON.stringify(key)}.`,
			);
		}
		const rows = await source.rowsOf(plan, [partsOfKey(plan.key, key)]);
		const line = rows.flatMap((row) => plan.lineOf(row) ?? [])[0] ?? {
			key,
			isDeleted: true,
			line: { problem: "" },
		};
		await using corkboard = await openToRead(context);
		const { store } = corkboard;
		const reader = createLineReader(store, fields);
		const [found] = await compareObjects(store, reader, [line]);
		const compared = found as ObjectComparison;
		const refused = files.badRows.read().find((row) => row.key === key);
		// What a row lacks, and what collides with it, only passes find.
		const {
			id,
			state,
			reason,
			fields: sides,
		} = refused !== undefined &&
		!["equal", "newer here"].includes(compared.state)
			? { ...compared, state: "bad", reason: refused.reason }
			: compared;
		return {
			value: { key, id, state, reason, fields: sides },
			lines: [
				`${key}: ${state}${id === null ? "" : `, id ${id}`}${rows.length === 0 ? `; ${source.shownUrl} has no such row` : ""}${reason === null ? "" : `: ${reason}`}`,
				...table([
					["field", "there", "here", ""],
					...sides.map(({ field, there, here, isEqual }) => [
						field,
						JSON.stringify(there),
						JSON.stringify(here),
						isEqual ? "" : "differs",
					]),
				]),
			],
			code: state === "equal" ? 0 : 1,
		};
	},
});

const SAMPLE = option(
	decimal(0, 100, "PERCENT"),
	"compare so many of all objects (default 1), always the same ones",
	1,
);

const compare = command({
	summary:
		"Compares objects and whole lists with the old database, through the mapping.",
	arguments: { mapping: MAPPING },
	options: {
		sample: SAMPLE,
		all: flag("compare all objects and lists"),
	},
	isWatched: true,
	details:
		"With --watch each time takes other objects. It compares the members of lists and their times, which give the order. Two things are no differences: rows that passes refuse, which count as bad, and what was changed here since, which counts as newer here.",
	exitCodes: { 1: "differences, or an error", ...INTERRUPTED },
	async run({ mapping, sample, all, watch = false }, context) {
		await using migration = await openMigration(mapping, context);
		const signal = context.interruptSignal();
		await using corkboard = await openToRead(context);
		const found = await compareSides(corkboard.store, migration, context, {
			share: all ? 1 : sample / 100,
			// Each time other ones.
			salt: watch ? String(Date.now()) : "",
			signal,
		});
		return {
			value: found,
			lines: comparisonLines(found),
			...(signal.aborted && { notes: ["interrupted"] }),
			code: signal.aborted
				? codeOfInterrupt(signal)
				: found.differ === 0
					? 0
					: 1,
		};
	},
});

const shadow = command({
	summary:
		"Shows screens here and as the old application has them, for sampled objects, and compares their rows.",
	arguments: { mapping: MAPPING, screens: argument("SCREENS") },
	options: {
		sample: SAMPLE,
		rate: option(
			integer(1, 10_000_000, "SAMPLES"),
			"show at most so many a second (default: as many as both sides answer)",
		),
	},
	details:
		"SCREENS is a module beside the mapping: export default screens({ NAME: { of, document, rows, sql, fields } }). It compares the number of rows of each screen, their order and each field.",
	exitCodes: { 1: "differences, or an error", ...INTERRUPTED },
	async run({ mapping, screens: file, sample, rate }, context) {
		const screens = await readScreens(file);
		await using migration = await openMigration(mapping, context);
		const signal = context.interruptSignal();
		await using corkboard = await openToRead(context);
		const progress = createProgressLine(context);
		const reports = await shadowScreens(corkboard.store, {
			screens,
			plans: migration.plans,
			source: migration.source,
			show: showScreens(corkboard, screens),
			share: sample / 100,
			pace: new Pace({
				rowsPerSecond: rate ?? null,
				bytesPerSecond: null,
				maxLagSeconds: Number.POSITIVE_INFINITY,
			}),
			signal,
			onProgress: (name, samples) =>
				progress.update(`${name}: ${formatNumber(samples)} samples compared`),
		}).finally(() => progress.end());
		const isEqual = reports.every(({ differ }) => differ === 0);
		return {
			value: reports,
			lines: screenLines(reports),
			...(signal.aborted && { notes: ["interrupted"] }),
			code: signal.aborted ? codeOfInterrupt(signal) : isEqual ? 0 : 1,
		};
	},
});

const finish = command({
	summary:
		"Makes the last pass once writes to the old database are stopped, compares both sides, and says whether clients can switch.",
	arguments: { mapping: MAPPING },
	options: {
		writesStopped: flag(
			"believe that writes are stopped although the settings of the old database do not show it; a write that still comes is noticed",
		),
		acceptBad: flag("leave behind the rows that were refused"),
		deleteMany: flag(
			"delete here what is gone there, even if it is more than a tenth",
		),
	},
	details: [
		"It refuses while the old database takes writes. It follows its log to the end if",
		"it is followed, makes full passes until one has nothing to do, compares all",
		"objects and lists, and looks whether a write came meanwhile. It may be repeated.",
	].join("\n"),
	exitCodes: { 1: "something is in the way, or an error", ...INTERRUPTED },
	async run({ mapping, ...given }, context) {
		await using migration = await openMigration(mapping, context);
		const signal = context.interruptSignal();
		const result = await finishMigration(migration, context, {
			...given,
			signal,
		});
		return signal.aborted
			? { ...result, code: codeOfInterrupt(signal) }
			: result;
	},
});

const backFeed = command({
	summary:
		"Prints what was made, changed and deleted here since the migration, as lines with the keys of the old database.",
	arguments: { mapping: MAPPING },
	details: [
		"A script of yours writes them to the old database, if you have to go back. The",
		"lines are those of import. What was made here has the key new:ID. All that",
		"differs is printed each time, so the script has to take a line it knows.",
	].join("\n"),
	hasJson: false,
	async run({ mapping }, context) {
		await using migration = await openMigration(mapping, context);
		const signal = context.interruptSignal();
		await using corkboard = await openToRead(context);
		for await (const line of backFeedLines(corkboard.store, migration.plans)) {
			context.stdout(JSON.stringify(line));
			if (signal.aborted) return codeOfInterrupt(signal);
		}
		return 0;
	},
});

const scaffold = command({
	summary: "Writes a first mapping, guessed from the tables of a database.",
	options: {
		from: required(
			"URL",
			"the old database: mysql://…, postgres://… or file:…",
		),
		tables: option(
			list("TYPE=TABLE,…"),
			"the tables of types that have other names there",
		),
	},
	details:
		"It prints the mapping, with open questions in it: redirect it to a file, read each line, then run migrate check.",
	hasJson: false,
	async run({ from, tables = [] }, context) {
		const { model, schema, domain } = await context.app();
		const fields = createFieldReaders(schema, domain.fields);
		await using source = await openSource(from, process.cwd());
		const guessed = scaffoldOf({ model, fields }, source, namedTables(tables));
		return { lines: [guessed.trimEnd()] };
	},
});

/** `Board=forums`. Throws UsageError. */
function namedTables(given: readonly string[]): ReadonlyMap<string, string> {
	return new Map(
		given.map((one) => {
			const [type = "", table = ""] = one.split("=");
			if (type !== "" && table !== "") return [type, table];
			throw new UsageError(`--tables needs TYPE=TABLE, got ${quoted(one)}.`);
		}),
	);
}

export const verbs = {
	scaffold,
	check,
	run,
	status,
	bad,
	show,
	compare,
	shadow,
	finish,
	"back-feed": backFeed,
};
