import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createConnection, type RowDataPacket } from "mysql2/promise";
import { startMysql } from "../../services/mysql.ts";
import { startRedis } from "../../services/redis.ts";
import type { Server } from "../../services/server.ts";
import { startWatched, type Watched } from "../../services/watched.ts";
import type { StateChange, WorkerNotes } from "./evidence.ts";
import { type Subject, WORKERS } from "./schedule.ts";
import { NOTES, type Note } from "./trialJobs.ts";

const PRELOAD = join(import.meta.dirname, "compressed.ts");
const LAUNCH = join(import.meta.dirname, "../../../src/cli/launch.mjs");
const COMMAND_LIMIT_MS = 240_000;
const START_LIMIT_MS = 120_000;
const LOOK_MS = 50;
/** On each host. */
const QUEUE_SHARDS = 1;

/** A `corkboard worker` that is started again after its faults: a process each time. */
export class WorkerProcess {
	readonly #nth: number;
	readonly #folder: string;
	readonly #env: Readonly<Record<string, string>>;
	readonly #ended: (name: string, how: string) => void;
	readonly #lives: {
		readonly name: string;
		readonly process: Watched;
		isEnding: boolean;
		endedAt: number | null;
		readonly frozen: [number, number][];
	}[] = [];

	constructor(
		nth: number,
		folder: string,
		env: Readonly<Record<string, string>>,
		ended: (name: string, how: string) => void,
	) {
		this.#nth = nth;
		this.#folder = folder;
		this.#env = env;
		this.#ended = ended;
	}

	/** Until it runs jobs, or has begun to wait for a database. */
	async start(): Promise<void> {
		const name = `worker${this.#nth}-${this.#lives.length}`;
		const env = { ...this.#env, [NOTES]: join(this.#folder, `${name}.notes`) };
		await writeFile(env[NOTES] as string, "");
		const running = await startWatched(
			[
				"/usr/bin/env",
				"-i",
				...Object.entries(env).map(([key, value]) => `${key}=${value}`),
				process.execPath,
				"--import",
				PRELOAD,
				LAUNCH,
				"worker",
				"--queues",
				"trial",
				"--concurrency",
				"8",
			],
			// One that outlives this process removes this folder.
			{ folder: this.#folder, log: join(this.#folder, `${name}.log`) },
		);
		const life = {
			name,
			process: running,
			isEnding: false,
			endedAt: null as number | null,
			frozen: [],
		};
		this.#lives.push(life);
		running.exited.then((how) => {
			life.endedAt = Date.now();
			if (!life.isEnding) this.#ended(name, how);
		});
	}

	/** Ends it, and waits for that. */
	async end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
		const life = this.#lives.at(-1);
		if (life === undefined) return;
		life.isEnding = true;
		this.#signal("SIGCONT");
		this.#signal(signal);
		await life.process.exited;
	}

	freeze(): void {
		this.#lives.at(-1)?.frozen.push([Date.now(), Number.POSITIVE_INFINITY]);
		this.#signal("SIGSTOP");
	}

	thaw(): void {
		this.#signal("SIGCONT");
		const frozen = this.#lives.at(-1)?.frozen.at(-1);
		if (frozen !== undefined) frozen[1] = Date.now();
	}

	get hasEnded(): boolean {
		return this.#lives.at(-1)?.process.hasExited() ?? true;
	}

	/** What its processes noted. */
	notes(): readonly WorkerNotes[] {
		return this.#lives.map(({ name, endedAt, frozen }) => {
			const notes = readFileSync(join(this.#folder, `${name}.notes`), "utf8")
				.split("\n")
				.filter((line) => line.endsWith("}"))
				.map((line): Note => JSON.parse(line));
			const stood = notes.flatMap((note) =>
				note.kind === "stood" ? [[note.from, note.at] as const] : [],
			);
			return { name, notes, endedAt, still: [...frozen, ...stood] };
		});
	}

	/** What its processes printed. */
	logs(): readonly string[] {
		return this.#lives.map(({ name }) =>
			readFileSync(join(this.#folder, `${name}.log`), "utf8"),
		);
	}

	#signal(name: NodeJS.Signals): void {
		const running = this.#lives.at(-1)?.process;
		if (running === undefined || running.hasExited()) return;
		process.kill(running.pid, name);
	}
}

/** Two MySQL hosts with a shard of the queue each, a Redis, and workers. */
export interface QueueServices extends AsyncDisposable {
	readonly folder: string;
	readonly servers: Readonly<Record<"mysql0" | "mysql1" | "redis", Server>>;
	readonly workers: readonly WorkerProcess[];
	/** Settings of every process. */
	readonly env: Readonly<Record<string, string>>;
	/** What the triggers recorded, in order for each job. */
	stateChanges(): Promise<readonly StateChange[]>;
	/** Deadlocks that the servers have seen. */
	deadlocks(): Promise<number>;
	serverOf(subject: Subject): Server | WorkerProcess;
}

