import { type Id, parseStoredId } from "../../id/ids.ts";
import type {
	Clause,
	Spelling,
	StatementValue,
} from "../../storage/statements/dialect.ts";
import {
	POOL_STATES,
	type PoolEntry,
	type PoolRow,
	type PoolState,
	type PulledProducer,
	type PushedItem,
	type Visit,
} from "./pools.ts";

/** An entry as it is stored: a number stands for its source. */
export interface StoredEntry extends Omit<PoolEntry, "source"> {
	readonly source: number;
}

export interface StoredPush extends Omit<PushedItem, "source"> {
	readonly source: number;
}

export interface StoredRow extends Omit<PoolRow, "source"> {
	readonly source: number;
}

/** A statement on the tables of one pool shard. */
export interface PoolSql {
	/** As `Statement.name`. */
	readonly name: string;
	readonly text: string;
	readonly values: readonly Exclude<StatementValue, readonly unknown[]>[];
}

/** A row, in the order of its columns. Ids are texts. */
export type PoolValues = readonly unknown[];

/** What one database writes otherwise than the others. */
export interface PoolDialect extends Pick<Spelling, "id" | "isOneOf"> {
	/** Inserts the rows that are not there, whose count is what it changes. */
	readonly insertAbsent: string;
	/** Makes the optimizer read a table by an index; empty if it does so by itself. */
	index(name: "PRIMARY" | "origin"): string;
	/** Rows of COLUMNS to insert. */
	rows(
		user: Id,
		state: number,
		entries: readonly StoredEntry[],
		now: number,
	): Clause;
	/** A SELECT with an order and a limit, as part of a UNION. */
	part(select: string): string;
	/** What follows the rows to insert if one with the key is there. */
	otherwise(key: string): string;
	/** The value that was to be inserted. */
	given(column: string): string;
	readonly greatest: "GREATEST" | "MAX";
	/** Deletes the waiting items of a source but the best `keep`. */
	trimWaiting(
		pool: string,
		user: bigint,
		source: number,
		keep: number,
	): PoolSql;
}

export const COLUMNS =
	"user_id, state, source, score, item_id, origin_id, via_id, changed_at";

/** The statements of one pool shard, once for every database. What is pushed is each database's own. */
export class PoolStatements {
	readonly #dialect: PoolDialect;
	readonly #pool: string;
	readonly #visits: string;
	readonly #pulled: string;
	readonly #row: string;

	constructor(
		dialect: PoolDialect,
		/** A table, as statements name it. */
		table: (name: "pool" | "visits" | "pulled") => string,
	) {
		this.#dialect = dialect;
		this.#pool = table("pool");
		this.#visits = table("visits");
		this.#pulled = table("pulled");
		const ids = ["item_id", "origin_id", "via_id"].map(dialect.id);
		this.#row = `state, source, score, ${ids.join(", ")}, changed_at`;
	}

	/** Null without entries. */
	insert(
		user: Id,
		entries: readonly StoredEntry[],
		state: PoolState,
		now: number,
	): PoolSql | null {
		if (entries.length === 0) return null;
		const { insertAbsent, rows } = this.#dialect;
		const { text, values } = rows(user, POOL_STATES[state], entries, now);
		return sql(
			state === "waiting" ? "add" : "record",
			`${insertAbsent} ${this.#pool} (${COLUMNS}) ${text}`,
			values,
		);
	}

	/** Null without entries. */
	change(
		user: Id,
		entries: readonly StoredEntry[],
		state: "taken" | "dropped",
		now: number,
	): PoolSql | null {
		if (entries.length === 0) return null;
		const to = POOL_STATES[state];
		const origins = entries.map(({ origin }) => origin);
		const { text, values } = this.#dialect.isOneOf("origin_id", origins);
		return sql(
			state === "taken" ? "take" : "drop",
			`UPDATE ${this.#pool} SET state = ?, changed_at = ?
			WHERE user_id = ? AND ${text} AND state < ?`,
			[to, now, BigInt(user), ...values, to],
		);
	}

	/** Null without origins. */
	withdraw(user: Id, via: Id, origins: readonly Id[]): PoolSql | null {
		if (origins.length === 0) return null;
		const { text, values } = this.#dialect.isOneOf("origin_id", origins);
		return sql(
			"withdraw",
			`DELETE FROM ${this.#pool} WHERE user_id = ? AND state = 0
				AND via_id = ? AND ${text}`,
			[BigInt(user), BigInt(via), ...values],
		);
	}

	visit(user: Id): PoolSql {
		return sql(
			"visit",
			`SELECT visited_at, generated_at, asked, rebuilt_at
			FROM ${this.#visits} WHERE user_id = ?`,
			[BigInt(user)],
		);
	}

	noteVisit(
		user: Id,
		{ visitedAt = 0, generatedAt = 0, asked, rebuiltAt = 0 }: Partial<Visit>,
	): PoolSql {
		const { otherwise, given, greatest } = this.#dialect;
		const latest = (column: string) =>
			`${column} = ${greatest}(${column}, ${given(column)})`;
		return sql(
			"note visit",
			`INSERT INTO ${this.#visits} (user_id, visited_at, generated_at, asked, rebuilt_at)
			VALUES (?, ?, ?, ?, ?) ${otherwise("user_id")}
				${latest("visited_at")}, ${latest("generated_at")},
				asked = COALESCE(?, asked), ${latest("rebuilt_at")}`,
			[
				BigInt(user),
				...[visitedAt, generatedAt, asked ?? 0, rebuiltAt],
				asked ?? null,
			],
		);
	}

