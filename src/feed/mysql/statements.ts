import { compareIds, type Id, parseStoredId } from "../../id/ids.ts";
import type {
	Product,
	Row,
} from "../../storage/mysql/driver/mysql2Connection.ts";
import type { Sql } from "../../storage/mysql/driver/mysqlConnection.ts";
import {
	POOL_STATES,
	type PoolEntry,
	type PoolRow,
	type PoolState,
	type Visit,
} from "../pools.ts";
import { checkId } from "../portChecks.ts";
import { SOURCES, type Source } from "../sources.ts";
import { rowOf } from "../storedRows.ts";
import type { ShardPush } from "./mergedPushes.ts";

/*
 * Ids and numbers are literals, which the port has checked: MySQL compares a
 * string with an integer column as two doubles, and then uses no index.
 *
 * Deadlocks are rare, and such a write is done again. Sessions are READ COMMITTED,
 * and whatever writes to a pool locks the user's row of `visits` first, several of
 * them in the order of their ids, shard after shard: pushes for sharing, everything
 * else alone. Pushes of different pins do not wait for each other: workers push to
 * the same users all the time, and with exclusive locks they took turns. What takes
 * or removes entries of a pool waits for pushes, and they for it.
 * Without these locks two inserters of one picture, whose entry somebody has just deleted,
 * would both be given the gap that it leaves, and neither could insert. That is left
 * for two pushes of one picture right after it was removed, and for this: to look for
 * duplicates the server locks the entry after a deleted one as well, which may be the
 * next user's. Who has no row of visits gets pins by calls for one user alone.
 */

const COLUMNS =
	"user_id, state, source, score, pin_id, origin_id, via_id, changed_at";
const ROW = "state, source, score, pin_id, origin_id, via_id, changed_at";

/** The statements of one pool shard. */
export class PoolStatements {
	readonly #pool: string;
	readonly #visits: string;
	readonly #pulled: string;

	constructor(database: string) {
		this.#pool = `\`${database}\`.\`pool\``;
		this.#visits = `\`${database}\`.\`visits\``;
		this.#pulled = `\`${database}\`.\`pulled\``;
	}

	push({ pin: pushed, receivers, activeSince }: ShardPush): Sql {
		const { source, pin, origin, via, now } = pushed;
		const sorted = receivers.toSorted((a, b) => compareIds(a.user, b.user));
		const [first] = sorted;
		const isEqual = sorted.every(({ score }) => score === first?.score);
		const users = list(sorted.map(({ user }) => user));
		const score = isEqual
			? `${first?.score ?? 0}`
			: `ELT(FIELD(v.user_id, ${users}), ${sorted.map(({ score }) => score).join(", ")})`;
		return sql(
			"push",
			`INSERT IGNORE INTO ${this.#pool} (${COLUMNS})
			SELECT v.user_id, 0, ${SOURCES[source]}, ${score}, ${checkId(pin)},
				${checkId(origin)}, ${checkId(via)}, ${now}
			FROM ${this.#visits} v FORCE INDEX (PRIMARY)
			WHERE v.user_id IN (${users}) AND v.visited_at > ${activeSince}
			LOCK IN SHARE MODE`,
		);
	}

	/** Several pins at once, with the values as a table: it is faster than a statement for each pin. The rows of visits are read in the order of their ids, whatever the order of the values. */
	pushAll(pushes: readonly ShardPush[], product: Product): Sql {
		const row = product === "MySQL" ? "ROW" : "";
		const users = new Set<Id>();
		const values = pushes.flatMap(({ pin: pushed, receivers, activeSince }) => {
			const { source, pin, origin, via, now } = pushed;
			const rest = `${SOURCES[source]}, ${checkId(pin)}, ${checkId(origin)}, ${checkId(via)}, ${now}, ${activeSince}`;
			return receivers.map(({ user, score }) => {
				users.add(user);
				return `${row}(${checkId(user)}, ${score}, ${rest})`;
			});
		});
		return sql(
			"push",
			`INSERT IGNORE INTO ${this.#pool} (${COLUMNS})
			WITH p (user_id, score, source, pin_id, origin_id, via_id, changed_at, active_since)
				AS (VALUES ${values.join(", ")})
			SELECT v.user_id, 0, p.source, p.score, p.pin_id, p.origin_id, p.via_id, p.changed_at
			FROM ${this.#visits} v FORCE INDEX (PRIMARY)
			STRAIGHT_JOIN p ON p.user_id = v.user_id
			WHERE v.user_id IN (${list([...users].sort(compareIds))})
				AND v.visited_at > p.active_since
			LOCK IN SHARE MODE`,
		);
	}

