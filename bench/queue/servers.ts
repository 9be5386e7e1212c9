import { startMysql } from "../../test/services/mysql.ts";
import { startPostgres } from "../../test/services/postgres.ts";
import { startRedis } from "../../test/services/redis.ts";
import type { Server } from "../../test/services/server.ts";
import { moveToOtherCores } from "../servers/cores.ts";
import { cpuMsOfAll, cpuMsWithChildren } from "../usage.ts";
import type { QueueTarget } from "./queueSystem.ts";
import { infoOf, type SystemName } from "./systems.ts";

/** For every database: all data fits, and no checkpoint is forced while it is measured. */
const MYSQL_OPTIONS = [
	"--innodb-buffer-pool-size=1G",
	"--innodb-redo-log-capacity=2G",
	"--max-connections=500",
	// PostgreSQL writes whole pages into its log, by which torn ones are repaired.
	"--innodb-doublewrite=ON",
	// As a server that is installed has it; rotation asks it.
	"--performance-schema=ON",
];
const POSTGRES_OPTIONS = [
	"shared_buffers=1GB",
	"max_wal_size=4GB",
	"max_connections=500",
];

/** `relaxed`: each commit is in the log of the system, and on disk within a second. `strict`: on disk before it is acknowledged. */
export type Flush = "relaxed" | "strict";

/** The servers of a run. Each is started when it is first needed. */
export class Servers implements AsyncDisposable {
	readonly #flush: Flush;
	readonly #stack = new AsyncDisposableStack();
	readonly #started = new Map<string, Promise<Server>>();

	constructor(flush: Flush) {
		this.#flush = flush;
	}

	/** The database of a system. */
	of(system: SystemName): Promise<Server> {
		const { database, fsync } = infoOf(system);
		switch (database) {
			case "mysql":
				return this.#once("mysql", () =>
					startMysql({
						args: [
							...MYSQL_OPTIONS,
							...(this.#flush === "strict"
								? ["--innodb-flush-log-at-trx-commit=1", "--sync-binlog=1"]
								: []),
						],
					}),
				);
			case "postgres":
				return this.#once("postgres", () =>
					startPostgres({
						args: [
							...POSTGRES_OPTIONS,
							...(this.#flush === "strict" ? ["synchronous_commit=on"] : []),
						].flatMap((setting) => ["-c", setting]),
					}),
				);
			case "redis":
				return this.#once(`redis ${fsync}`, () =>
					startRedis({
						args: [
							...["--appendonly", "yes"],
							...["--appendfsync", fsync ?? "everysec"],
							...["--maxmemory-policy", "noeviction"],
						],
					}),
				);
		}
	}

	/** The Redis that only carries hints. */
	hints(): Promise<Server> {
		return this.#once("hints", () => startRedis());
	}

	async target(
		system: SystemName,
		queues: readonly string[] = ["bench"],
	): Promise<QueueTarget> {
		const { database, isBatched, hints } = infoOf(system);
		const { url } = await this.of(system);
		return {
			url: database === "postgres" ? `${url}/postgres` : url,
			redis: hints === true ? (await this.hints()).url : null,
			queues,
			isBatched,
		};
	}

	/** CPU time that the system's servers have used. Milliseconds. */
	async cpuMs(system: SystemName): Promise<number> {
		const { database, hints } = infoOf(system);
		const { pid } = await this.of(system);
		const own =
			database === "postgres" ? cpuMsWithChildren(pid) : cpuMsOfAll(pid);
		return hints === true ? own + cpuMsOfAll((await this.hints()).pid) : own;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await Promise.allSettled(this.#started.values());
		await this.#stack.disposeAsync();
	}

	#once(name: string, start: () => Promise<Server>): Promise<Server> {
		let server = this.#started.get(name);
		if (server === undefined) {
			server = start().then((started) => {
				this.#stack.use(started);
				moveToOtherCores(started.pid);
				return started;
			});
			this.#started.set(name, server);
		}
		return server;
	}
}
