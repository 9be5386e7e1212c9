import { CorkboardError } from "../../errors.ts";
import { Databases, toShardError } from "../../storage/mysql/databases.ts";
import type { HostWriteGuard } from "../../storage/mysql/driver/commitProtocol.ts";
import type { Host, HostLimits } from "../../storage/mysql/driver/host.ts";
import { SharedHosts } from "../../storage/mysql/sharedHosts.ts";
import type { Environment } from "../../topology/secret.ts";
import type { QueueRange } from "../../topology/types.ts";
import { deadlineIn } from "../../util/deadline.ts";
import type { MaybePromise } from "../../util/maybePromise.ts";
import { hourOf } from "../bucket.ts";
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
	unknownQueueShard,
} from "../portChecks.ts";
import type { GivenBack, Keep, Made, Round, Span } from "../rotationStore.ts";
import { deleteQueue, putQueue } from "../statements/queues.ts";
import { type JobVerbs, StoredJobs } from "../storedJobs.ts";
import { VERBS } from "../verbs/verbs.ts";
import {
	createJobs,
	createKeys,
	createQueues,
	createRotations,
	jobsTable,
	keysTable,
} from "./ddl.ts";
import { HostClock } from "./hostClock.ts";
import { MysqlCall, type QueueShard, toQueueError } from "./queueCall.ts";
import { DUE, HAS_EXPIRED, QUEUES, readRanges } from "./rangeReads.ts";
import {
	ahead,
	bytesOfQueue,
	dropEmpty,
	forgetQueue,
	giveBack,
	moveOn,
	spans,
} from "./rotation/rotation.ts";
import type { QueueDatabase } from "./rotation/rotationSession.ts";
import { endRound, takeRound } from "./rotation/rounds.ts";
import { ackAndClaimSwappedOut, renewSwappedOut } from "./swappedOut.ts";

interface MysqlJobLimits extends HostLimits {
	/** Time for a write, with all its waits and retries. Milliseconds. */
	readonly writeMs: number;
}

export const MYSQL_JOB_LIMITS: MysqlJobLimits = {
	connections: 6,
	maxWaiting: 1_000,
	connectMs: 4_000,
	readMs: 4_000,
	writeMs: 5_000,
	silenceMs: 8_000,
	// With both images of each claim and ack, a job of 2 KB wrote 10.4 instead of 2.3 KB (measured).
	leanBinlog: true,
};

interface MysqlJobOptions extends JobStoreSource {
	readonly limits?: Partial<MysqlJobLimits>;
	/** For URLs that name variables (default: that of the process). */
	readonly environment?: Environment;
	/** Asked before each write to a host. */
	readonly writeGuard?: HostWriteGuard | null;
	/** Called when `oldestVersion` may have risen. */
	readonly onRetired?: (() => void) | undefined;
}

/**
 * Jobs in MySQL 8.0.19 and MariaDB 10.11, or later: each queue shard is a
 * database `queue00000` on the host its range names, with two tables for each
 * queue. Nothing is opened before it is needed. Its connections are the queues'
 * own, even if the graph is on the same server: neither takes those of the other.
 */
export function openMysqlJobStore(options: MysqlJobOptions): OpenedJobStore {
	return new MysqlJobStore(options);
}

/** A host's clock is measured once, for all versions of a topology that have the host. */
const CLOCKS = new WeakMap<Host, HostClock>();

const MYSQL_VERBS: JobVerbs<MysqlCall> = {
	...VERBS,
	ackAndClaim: ackAndClaimSwappedOut,
	renew: renewSwappedOut,
};

class MysqlJobStore extends StoredJobs<MysqlCall> implements OpenedJobStore {
	readonly #databases: Databases<QueueShard, QueueRange>;
	readonly #limits: MysqlJobLimits;

	constructor({
		queues,
		version = 0,
		limits,
		environment = process.env,
		writeGuard = null,
		onRetired,
	}: MysqlJobOptions) {
		super(MYSQL_VERBS);
		this.#limits = { ...MYSQL_JOB_LIMITS, ...limits };
		const { readMs } = this.#limits;
		this.#databases = new Databases(
			{
				kind: "queue",
				hosts: new SharedHosts(this.#limits, false, environment, writeGuard),
				of(database, { drain }) {
					const { host } = database;
					const clock = CLOCKS.get(host) ?? new HostClock(host, readMs);
					CLOCKS.set(host, clock);
					return { ...database, clock, isOpen: drain !== true };
				},
				unknown: unknownQueueShard,
				readMs,
				onRetired,
			},
			queues,
			version,
		);
	}

	get shards(): readonly number[] {
		return this.#databases.numbers;
	}