	/** Before anything else is changed in a pool. */
	lock(user: Id): Sql {
		return sql(
			"lock pool",
			`SELECT user_id FROM ${this.#visits} WHERE user_id = ${checkId(user)} FOR UPDATE`,
		);
	}

	/** Null without entries. */
	insert(
		user: Id,
		entries: readonly PoolEntry[],
		state: PoolState,
		now: number,
	): Sql | null {
		if (entries.length === 0) return null;
		const rows = entries.map(
			({ source, score, pin, origin, via }) =>
				`(${user}, ${POOL_STATES[state]}, ${SOURCES[source]}, ${score}, ${pin}, ${origin}, ${via}, ${now})`,
		);
		return sql(
			state === "waiting" ? "add" : "record",
			`INSERT IGNORE INTO ${this.#pool} (${COLUMNS}) VALUES ${rows.join(", ")}`,
		);
	}

	/** Null without entries. */
	change(
		user: Id,
		entries: readonly PoolEntry[],
		state: "taken" | "dropped",
		now: number,
	): Sql | null {
		if (entries.length === 0) return null;
		const origins = list(entries.map(({ origin }) => origin));
		return sql(
			state === "taken" ? "take" : "drop",
			`UPDATE ${this.#pool} SET state = ${POOL_STATES[state]}, changed_at = ${now}
			WHERE user_id = ${user} AND origin_id IN (${origins})
				AND state < ${POOL_STATES[state]}`,
		);
	}

	withdraw(user: Id, via: Id, origins: readonly Id[]): Sql | null {
		if (origins.length === 0) return null;
		return sql(
			"withdraw",
			`DELETE FROM ${this.#pool} WHERE user_id = ${user} AND state = 0
				AND via_id = ${checkId(via)} AND origin_id IN (${list(origins)})`,
		);
	}

	visit(user: Id): Sql {
		return sql(
			"visit",
			`SELECT visited_at, generated_at, asked, rebuilt_at
			FROM ${this.#visits} WHERE user_id = ${user}`,
		);
	}

	noteVisit(user: Id, visit: Partial<Visit>): Sql {
		const { visitedAt = 0, generatedAt = 0, asked, rebuiltAt = 0 } = visit;
		return sql(
			"note visit",
			`INSERT INTO ${this.#visits} (user_id, visited_at, generated_at, asked, rebuilt_at)
			VALUES (${user}, ${visitedAt}, ${generatedAt}, ${asked ?? 0}, ${rebuiltAt})
			ON DUPLICATE KEY UPDATE
				visited_at = GREATEST(visited_at, VALUES(visited_at)),
				generated_at = GREATEST(generated_at, VALUES(generated_at)),
				asked = ${asked ?? "asked"},
				rebuilt_at = GREATEST(rebuilt_at, VALUES(rebuilt_at))`,
		);
	}

	/** Null without a limit above 0. */
	best(
		user: Id,
		limits: readonly (readonly [Source, number])[],
		state: PoolState,
	): Sql | null {
		const parts = limits.map(
			([source, limit]) => `(SELECT ${ROW} FROM ${this.#pool}
				WHERE user_id = ${user} AND state = ${POOL_STATES[state]}
					AND source = ${SOURCES[source]}
				ORDER BY score DESC, pin_id DESC LIMIT ${limit})`,
		);
		return parts.length === 0 ? null : sql("best", parts.join(" UNION ALL "));
	}

