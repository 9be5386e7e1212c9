import { compareIds, type Id } from "../../id/ids.ts";
import type { Product } from "../../storage/mysql/driver/mysql2Connection.ts";
import type { Sql } from "../../storage/mysql/driver/mysqlConnection.ts";
import type { Shard } from "../../storage/mysql/shards.ts";
import type { ShardBatch, ShardPush } from "./mergedPushes.ts";
import { checkId } from "./portChecks.ts";
import { COLUMNS } from "./statements.ts";
import type { POOL_TABLES } from "./tables.ts";

/** Writes the pushes to one shard. */
export function pushOf({ to, pushes }: ShardBatch, product: Product): Sql {
	const [only, ...others] = pushes;
	const pool = table(to, "pool");
	const visits = `${table(to, "visits")} v FORCE INDEX (PRIMARY)`;
	return {
		name: "push",
		text: `INSERT IGNORE INTO ${pool} (${COLUMNS})
			${only !== undefined && others.length === 0 ? pushOne(only, visits) : pushAll(pushes, visits, product)}
			LOCK IN SHARE MODE`,
		values: [],
	};
}

function pushOne(
	{ item: pushed, receivers, activeSince }: ShardPush,
	visits: string,
): string {
	const { source, item, origin, via, now } = pushed;
	const sorted = receivers.toSorted((a, b) => compareIds(a.user, b.user));
	const [first] = sorted;
	const isEqual = sorted.every(({ score }) => score === first?.score);
	const users = list(sorted.map(({ user }) => user));
	const score = isEqual
		? `${first?.score ?? 0}`
		: `ELT(FIELD(v.user_id, ${users}), ${sorted.map(({ score }) => score).join(", ")})`;
	return `SELECT v.user_id, 0, ${source}, ${score}, ${checkId(item)},
				${checkId(origin)}, ${checkId(via)}, ${now}
			FROM ${visits}
			WHERE v.user_id IN (${users}) AND v.visited_at > ${activeSince}`;
}

/** Several items at once, with the values as a table: it is faster than a statement for each item. The rows of visits are read in the order of their ids, whatever the order of the values. */
function pushAll(
	pushes: readonly ShardPush[],
	visits: string,
	product: Product,
): string {
	const row = product === "MySQL" ? "ROW" : "";
	const users = new Set<Id>();
	const values = pushes.flatMap(({ item: pushed, receivers, activeSince }) => {
		const { source, item, origin, via, now } = pushed;
		const rest = `${source}, ${checkId(item)}, ${checkId(origin)}, ${checkId(via)}, ${now}, ${activeSince}`;
		return receivers.map(({ user, score }) => {
			users.add(user);
			return `${row}(${checkId(user)}, ${score}, ${rest})`;
		});
	});
	return `WITH p (user_id, score, source, item_id, origin_id, via_id, changed_at, active_since)
				AS (VALUES ${values.join(", ")})
			SELECT v.user_id, 0, p.source, p.score, p.item_id, p.origin_id, p.via_id, p.changed_at
			FROM ${visits}
			STRAIGHT_JOIN p ON p.user_id = v.user_id
			WHERE v.user_id IN (${list([...users].sort(compareIds))})
				AND v.visited_at > p.active_since`;
}

export function table(
	{ database }: Pick<Shard, "database">,
	name: keyof typeof POOL_TABLES,
): string {
	return `\`${database}\`.\`${name}\``;
}

function list(ids: readonly Id[]): string {
	return ids.map(checkId).join(", ");
}
