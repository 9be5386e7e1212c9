import { CorkboardError } from "../../errors.ts";
import type { HostWriteGuard } from "../../storage/mysql/driver/commitProtocol.ts";
import type { HostLimits } from "../../storage/mysql/driver/host.ts";
import type { Sql } from "../../storage/mysql/driver/mysqlConnection.ts";
import {
	type HostLease,
	SharedHosts,
} from "../../storage/mysql/sharedHosts.ts";
import { StorageFailure } from "../../storage/storageFailure.ts";
import type { Environment } from "../../topology/secret.ts";
import type { QueueRange } from "../../topology/types.ts";
import { deadlineIn } from "../../util/deadline.ts";
import { hourOf } from "../bucket.ts";
import type {
	CountedJobs,
	Due,
	DueRange,
	Enqueued,
	Expired,
	ExpireOptions,
	ExpiryRange,
	Held,
	Job,
	JobChange,
	JobKey,
	JobScan,
	JobStore,
	NewJob,
	Place,
	QueueRow,
	ScannedJobs,
	Turn,
	Turned,
} from "../jobStore.ts";
import {
	checkAcks,
	checkClaim,
	checkCounted,
	checkDue,
	checkExpire,
	checkHeld,
	checkInteger,
	checkKeys,
	checkNewJobs,
	checkPlace,
	checkScan,
	unknownQueueShard,
} from "../portChecks.ts";
import type {
	GivenBack,
	Keep,
	Made,
	RotationStore,
	Round,
	Span,
} from "../rotationStore.ts";
import {
	createJobs,
	createKeys,
	createQueues,
	createRotations,
	jobsTable,
	keysTable,
	queuesTable,
} from "./ddl.ts";
import { enqueueJobs } from "./enqueue.ts";
import { orError, type QueueCall, queueCall } from "./queueCall.ts";
import { mapQueueShards, type QueueShard } from "./queueShards.ts";
import {
	countQueue,
	dueJobs,
	findJobs,
	hasExpired,
	readQueues,
	scanQueue,
} from "./reads.ts";
import {
	ahead,
	bytesOfQueue,
	dropEmpty,
	forgetQueue,
	giveBack,
	moveOn,
	spans,
} from "./rotation.ts";
import type { QueueDatabase } from "./rotationSession.ts";
import { endRound, takeRound } from "./rounds.ts";
import { renewWithSwappedOut, turnWithSwappedOut } from "./swappedOut.ts";
import { changeJobs, expireClaims } from "./upkeep.ts";

export interface MysqlJobLimits extends HostLimits {
	/** Time for a write, with all its waits and retries. Milliseconds. */
	readonly writeMs: number;
}

export const MYSQL_JOB_LIMITS: MysqlJobLimits = {
	connections: 6,
	maxWaiting: 1_000,
	connectMs: 1_000,
	readMs: 2_000,
	writeMs: 5_000,
	silenceMs: 8_000,
	// With both images of each claim and ack, a job of 2 KB wrote 10.4 instead of 2.3 KB (measured).
	leanBinlog: true,
};

/** Of one statement that creates or drops a table. Milliseconds. */
const DDL_MS = 60_000;

export interface MysqlJobOptions {
	readonly queues: readonly QueueRange[];
	readonly limits?: Partial<MysqlJobLimits>;
	/** For URLs that name variables (default: that of the process). */
	readonly environment?: Environment;
	/** Those of `jobHosts`, shared with the stores of other versions of the topology; the limits are theirs then. Default: hosts of its own. */
	readonly hosts?: SharedHosts;
}

/**
 * Hosts for the job stores of a process. Their connections are the queues' own,
 * also where the graph is on the same server: neither takes those of the other.
 */
export function jobHosts(
	limits: HostLimits = MYSQL_JOB_LIMITS,
	environment: Environment = process.env,
	guard: HostWriteGuard | null = null,
): SharedHosts {
	return new SharedHosts(limits, false, environment, guard);
}

/**
 * Jobs in MySQL 8.0.19 and MariaDB 10.11, or later: each queue shard is a
 * database `queue00000` on the host its range names, with two tables for each
 * queue. Nothing is opened before it is needed.
 */
export function openMysqlJobStore(
	options: MysqlJobOptions,
): JobStore & RotationStore {
	return new MysqlJobStore(options);
}

class MysqlJobStore implements JobStore, RotationStore {
	readonly shards: readonly number[];
	readonly openShards: readonly number[];
	readonly #shards: ReadonlyMap<number, QueueShard>;
	readonly #hosts: HostLease;
	readonly #limits: MysqlJobLimits;