	find(user: Id, origins: readonly Id[]): Sql {
		return sql(
			"find in pool",
			`SELECT ${ROW} FROM ${this.#pool} FORCE INDEX (origin)
			WHERE user_id = ${user} AND origin_id IN (${list(origins)})`,
		);
	}

	waiting(user: Id, cap: number): Sql {
		return sql(
			"count waiting",
			`SELECT COUNT(*) FROM (SELECT 1 FROM ${this.#pool} FORCE INDEX (PRIMARY)
				WHERE user_id = ${user} AND state = 0 LIMIT ${cap}) some`,
		);
	}

	listVia(user: Id, via: Id, state: PoolState, limit: number): Sql {
		return sql(
			"list via",
			`SELECT ${ROW} FROM ${this.#pool} FORCE INDEX (PRIMARY)
			WHERE user_id = ${user} AND state = ${POOL_STATES[state]} AND via_id = ${via}
			ORDER BY source, score DESC LIMIT ${limit}`,
		);
	}

	trimSettled(user: Id, before: number): Sql {
		return sql(
			"trim settled",
			`DELETE FROM ${this.#pool} WHERE user_id = ${user} AND state > 0
				AND changed_at <= ${before}`,
		);
	}

	/** The table is read through a derived one, since MySQL deletes from none that a subquery reads. A delete across databases takes no alias. */
	trimWaiting(user: Id, source: Source, keep: number): Sql {
		const pool = this.#pool;
		return sql(
			"trim waiting",
			`DELETE ${pool} FROM ${pool} JOIN (
				SELECT pin_id, score FROM ${pool}
				WHERE user_id = ${user} AND state = 0 AND source = ${SOURCES[source]}
				ORDER BY score DESC, pin_id DESC LIMIT 100000 OFFSET ${keep}) worst
			ON ${pool}.user_id = ${user} AND ${pool}.state = 0
				AND ${pool}.source = ${SOURCES[source]}
				AND ${pool}.score = worst.score AND ${pool}.pin_id = worst.pin_id`,
		);
	}

	forget(user: Id): readonly Sql[] {
		return [
			sql("forget pool", `DELETE FROM ${this.#pool} WHERE user_id = ${user}`),
			sql(
				"forget visits",
				`DELETE FROM ${this.#visits} WHERE user_id = ${user}`,
			),
		];
	}

	pulled(limit: number): Sql {
		return sql(
			"pulled",
			`SELECT producer_id, since, pushed_since FROM ${this.#pulled}
			ORDER BY producer_id LIMIT ${limit}`,
		);
	}

	putPulled(producer: Id, since: number, pushedSince: number): Sql {
		return sql(
			"put pulled",
			`INSERT INTO ${this.#pulled} (producer_id, since, pushed_since)
			VALUES (${producer}, ${since}, ${pushedSince})
			ON DUPLICATE KEY UPDATE since = VALUES(since),
				pushed_since = VALUES(pushed_since)`,
		);
	}

	deletePulled(producer: Id): Sql {
		return sql(
			"delete pulled",
			`DELETE FROM ${this.#pulled} WHERE producer_id = ${producer}`,
		);
	}

	activeUsers(after: Id | null, activeSince: number, limit: number): Sql {
		return sql(
			"active users",
			`SELECT user_id FROM ${this.#visits} FORCE INDEX (PRIMARY)
			WHERE user_id > ${after ?? 0} AND visited_at > ${activeSince}
			ORDER BY user_id LIMIT ${limit}`,
		);
	}
}

/** A row with the columns of ROW. */
export function poolRowOf(row: Row): PoolRow {
	const [state, source, score, pin, origin, via, changedAt] = row;
	return rowOf({
		state: Number(state),
		source: Number(source),
		score: Number(score),
		pin: parseStoredId(String(pin)),
		origin: parseStoredId(String(origin)),
		via: parseStoredId(String(via)),
		changedAt: Number(changedAt),
	});
}

function list(ids: readonly Id[]): string {
	return ids.map(checkId).join(", ");
}

function sql(name: string, text: string): Sql {
	return { name, text, values: [] };
}
