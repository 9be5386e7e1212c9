import { existsSync } from "node:fs";
import { CorkboardError } from "../../errors.ts";
import { selectFrom } from "../../storage/sqlite/dialect.ts";
import type { ShardFile } from "../../storage/sqlite/driver/shardFile.ts";
import { mapShardFiles, onFile } from "../../storage/sqlite/shards.ts";
import {
	StorageFailure,
	toStorageError,
} from "../../storage/storageFailure.ts";
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
import { expiredClaims, firstDue } from "../statements/claims.ts";
import { allQueues, deleteQueue, putQueue } from "../statements/queues.ts";
import { StoredJobs } from "../storedJobs.ts";
import { VERBS } from "../verbs/verbs.ts";
import {
	addKeys,
	CREATE_QUEUES,
	createQueueTables,
	dropQueueTables,
	QUEUES_WITHOUT_KEYS,
} from "./ddl.ts";
import { tablesOf } from "./dialect.ts";
import { runWrite, SqliteCall } from "./queueCall.ts";
import { bytesOfQueue, endClaims, giveBack, listSpans } from "./rotation.ts";

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

class SqliteJobStore extends StoredJobs<SqliteCall> implements OpenedJobStore {
	/** The folder's owner cannot hand it over while it runs, so its shards stay. */
	readonly oldestVersion = Number.POSITIVE_INFINITY;
	readonly shards: readonly number[];
	readonly openShards: readonly number[];
	readonly #files: ReadonlyMap<number, ShardFile>;
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
		return ranges.map(
			this.#eachBy((call, range) => {
				const any = { limit: 1 };
				const expired = expiredClaims(call.tables, range, call.now(), any);
				return call.select(expired).length > 0;
			}),
		);
	}

	async due(
		ranges: readonly DueRange[],
	): Promise<readonly (Due | null | CorkboardError)[]> {
		ranges.forEach(checkDue);
		return ranges.map(
			this.#eachBy((call, range) => {
				const [due = null] = call.select(firstDue(call.tables, range));
				return due;
			}),
		);
	}

	async diskBytes(at: ShardOfQueue): Promise<number | null> {
		return this.#onFile(at, ({ reader }) => bytesOfQueue(reader, at.queue));
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
		return onFile(this.#file(shard), (file) =>
			selectFrom(file.reader, allQueues(tablesOf(shard, file, ""))),
		);
	}

	async put(shard: number, queue: QueueRow): Promise<void> {
		const { name, version } = queue;
		checkPlace({ queue: name, shard });
		checkInteger("version", version, 0);
		onFile(this.#file(shard), (file) =>
			file.writer.transaction(() => {
				for (const table of createQueueTables(name)) file.writer.run(table);
				runWrite(file.writer, putQueue(tablesOf(shard, file, name), queue));
			}),
		);
	}

	async drop({ queue, shard }: ShardOfQueue): Promise<void> {
		checkPlace({ queue, shard });
		onFile(this.#file(shard), (file) =>
			file.writer.transaction(() => {
				runWrite(file.writer, deleteQueue(tablesOf(shard, file, queue)));
				for (const table of dropQueueTables(queue)) file.writer.run(table);
			}),
		);
	}

	async createTables(): Promise<void> {
		for (const file of this.#files.values()) {
			onFile(file, () =>
				file.create((connection) => {
					connection.run(CREATE_QUEUES);
					const former = connection.rows<{ readonly name: string }>(
						QUEUES_WITHOUT_KEYS,
						[],
					);
					for (const { name } of former) {
						for (const sql of addKeys(name)) connection.run(sql);
					}
				}),
			);
		}
	}

	async endFormerClaims(): Promise<void> {
		for (const shard of this.#files.keys()) {
			for (const { name } of this.#queues(shard)) {
				this.#onFile({ queue: name, shard }, ({ writer }) =>
					endClaims(writer, name, this.#now()),
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
		return this.#onFile(at, ({ reader }) => listSpans(reader, at.queue, keep));
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
		_: "read" | "write",
		verb: (call: SqliteCall, ...given: Given) => MaybePromise<T>,
		...given: Given
	): Promise<T> {
		const call = this.#callOn(at);
		try {
			return await verb(call, ...given);
		} catch (thrown) {
			throw toQueueError(thrown, at);
		}
	}

	/** Reads one range; an error of its shard is the answer. */
	#eachBy<Range extends { readonly at: ShardOfQueue }, T>(
		read: (call: SqliteCall, range: Range) => T,
	): (range: Range) => T | CorkboardError {
		return (range) =>
			orCorkboardError(() =>
				this.#onFile(range.at, () => read(this.#callOn(range.at), range)),
			);
	}

	#callOn(at: ShardOfQueue): SqliteCall {
		checkPlace(at);
		return new SqliteCall(at, this.#file(at.shard), this.#now);
	}

	#onFile<T>(at: ShardOfQueue, body: (file: ShardFile) => T): T {
		checkPlace(at);
		const file = this.#file(at.shard);
		try {
			return body(file);
		} catch (thrown) {
			throw toQueueError(thrown, at);
		}
	}
}

/** SQLite has no number for a table that does not exist. */
function toQueueError(thrown: unknown, at: ShardOfQueue): unknown {
	if (/no such (?:table|index)/.test(reasonOf(thrown))) return unknownQueue(at);
	return thrown instanceof StorageFailure
		? toStorageError(thrown, at.shard)
		: thrown;
}

function orCorkboardError<T>(body: () => T): T | CorkboardError {
	try {
		return body();
	} catch (thrown) {
		if (thrown instanceof CorkboardError) return thrown;
		throw thrown;
	}
}
