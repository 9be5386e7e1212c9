import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import type { Difference } from "./compareRows.ts";
import { copyTable } from "./copyTable.ts";
import {
	FERRY_LIMITS,
	type FerryLimits,
	type FerryOptions,
	type FerryProgress,
} from "./ferryOptions.ts";
import { FerryState } from "./ferryState.ts";
import { Meter } from "./meter.ts";
import { moveOutbox } from "./movedOutbox.ts";
import {
	binlogFaults,
	type MovedTable,
	readMovedTables,
} from "./movedTables.ts";
import { type Patiently, patientFor } from "./patience.ts";
import { requirePosition } from "./position.ts";
import { prepareTables, requireNone } from "./prepareTables.ts";
import { RowStream } from "./rowStream.ts";
import { Verification } from "./verification.ts";

/** How often the lag of the stream and of replicas is looked at. Milliseconds. */
const LAG_MS = 250;
/** How far a replica that is copied from may be behind at first. Milliseconds. */
const REPLICA_MS = 30_000;

/**
 * Brings the tables of some databases to another server, keeps them as they are on
 * the first one, and shows that they are the same. What is done is on the target
 * (`FerryState`), so that any process can continue. It fences nothing and publishes
 * nothing.
 */
export class Ferry implements AsyncDisposable {
	readonly tables: readonly MovedTable[];
	readonly #options: FerryOptions;
	readonly #limits: FerryLimits;
	readonly #state: FerryState;
	readonly #stream: RowStream;
	readonly #databases: ReadonlyMap<string, string>;
	readonly #verification: Verification;
	readonly #stopping = new AbortController();
	readonly #signal: AbortSignal;
	readonly #patiently: Patiently;
	/** Ends when nothing is applied any more. */
	#streaming: Promise<void> = Promise.resolve();
	#failure: unknown = null;
	#isFollowing = false;
	#step: FerryProgress["step"] = "idle";
	#tablesCopied = 0;
	#rowsCopied = 0;
	#lagMs: number | null = null;
	/** Counts the rows of this step. */
	readonly #meter = new Meter();

