import { CorkboardError } from "../../errors.ts";
import {
	type BinlogOptions,
	readBinlog,
} from "../../storage/mysql/binlog/binlogReader.ts";
import type {
	BinlogTable,
	BinlogTransaction,
} from "../../storage/mysql/binlog/binlogTypes.ts";
import type {
	CommitDecision,
	MysqlTransaction,
} from "../../storage/mysql/driver/commitProtocol.ts";
import type { ServerIdentity } from "../../storage/mysql/driver/currentServer.ts";
import {
	Host,
	type HostLimits,
	type MysqlSession,
} from "../../storage/mysql/driver/host.ts";
import type { Value } from "../../storage/mysql/driver/mysql2Connection.ts";
import { addressOf } from "../../storage/mysql/serverAddress.ts";
import { StorageFailure } from "../../storage/storageFailure.ts";
import { ACCOUNT_FILE, type Environment } from "../../topology/secret.ts";
import { deadlineIn } from "../../util/deadline.ts";
import { reasonOf } from "../../util/reasonOf.ts";

/** The limit of one statement, some of which wait for a replica. Milliseconds. */
const STATEMENT_MS = 30_000;
/** A server of some terabytes. Milliseconds. */
const CLONE_MS = 7 * 86_400_000;
const LIMITS: HostLimits = {
	connections: 4,
	maxWaiting: 100,
	connectMs: 5_000,
	readMs: STATEMENT_MS,
	silenceMs: 60_000,
};
/** Where the account is that changes a fleet. */
const ADMIN_FILE = "CORKBOARD_ADMIN_FILE";

/** What a server says of its replication. */
export interface ReplicaState {
	readonly sourceUuid: string;
	readonly isReceiving: boolean;
	/** It does not even try to receive: by STOP REPLICA, or after an error. */
	readonly isReceiverStopped: boolean;
	readonly isApplying: boolean;
	readonly lagSeconds: number | null;
	readonly error: string;
}

/** One MySQL server, as operations on the fleet use it: with the operator's account. */
export class FleetServer implements AsyncDisposable {
	readonly name: string;
	readonly #host: Host;
	readonly #address: ReturnType<typeof addressOf>;

	constructor(
		url: string,
		environment: Environment,
		connections = LIMITS.connections,
	) {
		this.#address = addressOf(...asOperator(url, environment));
		this.name = this.#address.name;
		const limits = { ...LIMITS, connections };
		this.#host = new Host(this.#address, limits, false);
	}

	async row(
		name: string,
		text: string,
		values: readonly Value[] = [],
	): Promise<readonly unknown[]> {
		const rows = await this.rows(name, text, values);
		return rows[0] ?? [];
	}