	constructor({ queues, limits, environment, hosts }: MysqlJobOptions) {
		this.#limits = { ...MYSQL_JOB_LIMITS, ...limits };
		this.#hosts = (hosts ?? jobHosts(this.#limits, environment)).lease();
		this.#shards = mapQueueShards(queues, this.#hosts, this.#limits.readMs);
		this.shards = [...this.#shards.keys()];
		this.openShards = [...this.#shards.values()]
			.filter(({ isOpen }) => isOpen)
			.map(({ number }) => number);
	}

	hostOf(shard: number): string | null {
		return this.#shards.get(shard)?.host.name ?? null;
	}

	now(shard: number): Promise<number> {
		const { clock } = this.#shard(shard);
		return orError({ queue: "", shard }, () => clock.now(shard));
	}

	async enqueue(
		at: Place,
		jobs: readonly NewJob[],
		{ isRepeat = false }: { readonly isRepeat?: boolean } = {},
	): Promise<readonly Enqueued[]> {
		checkNewJobs(jobs);
		return this.#write(at, (call) => enqueueJobs(call, jobs, isRepeat));
	}

	async turn(at: Place, turn: Turn): Promise<Turned> {
		checkAcks(turn.acks ?? []);
		if (turn.claim !== undefined) checkClaim(turn.claim);
		return this.#write(at, (call) => turnWithSwappedOut(call, turn));
	}

	async renew(
		at: Place,
		claims: readonly Held[],
		claimMs: number,
	): Promise<readonly Held[]> {
		checkHeld(claims);
		checkInteger("claimMs", claimMs, 1);
		return this.#write(at, (call) =>
			renewWithSwappedOut(call, claims, claimMs),
		);
	}

	async expire(at: Place, options: ExpireOptions): Promise<Expired> {
		checkExpire(options);
		return this.#write(at, (call) => expireClaims(call, options));
	}

	async hasExpired(
		ranges: readonly ExpiryRange[],
	): Promise<readonly (boolean | CorkboardError)[]> {
		for (const { at } of ranges) checkPlace(at);
		return hasExpired(this.#shards, ranges, this.#limits.readMs);
	}

	async due(
		ranges: readonly DueRange[],
	): Promise<readonly (Due | null | CorkboardError)[]> {
		ranges.forEach(checkDue);
		return dueJobs(this.#shards, ranges, this.#limits.readMs);
	}

	async find(
		at: Place,
		jobs: readonly JobKey[],
		{ body = false }: { readonly body?: boolean } = {},
	): Promise<readonly (Job | null)[]> {
		checkKeys(jobs);
		return this.#read(at, (call) => findJobs(call, jobs, body));
	}

	async scan(at: Place, scan: JobScan): Promise<ScannedJobs> {
		checkScan(scan);
		return this.#read(at, (call) => scanQueue(call, scan));
	}

	async change(
		at: Place,
		jobs: readonly JobKey[],
		to: JobChange,
	): Promise<number> {
		checkKeys(jobs);
		return this.#write(at, (call) => changeJobs(call, jobs, to));
	}

	async count(at: Place, of: CountedJobs, cap: number): Promise<number> {
		checkCounted(of);
		checkInteger("cap", cap, 1);
		return this.#read(at, (call) => countQueue(call, of, cap));
	}

	diskBytes(at: Place): Promise<number> {
		const deadline = deadlineIn(this.#limits.readMs);
		return this.#rotate(at, (queue) => bytesOfQueue(queue, deadline));
	}

	async queues(shard: number): Promise<readonly QueueRow[]> {
		const [answer = []] = await this.queuesOn([shard]);
		if (answer instanceof CorkboardError) throw answer;
		return answer;
	}

	queuesOn(
		shards: readonly number[],
	): Promise<readonly (readonly QueueRow[] | CorkboardError)[]> {
		return readQueues(this.#shards, shards, this.#limits.readMs);
	}

	async put(shard: number, queue: QueueRow): Promise<void> {
		const { name, settings, version } = queue;
		const at = { queue: name, shard };
		checkPlace(at);
		checkInteger("version", version, 0);
		const { database, clock } = this.#shard(shard);
		await orError(at, async () => {
			const hour = hourOf(await clock.now(shard));
			await this.#define(shard, createJobs(database, name, hour));
			await this.#define(shard, createKeys(database, name));
			await this.#runOn(shard, {
				name: "put queue",
				text: `INSERT INTO ${queuesTable(database)}
						(name, settings, version, tokens, filled_at)
					VALUES (?, ?, ?, 0, 0)
					ON DUPLICATE KEY UPDATE
						settings = IF(VALUES(version) > version, VALUES(settings), settings),
						version = GREATEST(VALUES(version), version)`,
				values: [name, JSON.stringify(settings), version],
			});
		});
	}

	async drop(at: Place): Promise<void> {
		checkPlace(at);
		const { queue, shard } = at;
		const { database, host } = this.#shard(shard);
		await orError(at, async () => {
			await this.#runOn(shard, {
				name: "delete queue",
				text: `DELETE FROM ${queuesTable(database)} WHERE name = ?`,
				values: [queue],
			});
			for (const table of [
				jobsTable(database, queue),
				keysTable(database, queue),
			]) {
				await this.#define(shard, `DROP TABLE IF EXISTS ${table}`);
			}
			await forgetQueue({ host, database, at });
		});
	}

	async createTables(): Promise<void> {
		await Promise.all(
			[...this.#shards.values()].map(async ({ number, database, host }) => {
				try {
					await this.#define(
						number,
						`CREATE DATABASE IF NOT EXISTS \`${database}\``,
					);
					await this.#define(number, createQueues(database));
					await this.#define(number, createRotations(database));
				} catch (thrown) {
					if (!(thrown instanceof StorageFailure)) throw thrown;
					throw new CorkboardError(
						thrown.kind === "unsupported" ? "BAD_CONFIG" : "UNAVAILABLE",
						`${host.name} could not create the tables of the queues: ${thrown.message}`,
						{ cause: thrown },
					);
				}
			}),
		);
	}

	async missingTables(): Promise<readonly string[]> {
		const missing = await Promise.all(
			[...this.#shards.values()].map(async ({ number, database, host }) => {
				const rows = await orError({ queue: "", shard: number }, () =>
					host.rows(
						{
							name: "tables",
							text: `SELECT table_name FROM information_schema.tables
								WHERE table_schema = ? AND table_name IN ('queues', 'rotations')`,
							values: [database],
						},
						{
							shard: number,
							deadline: deadlineIn(this.#limits.readMs),
						},
					),
				);
				const there = new Set(rows.map(([name]) => String(name)));
				return ["queues", "rotations"]
					.filter((name) => !there.has(name))
					.map((name) => `${database}.${name}`);
			}),
		);
		return missing.flat();
	}

	takeRound(at: Place, everyMs: number): Promise<Round | null> {
		return this.#rotate(at, (queue) => takeRound(queue, everyMs));
	}

	endRound(at: Place, round: Round): Promise<void> {
		return this.#rotate(at, (queue) => endRound(queue, round));
	}

	spans(at: Place, keep: Keep): Promise<readonly Span[]> {
		return this.#rotate(at, (queue) => spans(queue, keep));
	}

	ahead(at: Place, hours: number): Promise<Made> {
		checkInteger("hours", hours, 1);
		return this.#rotate(at, (queue) => ahead(queue, hours));
	}

	moveOn(at: Place, span: Span, keep: Keep, limit: number): Promise<number> {
		checkInteger("limit", limit, 1);
		return this.#rotate(at, (queue) => moveOn(queue, span, keep, limit));
	}

	giveBack(at: Place, span: Span, keep: Keep): Promise<GivenBack> {
		return this.#rotate(at, (queue) => giveBack(queue, span, keep));
	}

	dropEmpty(at: Place): Promise<Made> {
		return this.#rotate(at, dropEmpty);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#hosts[Symbol.asyncDispose]();
	}

	#shard(shard: number): QueueShard {
		const found = this.#shards.get(shard);
		if (found === undefined) throw unknownQueueShard(shard);
		return found;
	}

	#read<T>(at: Place, body: (call: QueueCall) => Promise<T>): Promise<T> {
		checkPlace(at);
		const call = queueCall(at, this.#shard(at.shard), this.#limits.readMs);
		return orError(at, () => body(call));
	}

	#write<T>(at: Place, body: (call: QueueCall) => Promise<T>): Promise<T> {
		checkPlace(at);
		const call = queueCall(at, this.#shard(at.shard), this.#limits.writeMs);
		return orError(at, () => body(call));
	}

	async #rotate<T>(
		at: Place,
		body: (queue: QueueDatabase) => Promise<T>,
	): Promise<T> {
		checkPlace(at);
		const { host, database } = this.#shard(at.shard);
		return orError(at, () => body({ host, database, at }));
	}

	/** A statement that commits by itself. It waits for no other for longer than the session allows. */
	async #define(shard: number, text: string): Promise<void> {
		const { host } = this.#shard(shard);
		const options = {
			shard,
			deadline: deadlineIn(DDL_MS),
			isPatient: true,
		};
		const [verb = "", object = ""] = text.split(" ");
		const name = `${verb} ${object}`.toLowerCase();
		await host.transaction(options, async ({ run }) => {
			await run({ name, text, values: [] });
			return { value: null, commit: false };
		});
	}

	async #runOn(shard: number, sql: Sql): Promise<void> {
		await this.#shard(shard).host.run(sql, {
			shard,
			deadline: deadlineIn(this.#limits.writeMs),
		});
	}
}
