import { readConfig } from "../../config/config.ts";
import { CorkboardError } from "../../errors.ts";
import { PATIENT_RETRIES_MS } from "../../ops/import/importLines.ts";
import { groupByReason } from "../../ops/migrate/badRows.ts";
import { runPass } from "../../ops/migrate/runPass.ts";
import {
	readMigrationState,
	writeMigrationState,
} from "../../ops/migrate/state.ts";
import { formatNumber } from "../../util/format.ts";
import { codeOfInterrupt, columns, INTERRUPTED } from "../arguments.ts";
import {
	command,
	DRY_RUN_FLAG,
	flag,
	option,
	type Result,
} from "../command.ts";
import { openForCommand } from "../commandContext.ts";
import {
	filesOf,
	MAPPING,
	openMigration,
	reasonLines,
} from "../migrate/openMigration.ts";
import { passTable } from "../migrate/passTable.ts";
import { createProgressLine, formatPace } from "../progress.ts";
import { oneOf } from "../values.ts";

const run = command({
	summary:
		"Brings the rows of another database over: one pass, which is repeated until nothing is left to do.",
	arguments: { mapping: MAPPING },
	options: {
		since: flag(
			"read only what changed since the pass before, where the mapping names a column for that; finds no rows that are gone",
		),
		deleteMany: flag(
			"delete here what is gone there, also if it is more than a tenth",
		),
		dryRun: DRY_RUN_FLAG,
	},
	details: [
		"MAPPING is a module that says which tables and columns become which types and",
		"fields (migrate scaffold writes a first one). Rows that did not change cost a",
		"look-up. What was changed here since is left alone and counted. What is gone",
		"there is deleted here. Interrupted or killed, it goes on at the row after the",
		"last one that was written: MAPPING's .state.json says which.",
	].join("\n"),
	exitCodes: { 1: "bad rows, or an error", ...INTERRUPTED },
	async run({ mapping, since, deleteMany, dryRun }, context) {
		await using migration = await openMigration(mapping, context);
		const { plans, source, fields } = migration;
		const files = filesOf(mapping);
		const state = readMigrationState(files.state);
		const last = state.passes.at(-1);
		if (since && !state.passes.some((pass) => pass.isFinished)) {
			throw new CorkboardError(
				"BAD_USER_INPUT",
				"--since needs a full pass before it that has ended: run without --since first.",
			);
		}
		if (since && last?.kind === "full" && !last.isFinished) {
			throw new CorkboardError(
				"BAD_USER_INPUT",
				"The last full pass has not ended: run without --since to go on with it.",
			);
		}
		if (dryRun) {
			const tables = await Promise.all(
				plans.map(async (plan) => ({
					...{ name: plan.name, table: plan.table },
					rows: await source.estimate(plan),
				})),
			);
			return describe(tables, state.position);
		}
		const config = readConfig(context.env);
		const signal = context.interruptSignal();
		await using corkboard = await openForCommand(
			context,
			config,
			"readWrite",
			"migrate",
		);
		await corkboard.admin.createTables();
		const progress = createProgressLine(context);
		const report = await runPass(corkboard.store, {
			...{ plans, source, fields, state, deleteMany },
			isSince: since,
			badRows: files.badRows,
			saveState: (next) => writeMigrationState(files.state, next),
			writing: {
				signal,
				onWaiting: (what) => context.stderr(`waiting for ${what} …`),
				retryAfterMs: PATIENT_RETRIES_MS,
				onRetry(error, ms) {
					progress.end();
					context.stderr(`${error.message} Trying again in ${ms / 1_000} s.`);
				},
			},
			onProgress: (done) =>
				progress.update(`${done.table}: ${formatPace(done)}`),
		});
		progress.end();
		const { passes } = readMigrationState(files.state);
		const bad = report.bad > 0 ? groupByReason(files.badRows.read()) : [];
		const result: Result = {
			value: { pass: report, bad },
			lines: [...passTable(passes), ...reasonLines(bad, formatNumber)],
		};
		return signal.aborted && !report.isFinished
			? {
					...result,
					notes: ["interrupted: run the same command again to go on"],
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
					`${table}, ${rows === null ? "" : `about ${formatNumber(rows)} rows`}`,
				]),
			),
			...(position === null ? [] : [`It would go on in ${position.table}.`]),
			"Nothing was written. migrate check says which rows would be refused.",
		],
	};
}

const status = command({
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
		by: option(oneOf("reason", ["reason"]), "count them by reason"),
	},
	async run({ mapping, by }) {
		const rows = filesOf(mapping).badRows.read();
		if (by === "reason") {
			const groups = groupByReason(rows);
			return { value: groups, lines: reasonLines(groups, formatNumber) };
		}
		return {
			value: rows,
			lines: rows.map(({ key, reason }) => `${key}: ${reason}`),
		};
	},
});

export const verbs = { run, status, bad };