	async rows(
		name: string,
		text: string,
		values: readonly Value[] = [],
		ms = STATEMENT_MS,
	): Promise<readonly (readonly unknown[])[]> {
		return this.#translated(() =>
			this.#host.rows({ name, text, values }, options(ms)),
		);
	}

	/** The same from information_schema, as it is now: the server keeps what it knows of tables for a day, and an optimizer hint does not turn that off. */
	async freshRows(
		name: string,
		text: string,
		values: readonly Value[] = [],
	): Promise<readonly (readonly unknown[])[]> {
		return this.#translated(() =>
			this.#host.session(options(), async (session) => {
				// MariaDB keeps nothing.
				if (session.product === "MySQL") {
					await session.run({
						name: "fresh statistics",
						text: "SET SESSION information_schema_stats_expiry = 0",
						values: [],
					});
				}
				return session.rows({ name, text, values });
			}),
		);
	}

	async run(
		name: string,
		text: string,
		values: readonly Value[] = [],
		ms = STATEMENT_MS,
	): Promise<void> {
		await this.#translated(() =>
			this.#host.run({ name, text, values }, options(ms)),
		);
	}

	/** Some statements, of which none is committed: their effect on counters stays. Returns of each why the server refused it; null: it did not. */
	async tryAndRollBack(
		name: string,
		texts: readonly string[],
	): Promise<readonly (StorageFailure | null)[]> {
		return this.#translated(() =>
			this.#host.transaction(options(), async (statements) => {
				const refusals: (StorageFailure | null)[] = [];
				for (const text of texts) {
					try {
						await statements.run({ name, text, values: [] });
						refusals.push(null);
					} catch (thrown) {
						// The server undoes the statement, and the transaction continues.
						if (!isRefused(thrown)) throw thrown;
						refusals.push(thrown);
					}
				}
				return { value: refusals, commit: false };
			}),
		);
	}

	/** `body` has a session of its own, with what belongs to one, such as temporary tables. */
	async session<T>(body: (session: MysqlSession) => Promise<T>): Promise<T> {
		return this.#translated(() => this.#host.session(options(), body));
	}

	async isMariadb(): Promise<boolean> {
		const [version] = await this.row("version", "SELECT VERSION()");
		return /mariadb/i.test(String(version));
	}

	/** `body` may be called again, after a deadlock or on a dead connection. */
	async transaction<T>(
		body: (statements: MysqlTransaction) => Promise<CommitDecision<T>>,
		ms = STATEMENT_MS,
	): Promise<T> {
		return this.#translated(() => this.#host.transaction(options(ms), body));
	}

	/** See `readBinlog`. */
	readBinlog<Table extends BinlogTable>(
		options: BinlogOptions<Table>,
	): AsyncGenerator<readonly BinlogTransaction<Table>[], void, undefined> {
		return readBinlog(this.#address, options);
	}

	/** Refuses all writes, even after a restart of the server. */
	async fence(ms = STATEMENT_MS): Promise<void> {
		await this.run("fence", "SET PERSIST super_read_only = ON", [], ms);
	}

	/** Refuses all writes from now on, and waits for no disk: `fence` has to follow. While it waits for a client's lock, so do all writes. */
	async stopWrites(ms: number): Promise<void> {
		await this.run("stop writes", "SET GLOBAL super_read_only = ON", [], ms);
	}

	/** Takes writes, until a restart: `liftFence` has to follow. */
	async takeWrites(): Promise<void> {
		await this.run(
			"take writes",
			"SET GLOBAL super_read_only = OFF, GLOBAL read_only = OFF",
		);
	}

	/** What its option file says holds again after a restart: it should refuse writes then. */
	async liftFence(): Promise<void> {
		await this.takeWrites();
		for (const variable of ["super_read_only", "read_only"]) {
			await this.run("reset persisted", `RESET PERSIST IF EXISTS ${variable}`);
		}
	}

	async isFenced(): Promise<boolean> {
		const [isFenced] = await this.row(
			"fence state",
			"SELECT @@GLOBAL.super_read_only",
		);
		return String(isFenced) === "1";
	}

	/** `liftFence`. Without the right to it, it fails only if there is a fence. */
	async unfence(): Promise<void> {
		try {
			await this.liftFence();
		} catch (thrown) {
			if (await this.isFenced().catch(() => true)) throw thrown;
		}
	}

	/** `fence`. Without the right to it, it fails only if there is none. */
	async refence(): Promise<void> {
		try {
			await this.fence();
		} catch (thrown) {
			if (!(await this.isFenced().catch(() => false))) throw thrown;
		}
	}

	/** Which server the name leads to now. */
	async identity(): Promise<ServerIdentity> {
		const { server } = await this.#translated(() =>
			this.#host.session(options(), async ({ server }) => ({ server })),
		);
		return server;
	}

	/** All transactions that it has, as a set of GTIDs. */
	async executed(): Promise<string> {
		const [set] = await this.row(
			"gtids",
			"SELECT REPLACE(@@GLOBAL.gtid_executed, '\n', '')",
		);
		return String(set ?? "");
	}

	/** The transactions that its binary log has no more of, or never had, as a set of GTIDs. */
	async purged(): Promise<string> {
		const [set] = await this.row(
			"purged gtids",
			"SELECT REPLACE(@@GLOBAL.gtid_purged, '\n', '')",
		);
		return String(set ?? "");
	}

	/** What the first set has and the second lacks; empty: nothing. */
	async subtract(set: string, from: string): Promise<string> {
		const [rest] = await this.row(
			"gtid difference",
			"SELECT REPLACE(GTID_SUBTRACT(?, ?), '\n', '')",
			[set, from],
		);
		return String(rest ?? "");
	}

	/** Whether it has all of a set within so long. */
	async has(set: string, ms: number): Promise<boolean> {
		const [late] = await this.row(
			"wait for gtids",
			"SELECT WAIT_FOR_EXECUTED_GTID_SET(?, ?)",
			[set, ms / 1_000],
		);
		return String(late) === "0";
	}

	/** Null if it follows no other. */
	async replica(): Promise<ReplicaState | null> {
		const rows = await this.rows("replica", "SHOW REPLICA STATUS");
		const [row] = rows;
		if (row === undefined) return null;
		const text = (at: number) => String(row[at] ?? "");
		return {
			isReceiving: text(10) === "Yes",
			isReceiverStopped: text(10) === "No",
			isApplying: text(11) === "Yes",
			lagSeconds: text(32) === "" ? null : Number(text(32)),
			error: text(37) || text(35),
			sourceUuid: text(40),
		};
	}

	/** Why it does not answer within so long; null: it does. */
	async silence(ms: number): Promise<string | null> {
		try {
			await this.rows("answer", "SELECT 1", [], ms);
			return null;
		} catch (thrown) {
			return reasonOf(thrown);
		}
	}

	/** What it has received from the server that it follows, applied or not. */
	async received(): Promise<string> {
		const rows = await this.rows(
			"received",
			"SELECT REPLACE(received_transaction_set, '\n', '') FROM performance_schema.replication_connection_status",
		);
		return rows
			.map(([set]) => String(set ?? ""))
			.filter((set) => set !== "")
			.join(",");
	}

	/** Goes on following the server that it followed. */
	async startFollowing(): Promise<void> {
		const state = await this.replica();
		if (state?.isReceiving && state.isApplying) return;
		await this.run("start replica", "START REPLICA");
	}

	/** Follows no other server any more. */
	async stopFollowing(): Promise<void> {
		if ((await this.replica()) === null) return;
		await this.run("stop replica", "STOP REPLICA");
		await this.run("reset replica", "RESET REPLICA ALL");
	}

	/**
	 * Follows a server with the operator's account, from where it is. It refuses
	 * writes before and after. It never gives up connecting: MySQL's default of ten
	 * tries (since 8.4) would leave no replica after an outage of ten seconds.
	 */
	async follow(source: FleetServer): Promise<void> {
		await this.fence();
		await this.stopFollowing();
		const { host, port, user, password } = source.#address;
		await this.run(
			"change source",
			`CHANGE REPLICATION SOURCE TO SOURCE_HOST = ?, SOURCE_PORT = ?,
				SOURCE_USER = ?, SOURCE_PASSWORD = ?, SOURCE_AUTO_POSITION = 1,
				SOURCE_CONNECT_RETRY = 1, SOURCE_RETRY_COUNT = 0, GET_SOURCE_PUBLIC_KEY = 1`,
			[host, port, user, password()],
		);
		await this.run("start replica", "START REPLICA");
	}

	/**
	 * Replaces all that it holds with a copy of another server, with the operator's
	 * account there. Ends when it has shut down, or if it fails; it is never
	 * repeated, and continues in the server if the caller ends.
	 */
	async clone(source: FleetServer): Promise<void> {
		const { host, port, user, password } = source.#address;
		await this.#translated(() =>
			this.#host.session(options(CLONE_MS), (session) =>
				session.run({
					name: "clone",
					text: `CLONE INSTANCE FROM ?@?:${port} IDENTIFIED BY ?`,
					values: [user, host, password()],
				}),
			),
		);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#host[Symbol.asyncDispose]();
	}

	async #translated<T>(body: () => Promise<T>): Promise<T> {
		try {
			return await body();
		} catch (thrown) {
			if (!(thrown instanceof StorageFailure)) throw thrown;
			throw new CorkboardError(
				"UNAVAILABLE",
				`${this.name}, ${thrown.statement}: ${thrown.message}`,
				{ cause: thrown },
			);
		}
	}
}

/** Whether there is an account that changes the fleet. */
export function hasOperator(environment: Environment): boolean {
	return (environment[ADMIN_FILE] ?? "") !== "";
}

/** As it is without the operator's account: hosts are asked with that of their URL. */
export function withoutOperator(environment: Environment): Environment {
	return { ...environment, [ADMIN_FILE]: undefined };
}

/** A host's URL with the account of the operator's file in the place of its own. */
function asOperator(
	text: string,
	environment: Environment,
): [url: string, environment: Environment] {
	const file = environment[ADMIN_FILE];
	const url = URL.parse(text);
	if (file === undefined || file === "" || url === null) {
		return [text, environment];
	}
	url.username = "";
	url.password = "";
	url.searchParams.delete("password-file");
	return [url.href, { ...environment, [ACCOUNT_FILE]: file }];
}

/** Whether the server understood a statement and refused it, by a rule of its table or for another reason that lies in the statement. */
export function isRefused(thrown: unknown): thrown is StorageFailure {
	return (
		thrown instanceof StorageFailure &&
		(thrown.kind === "constraint" || thrown.kind === "failed")
	);
}

function options(ms = STATEMENT_MS) {
	return { shard: 0, deadline: deadlineIn(ms), isPatient: true };
}
