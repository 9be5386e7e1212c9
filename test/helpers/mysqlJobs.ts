import type {
	JobAdmin,
	JobStore,
	ShardOfQueue,
} from "../../src/queue/jobStore.ts";
import { openMysqlJobStore } from "../../src/queue/mysql/mysqlJobStore.ts";
import type { Server } from "../services/server.ts";
import { ask } from "./mysqlStorage.ts";

/** An open job store with two shards, 0 and 1, of which the second takes no new jobs. */
export interface OpenJobs {
	readonly store: JobStore & JobAdmin;
	/** Deletes all jobs of a queue. */
	empty(at: ShardOfQueue): Promise<void>;
	/** Further stores on the same shards, as other processes have them; the store itself where only one process may write. */
	another(): Promise<JobStore & JobAdmin>;
}

/** A job store on two queue shards of a server, for the suite. */
export async function mysqlJobsForSuite(
	server: Server,
): Promise<OpenJobs & AsyncDisposable> {
	const open = () =>
		openMysqlJobStore({
			queues: [
				{ range: [0, 0], primary: server.url },
				{ range: [1, 1], primary: server.url, drain: true },
			],
			// A disk that stalls for seconds fails no test.
			limits: { readMs: 60_000, writeMs: 60_000, connectMs: 60_000 },
		});
	const store = open();
	return {
		store,
		async empty({ queue, shard }) {
			const database = `queue0000${shard}`;
			await ask(
				server,
				`DELETE FROM ${database}.jobs_${queue}`,
				`DELETE FROM ${database}.keys_${queue}`,
				`UPDATE ${database}.queues SET tokens = 0, filled_at = 0`,
			);
		},
		another: async () => open(),
		[Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
	};
}
