import { existsSync, statSync } from "node:fs";
import { SQLITE } from "../../storage/sqlite/dialect.ts";
import type { ShardFile } from "../../storage/sqlite/driver/shardFile.ts";
import type {
	Parameter,
	Sql,
} from "../../storage/sqlite/driver/sqliteConnection.ts";
import { mapShardFiles, onFile } from "../../storage/sqlite/shards.ts";
import type { HostRange } from "../../topology/types.ts";
import type { Sources } from "../sources.ts";
import { unknownPoolShard } from "./portChecks.ts";
import {
	COLUMNS,
	type PoolDialect,
	type PoolSql,
	PoolStatements,
	type PoolValues,
} from "./statements.ts";
import {
	type OpenedPools,
	type PoolDriver,
	StoredPools,
} from "./storedPools.ts";
import { CREATE_SQLITE_TABLES } from "./tables.ts";

interface SqlitePoolOptions {
	readonly pools: readonly HostRange[];
	readonly readOnly?: boolean;
	/** Those of the app; without them only tables and visits can be asked for. */
	readonly sources?: Sources | undefined;
}

/**
 * Pools in SQLite: each pool shard is a file `pool00000.sqlite`. The process that
 * owns the folder is the only one that writes.
 */
export function openSqlitePools(options: SqlitePoolOptions): OpenedPools {
	return new StoredPools(new SqlitePools(options), options.sources);
}

/** With json_each, a list of any length is one prepared statement. Its ids are texts, because JSON's numbers have 53 bits. */
const DIALECT: PoolDialect = {
	insertAbsent: "INSERT OR IGNORE INTO",
	index: () => "",
	id: SQLITE.id,
	isOneOf: SQLITE.isOneOf,
	rows: (user, state, entries, now) => ({
		text: `SELECT ?, ?, value->>0, value->>1, CAST(value->>2 AS INTEGER),
				CAST(value->>3 AS INTEGER), CAST(value->>4 AS INTEGER), ?
			FROM json_each(?)`,
		values: [
			...[BigInt(user), state, now],
			JSON.stringify(
				entries.map(({ source, score, item, origin, via }) => [
					...[source, score],
					...[item, origin, via],
				]),
			),
		],
	}),
	part: (select) => `SELECT * FROM (${select})`,
	otherwise: (key) => `ON CONFLICT (${key}) DO UPDATE SET`,
	given: (column) => `excluded.${column}`,
	greatest: "MAX",
	/** The score of the first row that leaves; rows of the same score leave in the order of their items. */
	trimWaiting: (pool, user, source, keep) => ({
		name: "trim waiting",
		text: `DELETE FROM ${pool} WHERE user_id = ? AND state = 0 AND source = ?
			AND (score, item_id) <= (
				SELECT score, item_id FROM ${pool}
				WHERE user_id = ? AND state = 0 AND source = ?
				ORDER BY score DESC, item_id DESC LIMIT 1 OFFSET ?)`,
		values: [user, source, user, source, keep],
	}),
};

const STATEMENTS = new PoolStatements(DIALECT, (name) => name);

/** A picture that is known already is left alone. */
const PUSH: Sql = {
	name: "push",
	text: `INSERT OR IGNORE INTO pool (${COLUMNS})
		SELECT visits.user_id, 0, ?, receiver.value->>1, ?, ?, ?, ?
		FROM json_each(?) AS receiver
		JOIN visits ON visits.user_id = CAST(receiver.value->>0 AS INTEGER)
		WHERE visited_at > ?`,
};

class SqlitePools implements PoolDriver {
	readonly shards: readonly number[];
	/** The folder's owner cannot hand it over while it runs, so its shards stay. */
	readonly oldestVersion = Number.POSITIVE_INFINITY;
	readonly #files: ReadonlyMap<number, ShardFile>;

	constructor({ pools, readOnly = false }: SqlitePoolOptions) {
		this.#files = mapShardFiles(pools, "pool", readOnly);
		this.shards = [...this.#files.keys()];
	}

	switchTo(): void {}

	readonly rows: PoolDriver["rows"] = async (shard, sqlOf) => {
		const sql = sqlOf(STATEMENTS);
		if (sql === null) return [];
		return onFile(this.#file(shard), (file) => rowsOf(file, sql));
	};

	readonly run: PoolDriver["run"] = async (shard, sqlOf) => {
		const sql = sqlOf(STATEMENTS);
		onFile(this.#file(shard), ({ writer }) => writer.run(sql, sql.values));
	};

	readonly change: PoolDriver["change"] = async (shard, _, sqlOf) => {
		const changes = sqlOf(STATEMENTS);
		if (changes.length === 0) return [];
		return onFile(this.#file(shard), ({ writer }) =>
			writer.transaction(() =>
				changes.map((sql) => writer.run(sql, sql.values).changes),
			),
		);
	};

	readonly push: PoolDriver["push"] = async (
		shard,
		{ source, item, origin, via, now },
		receivers,
		activeSince,
	) => {
		const values: readonly Parameter[] = [
			source,
			...[item, origin, via].map(BigInt),
			now,
			JSON.stringify(receivers.map(({ user, score }) => [user, score])),
			activeSince,
		];
		return onFile(
			this.#file(shard),
			({ writer }) => writer.run(PUSH, values).changes,
		);
	};

	readonly stats: PoolDriver["stats"] = async () => {
		return [...this.#files].map(([shard, file]) => {
			const { path, host } = file.location;
			const count = (table: string) => {
				const text = `SELECT COUNT(*) FROM ${table}`;
				const sql = { name: `count ${table}`, text, values: [] };
				const [[rows] = []] = onFile(file, () => rowsOf(file, sql));
				return Number(rows);
			};
			return {
				shard,
				host,
				rows: count("pool"),
				users: count("visits"),
				// What was written lately is in the log beside the file.
				bytes: sizeOf(path) + sizeOf(`${path}-wal`),
			};
		});
	};

	readonly createTables: PoolDriver["createTables"] = async () => {
		for (const file of this.#files.values()) {
			onFile(file, () =>
				file.create((connection) => {
					for (const statement of CREATE_SQLITE_TABLES) {
						connection.run(statement);
					}
				}),
			);
		}
	};

	readonly missingTables: PoolDriver["missingTables"] = async () => {
		return [...this.#files.values()].flatMap(({ location }) =>
			existsSync(location.path)
				? []
				: [`${location.host.slice(0, -".sqlite".length)}.pool`],
		);
	};

	async [Symbol.asyncDispose](): Promise<void> {
		for (const file of this.#files.values()) file[Symbol.dispose]();
	}

	#file(shard: number): ShardFile {
		const file = this.#files.get(shard);
		if (file === undefined) throw unknownPoolShard(shard);
		return file;
	}
}

function rowsOf({ reader }: ShardFile, sql: PoolSql): readonly PoolValues[] {
	return reader
		.rows<Readonly<Record<string, unknown>>>(sql, sql.values)
		.map((row) => Object.values(row));
}

/** The size of a file, 0 if there is none. Bytes. */
function sizeOf(path: string): number {
	return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