	/** Null without a limit above 0. */
	best(
		user: Id,
		limits: readonly (readonly [number, number])[],
		state: PoolState,
	): PoolSql | null {
		if (limits.length === 0) return null;
		const part = this.#dialect.part(
			`SELECT ${this.#row} FROM ${this.#pool}
			WHERE user_id = ? AND state = ? AND source = ?
			ORDER BY score DESC, item_id DESC LIMIT ?`,
		);
		return sql(
			"best",
			limits.map(() => part).join(" UNION ALL "),
			limits.flatMap(([source, limit]) => [
				...[BigInt(user), POOL_STATES[state]],
				...[source, limit],
			]),
		);
	}

	/** Null without origins. */
	find(user: Id, origins: readonly Id[]): PoolSql | null {
		if (origins.length === 0) return null;
		const { text, values } = this.#dialect.isOneOf("origin_id", origins);
		return sql(
			"find in pool",
			`SELECT ${this.#row} FROM ${this.#pool} ${this.#dialect.index("origin")}
			WHERE user_id = ? AND ${text}`,
			[BigInt(user), ...values],
		);
	}

	waiting(user: Id, cap: number): PoolSql {
		return sql(
			"count waiting",
			`SELECT COUNT(*) FROM (SELECT 1 FROM ${this.#pool} ${this.#dialect.index("PRIMARY")}
				WHERE user_id = ? AND state = 0 LIMIT ?) some`,
			[BigInt(user), cap],
		);
	}

	listVia(user: Id, via: Id, state: PoolState, limit: number): PoolSql {
		return sql(
			"list via",
			`SELECT ${this.#row} FROM ${this.#pool} ${this.#dialect.index("PRIMARY")}
			WHERE user_id = ? AND state = ? AND via_id = ?
			ORDER BY source, score DESC LIMIT ?`,
			[BigInt(user), POOL_STATES[state], BigInt(via), limit],
		);
	}

	trimSettled(user: Id, before: number): PoolSql {
		return sql(
			"trim settled",
			`DELETE FROM ${this.#pool} WHERE user_id = ? AND state > 0 AND changed_at <= ?`,
			[BigInt(user), before],
		);
	}

	trimWaiting(user: Id, source: number, keep: number): PoolSql {
		return this.#dialect.trimWaiting(this.#pool, BigInt(user), source, keep);
	}

	forget(user: Id): readonly PoolSql[] {
		return [this.#pool, this.#visits].map((table, at) =>
			sql(
				at === 0 ? "forget pool" : "forget visits",
				`DELETE FROM ${table} WHERE user_id = ?`,
				[BigInt(user)],
			),
		);
	}

	pulled(limit: number): PoolSql {
		return sql(
			"pulled",
			`SELECT ${this.#dialect.id("producer_id")}, since, pushed_since
			FROM ${this.#pulled} ORDER BY producer_id LIMIT ?`,
			[limit],
		);
	}

	/** `since` null deletes it. */
	putPulled(producer: Id, since: number | null, pushedSince: number): PoolSql {
		const id = BigInt(producer);
		if (since === null) {
			return sql(
				"delete pulled",
				`DELETE FROM ${this.#pulled} WHERE producer_id = ?`,
				[id],
			);
		}
		const { otherwise, given } = this.#dialect;
		return sql(
			"put pulled",
			`INSERT INTO ${this.#pulled} (producer_id, since, pushed_since)
			VALUES (?, ?, ?) ${otherwise("producer_id")}
				since = ${given("since")}, pushed_since = ${given("pushed_since")}`,
			[id, since, pushedSince],
		);
	}

	activeUsers(after: Id | null, activeSince: number, limit: number): PoolSql {
		return sql(
			"active users",
			`SELECT ${this.#dialect.id("user_id")} FROM ${this.#visits} ${this.#dialect.index("PRIMARY")}
			WHERE user_id > ? AND visited_at > ? ORDER BY user_id LIMIT ?`,
			[BigInt(after ?? 0), activeSince, limit],
		);
	}
}

const STATE_NAMES = Object.keys(POOL_STATES) as readonly PoolState[];

/** A row of `best`, `find` or `listVia`. Throws a TypeError for one that is damaged. */
export function storedRowOf(row: PoolValues): StoredRow {
	const [state, source, score, item, origin, via, changedAt] = row;
	const name = STATE_NAMES.find((each) => POOL_STATES[each] === Number(state));
	if (name === undefined) {
		throw new TypeError(`The stored state ${state} of an item is invalid.`);
	}
	return {
		state: name,
		source: Number(source),
		score: Number(score),
		item: parseStoredId(String(item)),
		origin: parseStoredId(String(origin)),
		via: parseStoredId(String(via)),
		changedAt: Number(changedAt),
	};
}

export function visitOf(row: PoolValues): Visit {
	const [visitedAt, generatedAt, asked, rebuiltAt] = row.map(Number);
	return { visitedAt, generatedAt, asked, rebuiltAt } as Visit;
}

export function pulledOf([
	producer,
	since,
	pushedSince,
]: PoolValues): PulledProducer {
	return {
		producer: parseStoredId(String(producer)),
		since: Number(since),
		pushedSince: Number(pushedSince),
	};
}

function sql(name: string, text: string, values: Clause["values"]): PoolSql {
	return { name, text, values: values as PoolSql["values"] };
}
