import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import { type BadGroup, groupByReason } from "../../ops/migrate/badRows.ts";
import type { Comparison } from "../../ops/migrate/compareAll.ts";
import {
	type PassReport,
	readMigrationState,
	writeMigrationState,
} from "../../ops/migrate/state.ts";
import { formatNumber } from "../../util/format.ts";
import type { Result } from "../command.ts";
import type { CommandContext } from "../commandContext.ts";
import { compareSides, comparisonLines } from "./compareSides.ts";
import { type OpenedMigration, reasonLines } from "./openMigration.ts";
import { passTable } from "./passTable.ts";
import { openRunner, type Runner, stopFollowing } from "./runner.ts";

interface FinishOptions {
	/** Writes were stopped in a way that the settings of the database do not show. */
	readonly writesStopped: boolean;
	/** Rows that were refused stay behind. */
	readonly acceptBad: boolean;
	readonly deleteMany: boolean;
	readonly signal: AbortSignal;
}

interface Finished {
	readonly isFinished: boolean;
	readonly passes: readonly PassReport[];
	readonly comparison: Comparison | null;
	readonly bad: readonly BadGroup[];
}

/** Passes that are made to see one that has nothing to do. */
const PASSES = 4;
/** How often it is looked whether a write came. */
const ROUNDS = 3;
/** Servers count writes with so much delay, or more. Milliseconds. */
const COUNTED_MS = 1_500;
/** Sessions that are named. */
const SHOWN = 10;

/** The last steps before clients switch. Says go, or what is in the way. */
export async function finishMigration(
	migration: OpenedMigration,
	context: CommandContext,
	options: FinishOptions,
): Promise<Result> {
	const { source, plans, files } = migration;
	const { signal } = options;
	const refuse = (reason: string | null) => {
		if (reason === null) return;
		throw new CorkboardError(
			"CONFLICT",
			`${source.shownUrl} ${reason} If writes are stopped in another way, such as in the application, say --writes-stopped.`,
		);
	};
	if (!options.writesStopped) refuse(await source.takesWrites());
	const tables = [
		...new Set(
			plans.flatMap(({ table, logs }) => [
				table,
				...logs.map((log) => log.table),
			]),
		),
	];
	await sleep(COUNTED_MS);
	await using runner = await openRunner(migration, context);
	// After that time: what was ended just now is gone, and what began just before the setting is seen.
	if (!options.writesStopped) refuse(await olderSessions(migration));
	const { deleteMany } = options;
	if (readMigrationState(files.state).follow !== null) {
		await runner.follow({ deleteMany, signal, toEnd: true });
	}
	const before = readMigrationState(files.state).passes.length;
	for (let round = 1; ; round++) {
		const mark = await source.writeMark(tables);
		const last = await lastPass(runner, { deleteMany, signal });
		const passes = readMigrationState(files.state).passes.slice(before);
		const bad = groupByReason(files.badRows.read());
		const result = (
			isFinished: boolean,
			lines: readonly string[],
			comparison: Comparison | null = null,
		): Result => ({
			value: { isFinished, passes, comparison, bad } satisfies Finished,
			lines: [...passTable(passes), ...lines],
			code: isFinished ? 0 : 1,
		});
		if (signal.aborted) return result(false, ["Interrupted: run it again."]);
		if (!isQuiet(last)) {
			return result(false, [
				`After ${PASSES} passes the last one still found something to do: does ${source.shownUrl} take writes?`,
			]);
		}
		if (last.bad > 0 && !options.acceptBad) {
			return result(false, [
				`${formatNumber(last.bad)} rows were refused and are not here. Correct them there or in the mapping, or say --accept-bad to leave them behind:`,
				...reasonLines(bad),
			]);
		}
		const comparison = await compareSides(runner.store, migration, context, {
			share: 1,
			signal,
		});
		if (signal.aborted) return result(false, ["Interrupted: run it again."]);
		const compared = comparisonLines(comparison);
		if (comparison.differ > 0) {
			return result(
				false,
				[
					...compared,
					"The sides differ. Look at them: migrate show MAPPING KEY.",
				],
				comparison,
			);
		}
		await sleep(COUNTED_MS);
		if ((await source.writeMark(tables)) !== mark) {
			// Servers count writes late: once more, from a new mark on.
			if (round < ROUNDS) continue;
			return result(
				false,
				[
					...compared,
					`${source.shownUrl} was written to meanwhile: stop writes, and run it again.`,
				],
				comparison,
			);
		}
		if (readMigrationState(files.state).follow !== null) {
			await stopFollowing(migration);
		}
		return result(
			true,
			[
				...compared,
				...reasonLines(bad),
				"Go: let clients use Corkboard. Keep the old database: migrate back-feed MAPPING prints what changes here from now on.",
			],
			comparison,
		);
	}
}

/**
 * Why sessions may still write that are older than the setting which stops writes;
 * null if there are none. When the setting was made is not known: those count as
 * older that were open when it was first seen.
 */
async function olderSessions({
	source,
	files,
}: OpenedMigration): Promise<string | null> {
	const open = await source.openSessions();
	if (open === null) return null;
	const { setting, sessions } = open;
	const state = readMigrationState(files.state);
	const isKnown = state.stopped?.setting === setting;
	const older = sessions.filter(
		({ pid }) => !isKnown || state.stopped?.pids.includes(pid),
	);
	const pids = older.map(({ pid }) => pid);
	writeMigrationState(files.state, { ...state, stopped: { setting, pids } });
	if (older.length === 0) return null;
	const shown = older.slice(0, SHOWN).map((session) => session.shown);
	const more = older.length > SHOWN ? ` and ${older.length - SHOWN} more` : "";
	return `has sessions that may be older than the setting which stops writes, and then still write: ${shown.join(", ")}${more}. Stop the application, or run there: SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid IN (${pids.join(", ")}); then run it again.`;
}

/** Full passes, until one finds nothing to do. */
async function lastPass(
	runner: Runner,
	options: { readonly deleteMany: boolean; readonly signal: AbortSignal },
): Promise<PassReport> {
	const began = Date.now();
	for (let passes = 1; ; passes++) {
		const done = await runner.pass({ ...options, onlyChanged: false });
		// One that was interrupted before has read some rows before writes were stopped.
		if (isQuiet(done) && done.began >= began) return done;
		if (options.signal.aborted || passes === PASSES) return done;
	}
}

function isQuiet({ made, changed, deleted }: PassReport): boolean {
	return made + changed + deleted === 0;
}
