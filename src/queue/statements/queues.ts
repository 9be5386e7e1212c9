import type { Select, Write } from "../../storage/statements/dialect.ts";
import type { QueueRow } from "../jobStore.ts";
import type { RateBucket } from "../rateLimit.ts";
import { parseSettings } from "../settings.ts";
import { clauseOf, part, type QueueTables, selectOf } from "./dialect.ts";

/* Statements on the queues themselves: a row for each on every shard. */

/** All queues of a shard, by name. */
export function allQueues({
	dialect,
	queues,
}: Pick<QueueTables, "dialect" | "queues">): Select<QueueRow> {
	return selectOf(
		"queues",
		["name", "settings", "version"],
		clauseOf(dialect)`FROM ${queues}`,
		(rows) =>
			rows
				.map(([name, settings, version]) => ({
					name: String(name),
					settings: parseSettings(String(settings)),
					version: Number(version),
				}))
				.sort((one, other) => (one.name < other.name ? -1 : 1)),
	);
}

/** Creates a queue, or replaces the settings of an older version. */
export function putQueue(
	{ dialect, queues }: QueueTables,
	{ name, settings, version }: QueueRow,
): Write {
	return {
		name: "put queue",
		...clauseOf(dialect)`INSERT INTO ${queues}
			(name, settings, version, tokens, filled_at)
			VALUES (${name}, ${JSON.stringify(settings)}, ${version}, 0, 0)
			${part(dialect.orNewer)}`,
	};
}

export function deleteQueue({ dialect, queues, queue }: QueueTables): Write {
	return {
		name: "delete queue",
		...clauseOf(dialect)`DELETE FROM ${queues} WHERE name = ${queue}`,
	};
}

/** Locks the queue, and reads what its rate has left. */
export function lockQueue({
	dialect,
	queues,
	queue,
}: Pick<QueueTables, "dialect" | "queue" | "queues">): Select<RateBucket> {
	return selectOf(
		"lock queue",
		["tokens", "filled_at"],
		clauseOf(dialect)`FROM ${queues} WHERE name = ${queue}
			${part(dialect.forUpdate)}`,
		(rows) =>
			rows.map(([tokens, filledAt]) => ({
				tokens: Number(tokens),
				filledAt: Number(filledAt),
			})),
	);
}

export function writeRate(
	{ dialect, queues, queue }: QueueTables,
	{ tokens, filledAt }: RateBucket,
): Write {
	return {
		name: "set rate of queue",
		...clauseOf(dialect)`UPDATE ${queues}
			SET tokens = ${tokens}, filled_at = ${filledAt} WHERE name = ${queue}`,
	};
}
