import { CorkboardError } from "../../errors.ts";
import type { HostRange } from "../../topology/types.ts";
import { deadlineIn } from "../../util/deadline.ts";
import { StorageFailure, toStorageError } from "../storageFailure.ts";
import { Version, Versions } from "../versions/topologyVersion.ts";
import type { Row } from "./driver/mysql2Connection.ts";
import { byNumber, type Shard as Database, numbered } from "./shards.ts";
import type { HostLease, SharedHosts } from "./sharedHosts.ts";

/** For one statement that creates or drops a table. Milliseconds. */
const DDL_MS = 60_000;
/** How long the last calls on hosts that are no longer in the map may run. Milliseconds. */
const DRAIN_MS = 30_000;

export type DatabaseKind = "queue" | "pool";

interface DatabasesOptions<Known extends Database, Range extends HostRange> {
	/** As their names begin. */
	readonly kind: DatabaseKind;
	readonly hosts: SharedHosts;
	/** What is known of a database besides. */
	readonly of: (database: Database, range: Range) => Known;
	/** The error for a number that no range covers. */
	readonly unknown: (number: number) => CorkboardError;
	/** For a read. Milliseconds. */
	readonly readMs: number;
	/** Called when `oldestVersion` may have risen (default: nobody asks). */
	readonly onRetired?: (() => void) | undefined;
}

/** The databases of one version of the map. */
class DatabaseMap<Known extends Database> extends Version<HostLease> {
	readonly all: ReadonlyMap<number, Known>;
	readonly numbers: readonly number[];
	readonly ranges: string;
	readonly #unknown: (number: number) => CorkboardError;

	constructor(
		version: number,
		ranges: readonly HostRange[],
		all: ReadonlyMap<number, Known>,
		hosts: HostLease,
		unknown: (number: number) => CorkboardError,
	) {
		super(version, hosts);
		this.ranges = JSON.stringify(ranges);
		this.numbers = [...all.keys()];
		this.all = all;
		this.#unknown = unknown;
	}

	at(number: number): Known {
		const found = this.all.get(number);
		if (found === undefined) throw this.#unknown(number);
		return found;
	}
}

/**
 * The numbered databases of a kind on the hosts that a topology names: `queue00000`,
 * `pool00000`. When a newer topology names other hosts, new calls go there; a call
 * ends on the version that it began with, and hosts are closed after their last call.
 */
export class Databases<Known extends Database, Range extends HostRange>
	implements AsyncDisposable
{
	readonly #options: DatabasesOptions<Known, Range>;
	readonly #versions: Versions<DatabaseMap<Known>>;

	constructor(
		options: DatabasesOptions<Known, Range>,
		ranges: readonly Range[],
		version: number,
	) {
		this.#options = options;
		this.#versions = new Versions(
			this.#map(ranges, version),
			DRAIN_MS,
			options.onRetired,
		);
	}

	/** All databases of the version in use, by number. */
	get all(): ReadonlyMap<number, Known> {
		return this.#versions.current.all;
	}

	/** Their numbers, ascending. */
	get numbers(): readonly number[] {
		return this.#versions.current.numbers;
	}

	/** The oldest version of the topology on which a call still runs. */
	get oldestVersion(): number {
		return this.#versions.oldest;
	}

	/** New calls go to the hosts of that version. */
	switchTo(ranges: readonly Range[], version: number): void {
		const { current } = this.#versions;
		if (JSON.stringify(ranges) === current.ranges) current.number = version;
		else this.#versions.replace(this.#map(ranges, version));
	}

	/** A call begins; it ends where its scope does: `using call = databases.begin()`. */
	begin(): DatabaseMap<Known> {
		return this.#versions.current.begin();
	}

	/** Calls `body` for each database. */
	async each<T>(body: (database: Known) => Promise<T>): Promise<readonly T[]> {
		using call = this.begin();
		return await Promise.all([...call.all.values()].map(body));
	}

	/** Creates the databases, with these tables, where they are missing. Throws BAD_CONFIG or UNAVAILABLE. */
	async createTables(
		tables: readonly ((database: string) => string)[],
	): Promise<void> {
		await this.each(async (one) => {
			const { host, database } = one;
			try {
				await this.define(one, `CREATE DATABASE IF NOT EXISTS \`${database}\``);
				for (const create of tables) await this.define(one, create(database));
			} catch (thrown) {
				if (!(thrown instanceof StorageFailure)) throw thrown;
				throw new CorkboardError(
					thrown.kind === "unsupported" ? "BAD_CONFIG" : "UNAVAILABLE",
					`${host.name} could not create the tables of the ${this.#options.kind}s: ${thrown.message}`,
					{ cause: thrown },
				);
			}
		});
	}

	/** Those of these tables that are missing, as `pool00003.visits`. */
	async missingTables(names: readonly string[]): Promise<readonly string[]> {
		const missing = await this.each(async (one) => {
			const rows = await this.tables(one, []);
			const there = new Set(rows.map(([name]) => String(name)));
			return names
				.filter((name) => !there.has(name))
				.map((name) => `${one.database}.${name}`);
		});
		return missing.flat();
	}

	/** Name, then the columns, of each table of a database. */
	async tables(
		{ host, database, number }: Known,
		columns: readonly string[],
	): Promise<readonly Row[]> {
		try {
			return await host.rows(
				{
					name: "tables",
					text: `SELECT ${["table_name", ...columns].join(", ")}
						FROM information_schema.tables WHERE table_schema = ?`,
					values: [database],
				},
				{ shard: number, deadline: deadlineIn(this.#options.readMs) },
			);
		} catch (thrown) {
			throw toShardError(thrown, this.#options.kind, number);
		}
	}

	/** Runs a statement that commits by itself. It waits for no other for longer than the session allows. */
	async define({ host, number }: Database, text: string): Promise<void> {
		const options = {
			shard: number,
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

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#versions[Symbol.asyncDispose]();
	}

	/** Ranges with the same URL share one host. */
	#map(ranges: readonly Range[], version: number): DatabaseMap<Known> {
		const { hosts, kind, of, unknown } = this.#options;
		return hosts.lease((lease) => {
			const databases = ranges.flatMap((range) =>
				numbered(kind, [range], (url) => lease.at(url)).map((one) =>
					of(one, range),
				),
			);
			const all = byNumber(databases);
			return new DatabaseMap(version, ranges, all, lease, unknown);
		});
	}
}

/** The failure of a database as callers of a port expect it; anything else stays as it is. */
export function toShardError(
	thrown: unknown,
	kind: DatabaseKind,
	number: number,
): unknown {
	if (!(thrown instanceof StorageFailure)) return thrown;
	const { code, message, details } = toStorageError(thrown, number);
	const isQueue = kind === "queue";
	const name = isQueue ? "Queue shard" : "Pool shard";
	return new CorkboardError(
		isQueue ? code : "UNAVAILABLE",
		message.replace(/^Shard/, name),
		{
			cause: thrown,
			details,
		},
	);
}