	private constructor(
		options: FerryOptions,
		tables: readonly MovedTable[],
		state: FerryState,
		applied: string,
	) {
		this.#options = options;
		this.#limits = { ...FERRY_LIMITS, ...options.limits };
		this.#signal = AbortSignal.any([options.signal, this.#stopping.signal]);
		this.#patiently = patientFor(this.#limits.outageMs, this.#signal);
		this.tables = tables;
		this.#state = state;
		this.#databases = new Map(
			options.databases.map(({ source, target }) => [source, target]),
		);
		this.#stream = new RowStream({
			source: options.source,
			state,
			tables,
			databaseOf: (table) => this.#databaseOf(table),
			applied,
			begin: () => this.#verification.beginChange(),
			touch: (table, cells) => this.#verification.touch(table, cells),
			signal: this.#signal,
			patiently: this.#patiently,
		});
		this.#verification = new Verification(
			{
				source: options.source,
				target: options.target,
				databaseOf: (table) => this.#databaseOf(table),
				caughtUp: (gtids, ms) => this.caughtUp(gtids, ms),
				pace: options.pace,
				patiently: this.#patiently,
				signal: this.#signal,
			},
			tables,
			this.#limits,
			(rows) => this.#meter.mark(rows),
		);
	}

	/** Takes the ferry of this name over from its former runner, or makes it. Throws CONFLICT with a line for each thing that cannot be moved. */
	static async open(options: FerryOptions): Promise<Ferry> {
		const { source, replica, target, databases, name, from } = options;
		const { tables, faults } = await readMovedTables(
			source,
			databases.map((database) => database.source),
		);
		requireNone([...faults, ...(await binlogFaults(source))]);
		const state = new FerryState(target, name);
		// Before the first row is read: what changes later has an event.
		const applied = await state.open(
			async () => from ?? (await (replica ?? source).executed()),
		);
		await requirePosition(source, target.name, applied);
		return new Ferry(options, tables, state, applied);
	}

	/** Why it cannot go on; null: it can. */
	get failure(): unknown {
		return this.#failure;
	}

	get differences(): readonly Difference[] {
		return this.#verification.differences;
	}

	/** Creates the tables on the target where they are missing, and compares them. Throws CONFLICT with a line for each thing that is not as it should be. */
	async prepare(): Promise<void> {
		await prepareTables(this.#options, this.#state, this.tables, (table) =>
			this.#databaseOf(table),
		);
	}

	/** Copies what is not copied yet. */
	async copy(): Promise<void> {
		const { replica, source, pace, target } = this.#options;
		const reader = replica ?? source;
		// Another one than before may have the name now.
		if (!(await reader.has(this.#stream.applied, REPLICA_MS))) {
			throw new CorkboardError(
				"CONFLICT",
				`${reader.name} lacks transactions that it had when ${target.name} began to copy from it: cancel the move and begin it again.`,
			);
		}
		this.#begin("copy");
		this.#watchReplicas();
		const states = await this.#state.tables();
		const todo = this.tables.flatMap((table) => {
			const database = this.#databaseOf(table);
			const from = states.get(`${database}.${table.name}`);
			if (from === undefined) {
				throw new CorkboardError(
					"INTERNAL",
					"Tables are created before they are copied.",
				);
			}
			this.#rowsCopied += from.rows;
			if (from.isCopied) this.#tablesCopied++;
			return from.isCopied ? [] : [{ database, table, from }];
		});
		this.#meter.begin(this.#rowsCopied);
		await this.#each(todo, async (one) => {
			await copyTable({
				...one,
				reader,
				state: this.#state,
				pace,
				patiently: this.#patiently,
				signal: this.#signal,
				onRows: (rows) => {
					this.#rowsCopied += rows;
					this.#meter.mark(this.#rowsCopied);
				},
			});
			this.#tablesCopied++;
		});
		this.#begin("idle");
	}

	/** Begins to apply what changes on the source, from where the target is. */
	async follow(): Promise<void> {
		if (this.#isFollowing) return;
		const { source, target, from } = this.#options;
		const states = await this.#state.tables();
		const isCopied = this.tables.every(
			(table) =>
				states.get(`${this.#databaseOf(table)}.${table.name}`)?.isCopied,
		);
		// A chunk that was read before a change would be written after it.
		if (from === null && !isCopied) {
			throw new CorkboardError(
				"CONFLICT",
				`Not all tables are copied to ${target.name}: their changes are followed afterwards.`,
			);
		}
		await requirePosition(source, target.name, this.#stream.applied);
		this.#isFollowing = true;
		this.#streaming = this.#inBackground(() => this.#stream.run());
		this.#inBackground(() => this.#watchLag());
		this.#watchReplicas();
		this.#begin("stream");
	}

	/** Waits so long for the target to have a set of the source's GTIDs. Returns whether it has all of them. */
	async caughtUp(gtids: string, ms: number): Promise<boolean> {
		this.#requireWorking();
		return this.#stream.caughtUp(gtids, ms);
	}

	/** Compares all rows on both servers. Then rows that change are compared again when they are quiet, until it is stopped. */
	async verify(): Promise<readonly Difference[]> {
		const { source } = this.#options;
		await this.#catchUp(await source.executed());
		this.#begin("verify");
		const isFirst = !this.#verification.hasBegun;
		await this.#verification.compareAll((all, body) => this.#each(all, body));
		if (isFirst) this.#inBackground(() => this.#verification.keepUp());
		this.#begin("stream");
		return this.differences;
	}

	/** Compares the rows that changed since they were compared: all of them, if nothing changes any more. */
	async recheck(ms: number): Promise<{
		readonly pending: number;
		readonly differences: readonly Difference[];
	}> {
		await this.#verification.compareTouched(ms);
		const { pending, differences } = this.#verification;
		return { pending, differences };
	}

	/** See `moveOutbox`. */
	async moveOutbox(): Promise<number> {
		const { source, databases } = this.#options;
		return moveOutbox(
			source,
			this.#state,
			databases.map((database) => database.source),
		);
	}

	progress(): FerryProgress {
		const { pace } = this.#options;
		const total = this.tables.reduce((sum, { rows }) => sum + rows, 0);
		const done =
			this.#step === "verify" ? this.#verification.rows : this.#rowsCopied;
		const perSecond = this.#meter.perSecond;
		const isCounting = this.#step === "copy" || this.#step === "verify";
		return {
			step: this.#step,
			tables: { copied: this.#tablesCopied, total: this.tables.length },
			rows: {
				copied: this.#rowsCopied,
				total: Math.max(total, this.#rowsCopied),
				perSecond: Math.round(perSecond),
			},
			lagMs: this.#lagMs,
			applied: this.#stream.applied,
			streamed: {
				transactions: this.#stream.transactions,
				rows: this.#stream.rows,
			},
			verified: {
				tables: this.#verification.tables,
				total: this.tables.length,
				rows: this.#verification.rows,
			},
			pendingKeys: this.#verification.pending,
			differences: this.differences.length,
			secondsLeft:
				isCounting && perSecond > 0
					? Math.max(0, Math.round((total - done) / perSecond))
					: null,
			throttledBy: pace.reason,
			throttledShare: pace.waitedShare,
		};
	}

	/** Ends all that it does; what it has done stays. */
	async stop(): Promise<void> {
		this.#stopping.abort();
		// What only looks ends by itself; a server that does not answer keeps nobody waiting.
		await this.#streaming;
		this.#options.pace.setLate(this, null);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.stop();
	}

	/** Takes away what it knows on the target, and the databases that it made there: before a topology names them. */
	async dropCopies(): Promise<void> {
		await this.stop();
		if (this.#options.from === null) await this.#state.dropDatabases();
		await this.#state.forget();
	}

	#databaseOf({ database }: MovedTable): string {
		return this.#databases.get(database) ?? database;
	}

	async #catchUp(gtids: string): Promise<void> {
		const { source, target } = this.#options;
		if (await this.caughtUp(gtids, this.#limits.catchUpMs)) return;
		throw new CorkboardError(
			"UNAVAILABLE",
			`${target.name} did not catch up with ${source.name}: it is ${this.#lagMs} ms behind.`,
		);
	}

	/** Some at once. The first that fails ends the others. */
	async #each<T>(
		all: readonly T[],
		body: (one: T) => Promise<void>,
	): Promise<void> {
		const waiting = [...all];
		let isFailed = false;
		const work = async () => {
			for (
				let next = waiting.shift();
				next !== undefined && !isFailed;
				next = waiting.shift()
			) {
				this.#requireWorking();
				try {
					await body(next);
				} catch (thrown) {
					isFailed = true;
					throw thrown;
				}
			}
		};
		const workers = Array.from({ length: this.#options.parallel }, work);
		await Promise.allSettled(workers);
		await Promise.all(workers);
	}

	/** How far the stream is behind: the time until the target has what the source has at a moment. */
	async #watchLag(): Promise<never> {
		const { source } = this.#options;
		for (;;) {
			const at = performance.now();
			const executed = await this.#patiently(() => source.executed());
			while (!(await this.caughtUp(executed, LAG_MS))) {
				this.#lagMs = Math.max(this.#lagMs ?? 0, performance.now() - at);
			}
			this.#lagMs = performance.now() - at;
			await sleep(LAG_MS, undefined, { signal: this.#signal });
		}
	}

	#isWatchingReplicas = false;

	/** Copies wait while a replica of either side is behind, or does not answer. */
	#watchReplicas(): void {
		const { replica, targetReplica, pace } = this.#options;
		const all = [replica, targetReplica].filter((server) => server !== null);
		if (all.length === 0 || this.#isWatchingReplicas) return;
		this.#isWatchingReplicas = true;
		this.#inBackground(async () => {
			for (;;) {
				let late: string | null = null;
				for (const server of all) {
					const state = await server.replica().catch(() => null);
					const lag = state?.lagSeconds ?? null;
					if (lag === null || lag > pace.limits.maxLagSeconds)
						late ??= server.name;
				}
				if (this.#signal.aborted) return;
				pace.setLate(this, late);
				await sleep(LAG_MS, undefined, { signal: this.#signal });
			}
		});
	}

	#inBackground(body: () => Promise<void>): Promise<void> {
		return body().catch((thrown) => {
			if (!this.#signal.aborted) this.#failure ??= thrown;
		});
	}

	#requireWorking(): void {
		this.#signal.throwIfAborted();
		if (this.#failure !== null) throw this.#failure;
	}

	#begin(step: FerryProgress["step"]): void {
		this.#step = step;
		this.#meter.begin();
	}
}