export async function startQueueServices(
	ended: (name: string, how: string) => void,
): Promise<QueueServices> {
	await using stack = new AsyncDisposableStack();
	const args = [
		"--innodb-print-all-deadlocks=ON",
		"--performance-schema=ON",
		// InnoDB writes deadlocks as notes, which MySQL logs only at this level.
		"--log-error-verbosity=3",
	];
	const [mysql0, mysql1, redis] = await startAll(stack, [
		() => startMysql({ args }),
		() => startMysql({ args }),
		() => startRedis(),
	]);
	const servers = {
		mysql0: mysql0 as Server,
		mysql1: mysql1 as Server,
		redis: redis as Server,
	};
	const hosts = [servers.mysql0, servers.mysql1];
	const folder = await mkdtemp(join(tmpdir(), "corkboard-queue-attack-"));
	stack.defer(() => rm(folder, { recursive: true, force: true }));
	const topology = join(folder, "topology.json");
	const ranges = hosts.map(({ url }, nth) => ({
		range: [nth, nth],
		primary: url,
	}));
	await writeFile(
		topology,
		JSON.stringify({
			version: 1,
			shards: ranges.map((range) => ({ ...range, open: true })),
			lookups: ranges,
			queues: hosts.map(({ url }, nth) => ({
				range: [nth * QUEUE_SHARDS, (nth + 1) * QUEUE_SHARDS - 1],
				primary: url,
			})),
		}),
		{ mode: 0o600 },
	);
	const { PATH = "", HOME = "", TMPDIR = "/tmp" } = process.env;
	const env = {
		PATH,
		HOME,
		TMPDIR,
		CORKBOARD_TOPOLOGY: topology,
		CORKBOARD_REDIS: servers.redis.url,
		CORKBOARD_MODE: "development",
		CORKBOARD_SECRET: "of the attack on the queue alone 32 bytes or more",
		CORKBOARD_LOG: "warn,json",
	};
	await promisify(execFile)(
		process.execPath,
		["--import", PRELOAD, LAUNCH, "init"],
		{ env, timeout: COMMAND_LIMIT_MS },
	);
	const shards = hosts.flatMap((host, nth) =>
		Array.from({ length: QUEUE_SHARDS }, (_, shard) => ({
			host,
			database: `queue${String(nth * QUEUE_SHARDS + shard).padStart(5, "0")}`,
		})),
	);
	for (const { host, database } of shards) await recordStates(host, database);
	const workers = Array.from(
		{ length: WORKERS },
		(_, nth) => new WorkerProcess(nth, folder, env, ended),
	);
	stack.defer(async () => {
		await Promise.all(workers.map((worker) => worker.end("SIGKILL")));
	});
	await Promise.all(workers.map((worker) => worker.start()));
	await until("workers to start", () =>
		workers.every((worker) => worker.hasEnded || worker.notes().length > 0),
	);
	const owned = stack.move();
	return {
		folder,
		servers,
		workers,
		env,
		serverOf: (subject) =>
			subject.startsWith("worker")
				? (workers[Number(subject.at(-1))] as WorkerProcess)
				: servers[subject as keyof typeof servers],
		async stateChanges() {
			const all = await Promise.all(
				shards.map(({ host, database }) => readStates(host, database)),
			);
			return all.flat();
		},
		async deadlocks() {
			const logs = await Promise.all(
				hosts.map((host) => readFile(join(host.folder, "log"), "utf8")),
			);
			return logs.join().match(/deadlock detected/gi)?.length ?? 0;
		},
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}

/** All of them are owned, even if one does not start. */
async function startAll(
	stack: AsyncDisposableStack,
	starts: readonly (() => Promise<Server>)[],
): Promise<readonly Server[]> {
	const starting = starts.map(async (start) => stack.use(await start()));
	await Promise.allSettled(starting);
	return Promise.all(starting);
}

export async function until(
	what: string,
	isTrue: () => boolean | Promise<boolean>,
	limitMs = START_LIMIT_MS,
): Promise<void> {
	const end = performance.now() + limitMs;
	while (!(await isTrue())) {
		if (performance.now() > end) throw new Error(`expected ${what}`);
		await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
	}
}

/** In the transaction that changes a job's state. */
async function recordStates(host: Server, database: string): Promise<void> {
	const connection = await createConnection({ uri: host.url });
	try {
		await connection.query(
			`CREATE TABLE \`${database}\`.states (
				nth BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
				local_id BINARY(16) NOT NULL, was TINYINT NOT NULL, \`is\` TINYINT NOT NULL,
				claim BIGINT UNSIGNED NOT NULL, until BIGINT UNSIGNED NOT NULL, at DOUBLE NOT NULL)`,
		);
		await connection.query(
			`CREATE TRIGGER \`${database}\`.record_states AFTER UPDATE ON \`${database}\`.jobs_trial FOR EACH ROW
				IF OLD.state <> NEW.state THEN
					INSERT INTO \`${database}\`.states (local_id, was, \`is\`, claim, until, at)
					VALUES (NEW.local_id, OLD.state, NEW.state, OLD.claim, OLD.at, UNIX_TIMESTAMP(SYSDATE(6)) * 1000);
				END IF`,
		);
	} finally {
		connection.destroy();
	}
}

async function readStates(
	host: Server,
	database: string,
): Promise<readonly StateChange[]> {
	const connection = await createConnection({ uri: host.url });
	try {
		const [rows] = await connection.query<RowDataPacket[]>(
			`SELECT LOWER(HEX(local_id)) AS local, was, \`is\`, CAST(claim AS CHAR) AS claim, until / 1000 AS until, at
				FROM \`${database}\`.states ORDER BY nth`,
		);
		return rows.map(({ local, was, is, claim, until, at }) => ({
			local,
			was,
			is,
			claim,
			until: Number(until),
			at: Number(at),
		}));
	} finally {
		connection.destroy();
	}
}
