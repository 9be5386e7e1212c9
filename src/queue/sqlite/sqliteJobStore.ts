import { existsSync } from "node:fs";
import { CorkboardError } from "../../errors.ts";
import type { ShardFile } from "../../storage/sqlite/driver/shardFile.ts";
import type { SqliteConnection } from "../../storage/sqlite/driver/sqliteConnection.ts";
import { mapShardFiles, onFile } from "../../storage/sqlite/shards.ts";
import type { MaybePromise } from "../../util/maybePromise.ts";
import { reasonOf } from "../../util/reasonOf.ts";
import type {
	Due,
	DueRange,
	ExpiryRange,
	QueueRow,
	ShardOfQueue,
} from "../jobStore.ts";
import type { JobStoreSource, OpenedJobStore } from "../openedJobStore.ts";
import {
	checkDue,
	checkInteger,
	checkPlace,
	unknownQueue,
	unknownQueueShard,
} from "../portChecks.ts";
import type { GivenBack, Keep, Made, Round, Span } from "../rotationStore.ts";
import { parseSettings } from "../settings.ts";
import { StoredJobs } from "../storedJobs.ts";
import { CREATE_QUEUES, createQueueTables } from "./ddl.ts";
import { type FileCall, VERBS } from "./jobs.ts";
import { bytesOfQueue, giveBack, listSpans } from "./rotation.ts";
import {
	DELETE_QUEUE,
	PUT_QUEUE,
	QUEUES,
	type QueueStatements,
	statementsOf,
} from "./statements.ts";

/**
 * Jobs in SQLite: each queue shard is a file `queue00000.sqlite`. The process
 * that owns the folder is the only one that writes, and a transaction is over
 * within its tick, so no outcome is ever unknown. There are no partitions: a job
 * has a bucket, which nothing looks at.
 */
export function openSqliteJobStore(options: SqliteJobOptions): OpenedJobStore {
	return new SqliteJobStore(options);
}

interface SqliteJobOptions extends JobStoreSource {
	readonly readOnly?: boolean;
	/** Microseconds since 1970. */
	readonly now?: () => number;
}

class SqliteJobStore extends StoredJobs<FileCall> implements OpenedJobStore {
	/** The folder's owner cannot hand it over while it runs, so its shards stay. */
	readonly oldestVersion = Number.POSITIVE_INFINITY;
	readonly shards: readonly number[];
	readonly openShards: readonly number[];
	readonly #files: ReadonlyMap<number, ShardFile>;
	readonly #statements = new Map<string, QueueStatements>();
	readonly #now: () => number;
	readonly #nextRounds = new Map<string, number>();

	constructor({ queues, readOnly = false, now }: SqliteJobOptions) {
		super(VERBS);
		this.#files = mapShardFiles(queues, "queue", readOnly);
		this.shards = [...this.#files.keys()];
		this.openShards = this.shards.filter((shard) =>
			queues.some(
				({ range: [first, last], drain }) =>
					shard >= first && shard <= last && drain !== true,
			),
		);
		this.#now = now ?? (() => Date.now() * 1_000);
	}

	switchTo(): void {}

	hostOf(shard: number): string | null {
		return this.#files.get(shard)?.location.host ?? null;
	}

	async now(shard: number): Promise<number> {
		this.#file(shard);
		return this.#now();
	}

	async hasExpired(
		ranges: readonly ExpiryRange[],
	): Promise<readonly (boolean | CorkboardError)[]> {
		return ranges.map(({ at }) =>
			orCorkboardError(() =>
				this.#read(
					at,
					({ connection, statements: { expired }, now }) =>
						connection.rows(expired, [now, 1]).length > 0,
				),
			),
		);
	}