	get openShards(): readonly number[] {
		return this.#databases.numbers.filter(
			(number) => this.#databases.all.get(number)?.isOpen,
		);
	}

	get oldestVersion(): number {
		return this.#databases.oldestVersion;
	}

	switchTo({ queues, version = 0 }: JobStoreSource): void {
		this.#databases.switchTo(queues, version);
	}

	async endFormerClaims(): Promise<void> {}

	hostOf(shard: number): string | null {
		return this.#databases.all.get(shard)?.host.name ?? null;
	}

	async now(shard: number): Promise<number> {
		using version = this.#databases.begin();
		try {
			return await version.at(shard).clock.now(shard);
		} catch (thrown) {
			throw toShardError(thrown, "queue", shard);
		}
	}

	async hasExpired(
		ranges: readonly ExpiryRange[],
	): Promise<readonly (boolean | CorkboardError)[]> {
		for (const { at } of ranges) checkPlace(at);
		using call = this.#databases.begin();
		return await readRanges(call.all, ranges, HAS_EXPIRED, this.#limits.readMs);
	}

	async due(
		ranges: readonly DueRange[],
	): Promise<readonly (Due | null | CorkboardError)[]> {
		ranges.forEach(checkDue);
		using call = this.#databases.begin();
		return await readRanges(call.all, ranges, DUE, this.#limits.readMs);
	}

	diskBytes(at: ShardOfQueue): Promise<number> {
		const deadline = deadlineIn(this.#limits.readMs);
		return this.#rotate(at, (queue) => bytesOfQueue(queue, deadline));
	}

	async queues(shard: number): Promise<readonly QueueRow[]> {
		const [answer = []] = await this.queuesOn([shard]);
		if (answer instanceof CorkboardError) throw answer;
		return answer;
	}

	async queuesOn(
		shards: readonly number[],
	): Promise<readonly (readonly QueueRow[] | CorkboardError)[]> {
		using call = this.#databases.begin();
		const ranges = shards.map((shard) => ({ at: { queue: "", shard } }));
		return await readRanges(call.all, ranges, QUEUES, this.#limits.readMs);
	}

	async put(shard: number, queue: QueueRow): Promise<void> {
		const { name, version } = queue;
		checkInteger("version", version, 0);
		await this.onShard({ queue: name, shard }, "write", async (call) => {
			const { database } = call.shard;
			const hour = hourOf(await call.now());
			await this.#databases.define(
				call.shard,
				createJobs(database, name, hour),
			);
			await this.#databases.define(call.shard, createKeys(database, name));
			const again = call.again();
			await again.write(putQueue(again.tables, queue));
		});
	}

	async drop(at: ShardOfQueue): Promise<void> {
		await this.onShard(at, "write", async (call) => {
			await call.write(deleteQueue(call.tables));
			const { database, host } = call.shard;
			for (const table of [jobsTable, keysTable]) {
				const drop = `DROP TABLE IF EXISTS ${table(database, at.queue)}`;
				await this.#databases.define(call.shard, drop);
			}
			await forgetQueue({ host, database, at });
		});
	}

	createTables(): Promise<void> {
		return this.#databases.createTables([createQueues, createRotations]);
	}

	missingTables(): Promise<readonly string[]> {
		return this.#databases.missingTables(["queues", "rotations"]);
	}

	takeRound(at: ShardOfQueue, everyMs: number): Promise<Round | null> {
		return this.#rotate(at, (queue) => takeRound(queue, everyMs));
	}

	endRound(at: ShardOfQueue, round: Round): Promise<void> {
		return this.#rotate(at, (queue) => endRound(queue, round));
	}

	spans(at: ShardOfQueue, keep: Keep): Promise<readonly Span[]> {
		return this.#rotate(at, (queue) => spans(queue, keep));
	}

	ahead(at: ShardOfQueue, hours: number): Promise<Made> {
		checkInteger("hours", hours, 1);
		return this.#rotate(at, (queue) => ahead(queue, hours));
	}

	moveOn(
		at: ShardOfQueue,
		span: Span,
		keep: Keep,
		limit: number,
	): Promise<number> {
		checkInteger("limit", limit, 1);
		return this.#rotate(at, (queue) => moveOn(queue, span, keep, limit));
	}

	giveBack(at: ShardOfQueue, span: Span, keep: Keep): Promise<GivenBack> {
		return this.#rotate(at, (queue) => giveBack(queue, span, keep));
	}

	dropEmpty(at: ShardOfQueue): Promise<Made> {
		return this.#rotate(at, dropEmpty);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#databases[Symbol.asyncDispose]();
	}

	#rotate<T>(
		at: ShardOfQueue,
		body: (queue: QueueDatabase) => Promise<T>,
	): Promise<T> {
		return this.onShard(at, "write", ({ shard: { host, database } }) =>
			body({ host, database, at }),
		);
	}

	protected async onShard<Given extends readonly unknown[], T>(
		at: ShardOfQueue,
		kind: "read" | "write",
		verb: (call: MysqlCall, ...given: Given) => MaybePromise<T>,
		...given: Given
	): Promise<T> {
		checkPlace(at);
		using version = this.#databases.begin();
		const ms = this.#limits[kind === "read" ? "readMs" : "writeMs"];
		try {
			return await verb(new MysqlCall(at, version.at(at.shard), ms), ...given);
		} catch (thrown) {
			throw toQueueError(thrown, at);
		}
	}
}
