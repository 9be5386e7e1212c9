import { SQLITE } from "../../storage/sqlite/dialect.ts";
import type { ShardFile } from "../../storage/sqlite/driver/shardFile.ts";
import {
	part,
	type QueueDialect,
	type QueueTables,
} from "../statements/dialect.ts";

/** `INDEXED BY` refuses every other plan: without it an ack read all jobs that run. */
const SQLITE_QUEUES: QueueDialect = {
	...SQLITE,
	skipLocked: "",
	id: (local) => ({ text: "?", values: [local] }),
	// A list takes a table of its own, which costs more than the rest for one job.
	hasId: (locals) =>
		locals.length === 1
			? { text: "local_id = ?", values: locals }
			: SQLITE.isIn("local_id", locals),
	isInBucket: () => part("TRUE"),
	orNewer: `ON CONFLICT (name) DO UPDATE
		SET settings = excluded.settings, version = excluded.version
		WHERE excluded.version > queues.version`,
};

export function tablesOf(
	shard: number,
	file: ShardFile,
	queue: string,
): QueueTables {
	const jobs = `"jobs_${queue}"`;
	return {
		dialect: SQLITE_QUEUES,
		shard: { number: shard, host: file },
		queue,
		jobs: part(jobs),
		jobsById: part(`${jobs} INDEXED BY "sqlite_autoindex_jobs_${queue}_1"`),
		jobsInOrder: part(`${jobs} AS job INDEXED BY "queue_${queue}"`),
		keys: part(`"keys_${queue}"`),
		queues: part("queues"),
	};
}
