import { readConfig } from "../../config/config.ts";
import { CorkboardError } from "../../errors.ts";
import type { Store } from "../../graph/store/store.ts";
import { PATIENT_RETRIES_MS } from "../../ops/import/importLines.ts";
import { follow } from "../../ops/migrate/follow.ts";
import { runPass } from "../../ops/migrate/runPass.ts";
import type { SourceLog } from "../../ops/migrate/sources/log.ts";
import {
	isWhole,
	type MigrationState,
	type PassReport,
	readMigrationState,
	writeMigrationState,
} from "../../ops/migrate/state.ts";
import { formatNumber } from "../../util/format.ts";
import { Pace } from "../../util/pace.ts";
import type { Result } from "../command.ts";
import { type CommandContext, openForCommand } from "../commandContext.ts";
import { createProgressLine, formatPace } from "../progress.ts";
import { LagWatch, MAX_LAG_S } from "./lagWatch.ts";
import type { OpenedMigration } from "./openMigration.ts";

/** How often it is looked how far replicas are behind. Milliseconds. */
const LOOK_MS = 2_000;

export interface Runner extends AsyncDisposable {
	readonly store: Store;
	/** One pass; continues with the one that was interrupted. */
	pass(options: PassOptions): Promise<PassReport>;
	/** Follows the log, after a full pass where one is needed. */
	follow(options: FollowOptions): Promise<PassReport>;
}

export interface PassOptions {
	readonly onlyChanged: boolean;
	readonly only?: readonly string[];
	readonly deleteMany: boolean;
	readonly revives?: boolean;
	readonly signal: AbortSignal;
}

export interface FollowOptions {
	readonly deleteMany: boolean;
	/** Milliseconds. */
	readonly timeout?: number | undefined;
	/** Follows to what is the end of the log now, and ends. */
	readonly toEnd?: boolean;
	readonly signal: AbortSignal;
}

/** Opens the graph that a migration writes to. */
export async function openRunner(
	migration: OpenedMigration,
	context: CommandContext,
	/** Rows that are read a second. */
	rate?: number,
): Promise<Runner> {
	const { plans, source, fields, files } = migration;
	await using resources = new AsyncDisposableStack();
	const corkboard = resources.use(
		await openForCommand(
			context,
			readConfig(context.env),
			"readWrite",
			"migrate",
		),
	);
	const { store } = corkboard;
	await corkboard.admin.createTables();
	const progress = createProgressLine(context);
	const saveState = (next: MigrationState) =>
		writeMigrationState(files.state, next);
	const writing = {
		onWaiting: (what: string) => context.stderr(`waiting for ${what} …`),
		retryAfterMs: PATIENT_RETRIES_MS,
		onRetry(error: CorkboardError, ms: number) {
			progress.end();
			context.stderr(`${error.message} Trying again in ${ms / 1_000} s.`);
		},
	};
	const parts = { plans, source, fields, badRows: files.badRows, saveState };

	const pace = new Pace({
		rowsPerSecond: rate ?? null,
		bytesPerSecond: null,
		maxLagSeconds: MAX_LAG_S,
	});
	const { stderr } = context;
	const watch = new LagWatch(migration.replica ?? source, pace, stderr);
	const watching = setInterval(() => void watch.look(), LOOK_MS).unref();
	resources.defer(() => clearInterval(watching));

	async function pass({ signal, ...options }: PassOptions) {
		const report = await runPass(store, {
			...parts,
			...options,
			state: readMigrationState(files.state),
			pace,
			writing: { ...writing, signal },
			onProgress: (done) =>
				progress.update(
					`${done.table}: ${formatPace(done)}${pace.reason === null ? "" : `, waits for ${pace.reason}`}`,
				),
		});
		progress.end();
		return report;
	}

	async function followLog(
		log: SourceLog,
		{ signal, toEnd = false }: FollowOptions,
	): Promise<PassReport> {
		const options = toEnd ? { until: await log.end() } : {};
		try {
			return await follow(store, {
				...parts,
				...options,
				log,
				writing,
				signal,
				state: readMigrationState(files.state),
				onProgress: ({ rows, lagSeconds }) =>
					progress.update(
						`following: ${formatNumber(rows)} rows, ${Math.round(lagSeconds)} s behind`,
					),
			});
		} catch (thrown) {
			if (!(thrown instanceof CorkboardError) || thrown.code !== "CONFLICT") {
				throw thrown;
			}
			saveState({ ...readMigrationState(files.state), follow: null });
			throw new CorkboardError(
				"CONFLICT",
				`${thrown.message} The log cannot be followed from there. Run the same command again: it begins with a full pass.`,
				{ cause: thrown },
			);
		} finally {
			progress.end();
		}
	}

	const owned = resources.move();
	return {
		store,
		pass,
		async follow(options) {
			const { deleteMany, timeout } = options;
			const signal =
				timeout === undefined
					? options.signal
					: AbortSignal.any([options.signal, AbortSignal.timeout(timeout)]);
			await using log = await openLog(migration);
			for (const gap of await log.check()) context.stderr(gap);
			let state = readMigrationState(files.state);
			if (state.follow === null) {
				const position = await log.begin();
				saveState({ ...state, follow: { position, since: Date.now() } });
			}
			for (;;) {
				state = readMigrationState(files.state);
				const since = state.follow?.since ?? 0;
				const { passes } = state;
				if (passes.some((one) => isWhole(one) && one.began >= since)) break;
				const done = await pass({ onlyChanged: false, deleteMany, signal });
				if (signal.aborted) return done;
			}
			// Before the log is closed.
			return await followLog(log, { ...options, signal });
		},
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}

function openLog({ plans, source, name }: OpenedMigration): Promise<SourceLog> {
	return source.openLog(
		plans.flatMap(({ logs, key, fromColumns, toColumns }) =>
			logs.map(({ table, columns }) => ({
				table,
				key: columns === null ? key : Object.values(columns),
				// What has left the view is known by what the row was.
				edgeColumns:
					columns === null
						? [...fromColumns, ...toColumns]
						: Object.values(columns),
			})),
		),
		name,
	);
}

/** The old database need not keep its log any more. */
export async function stopFollowing(
	migration: OpenedMigration,
): Promise<Result> {
	const { files } = migration;
	await using log = await openLog(migration);
	await log.drop();
	const state = readMigrationState(files.state);
	writeMigrationState(files.state, { ...state, follow: null });
	return {
		value: { isFollowed: false },
		lines: [
			`${migration.source.shownUrl} is followed no more, and keeps no log for it.`,
		],
	};
}