	async due(
		ranges: readonly DueRange[],
	): Promise<readonly (Due | null | CorkboardError)[]> {
		ranges.forEach(checkDue);
		return ranges.map(({ at, priority, floor }) =>
			orCorkboardError(() =>
				this.#read(at, ({ connection, statements: { due } }) => {
					const [row] = connection.rows<Due>(due, [priority, floor]);
					return row === undefined ? null : { ...row };
				}),
			),
		);
	}

	async diskBytes(at: ShardOfQueue): Promise<number | null> {
		return this.#read(at, ({ connection }) =>
			bytesOfQueue(connection, at.queue),
		);
	}

	async queues(shard: number): Promise<readonly QueueRow[]> {
		return this.#queues(shard);
	}

	async queuesOn(
		shards: readonly number[],
	): Promise<readonly (readonly QueueRow[] | CorkboardError)[]> {
		return shards.map((shard) => orCorkboardError(() => this.#queues(shard)));
	}

	#queues(shard: number): readonly QueueRow[] {
		return onFile(this.#file(shard), ({ reader }) =>
			reader
				.rows<StoredQueue>(QUEUES, [])
				.map(({ name, settings, version }) => ({
					name,
					settings: parseSettings(settings),
					version,
				})),
		);
	}

	async put(shard: number, queue: QueueRow): Promise<void> {
		const { name, settings, version } = queue;
		checkPlace({ queue: name, shard });
		checkInteger("version", version, 0);
		onFile(this.#file(shard), ({ writer }) =>
			writer.transaction(() => {
				for (const table of createQueueTables(name)) writer.run(table);
				writer.run(PUT_QUEUE, [name, JSON.stringify(settings), version]);
			}),
		);
	}

	async drop({ queue, shard }: ShardOfQueue): Promise<void> {
		checkPlace({ queue, shard });
		onFile(this.#file(shard), ({ writer }) =>
			writer.transaction(() => {
				writer.run(DELETE_QUEUE, [queue]);
				writer.run({
					name: "drop jobs",
					text: `DROP TABLE IF EXISTS "jobs_${queue}"`,
				});
			}),
		);
	}

	async createTables(): Promise<void> {
		for (const file of this.#files.values()) {
			onFile(file, () =>
				file.create((connection) => connection.run(CREATE_QUEUES)),
			);
		}
	}

	async endFormerClaims(): Promise<void> {
		for (const shard of this.#files.keys()) {
			for (const { name } of this.#queues(shard)) {
				this.#write(
					{ queue: name, shard },
					({ connection, statements: { endClaims }, now }) =>
						connection.run(endClaims, [now]),
				);
			}
		}
	}

	async missingTables(): Promise<readonly string[]> {
		return [...this.#files.values()].flatMap((file) =>
			existsSync(file.location.path)
				? []
				: [`${file.location.host.slice(0, -".sqlite".length)}.queues`],
		);
	}

	/** In memory: no other process rotates. */
	async takeRound(at: ShardOfQueue, everyMs: number): Promise<Round | null> {
		const now = this.#now();
		const key = `${at.queue} ${at.shard}`;
		if (now < (this.#nextRounds.get(key) ?? 0)) return null;
		this.#nextRounds.set(key, now + everyMs * 1_000);
		return { now, refusals: 0, refusedSince: null, changesAt: 0 };
	}

	/** Nothing is refused. */
	async endRound(): Promise<void> {}

	async spans(at: ShardOfQueue, keep: Keep): Promise<readonly Span[]> {
		return this.#read(at, ({ connection }) =>
			listSpans(connection, at.queue, keep),
		);
	}

	async ahead(): Promise<Made> {
		return { spans: 0 };
	}

	async moveOn(): Promise<number> {
		return 0;
	}

	async giveBack(at: ShardOfQueue, _: Span, keep: Keep): Promise<GivenBack> {
		return this.#onFile(at, ({ writer, location }) =>
			giveBack(writer, location.host, at, keep),
		);
	}

	async dropEmpty(): Promise<Made> {
		return { spans: 0 };
	}

	async [Symbol.asyncDispose](): Promise<void> {
		for (const file of this.#files.values()) file[Symbol.dispose]();
	}

	#file(shard: number): ShardFile {
		const file = this.#files.get(shard);
		if (file === undefined) throw unknownQueueShard(shard);
		return file;
	}

	protected async onShard<Given extends readonly unknown[], T>(
		at: ShardOfQueue,
		kind: "read" | "write",
		verb: (call: FileCall, ...given: Given) => MaybePromise<T>,
		...given: Given
	): Promise<T> {
		if (kind === "read") return this.#read(at, (call) => verb(call, ...given));
		return this.#write(at, (call) => verb(call, ...given));
	}

	#write<T>(at: ShardOfQueue, body: (call: FileCall) => T): T {
		return this.#onFile(at, ({ writer }, callOn) =>
			writer.transaction(() => body(callOn(writer))),
		);
	}

	#read<T>(at: ShardOfQueue, body: (call: FileCall) => T): T {
		return this.#onFile(at, ({ reader }, callOn) => body(callOn(reader)));
	}

	/** SQLite has no number for a table that does not exist. */
	#onFile<T>(
		at: ShardOfQueue,
		body: (
			file: ShardFile,
			callOn: (connection: SqliteConnection) => FileCall,
		) => T,
	): T {
		checkPlace(at);
		const { queue, shard } = at;
		const callOn = (connection: SqliteConnection) => ({
			connection,
			queue,
			now: this.#now(),
			statements: this.#statementsOf(queue),
		});
		return onFile(this.#file(shard), (file) => {
			try {
				return body(file, callOn);
			} catch (thrown) {
				const isNoTable = /no such (?:table|index)/.test(reasonOf(thrown));
				throw isNoTable ? unknownQueue(at) : thrown;
			}
		});
	}

	#statementsOf(queue: string): QueueStatements {
		let statements = this.#statements.get(queue);
		if (statements === undefined) {
			statements = statementsOf(queue);
			this.#statements.set(queue, statements);
		}
		return statements;
	}
}

interface StoredQueue {
	readonly name: string;
	readonly settings: string;
	readonly version: number;
}

function orCorkboardError<T>(body: () => T): T | CorkboardError {
	try {
		return body();
	} catch (thrown) {
		if (thrown instanceof CorkboardError) return thrown;
		throw thrown;
	}
}
