import type { ShardLocation } from "../../storage/driver.ts";
import { MYSQL } from "../../storage/mysql/dialect.ts";
import { checkLocalId, type LocalId } from "../jobId.ts";
import {
	part,
	type QueueDialect,
	type QueueTables,
} from "../statements/dialect.ts";
import { jobsTable, keysTable, queuesTable } from "./ddl.ts";

/** Ids are literals too, because the client's escaping costs more than the rest of a long list. */
const MYSQL_QUEUES: QueueDialect = {
	...MYSQL,
	skipLocked: "FOR UPDATE SKIP LOCKED",
	id: (local) => part(literal(local)),
	// In order of the primary key: two statements that lock some of the same rows do so in one order.
	hasId: (locals) =>
		part(`local_id IN (${locals.map(literal).toSorted().join(", ")})`),
	isInBucket: (first, last = first) =>
		part(
			first === last
				? `bucket = ${first}`
				: `bucket BETWEEN ${first} AND ${last}`,
		),
	// VALUES() and not a row alias, which MariaDB does not have.
	orNewer: `ON DUPLICATE KEY UPDATE
		settings = IF(VALUES(version) > version, VALUES(settings), settings),
		version = GREATEST(VALUES(version), version)`,
};

function literal(local: LocalId): string {
	return `x'${checkLocalId(local)}'`;
}

/** The row of a queue. */
export function queueRow(
	database: string,
	queue: string,
): Pick<QueueTables, "dialect" | "queue" | "queues"> {
	return { dialect: MYSQL_QUEUES, queue, queues: part(queuesTable(database)) };
}

export function tablesOf(
	shard: ShardLocation & { readonly database: string },
	queue: string,
): QueueTables {
	const { database } = shard;
	const jobs = jobsTable(database, queue);
	return {
		...queueRow(database, queue),
		shard,
		jobs: part(jobs),
		jobsById: part(`${jobs} FORCE INDEX (PRIMARY)`),
		jobsInOrder: part(`${jobs} AS job FORCE INDEX (queue)`),
		keys: part(keysTable(database, queue)),
	};
}
