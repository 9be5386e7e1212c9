import { openSqliteJobStore } from "../../src/queue/sqlite/sqliteJobStore.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { jobStoreSuite } from "../suites/jobStore.ts";

jobStoreSuite("SQLite", async () => {
	const folder = temporaryFolder();
	const primary = `sqlite:${folder.path}`;
	const store = openSqliteJobStore({
		queues: [
			{ range: [0, 0], primary },
			{ range: [1, 1], primary, drain: true },
		],
	});
	return {
		store,
		async empty({ queue, shard }) {
			await store.drop({ queue, shard });
			await store.put(shard, { name: queue, settings: {}, version: 1 });
		},
		another: async () => store,
		async [Symbol.asyncDispose]() {
			await store[Symbol.asyncDispose]();
			folder[Symbol.dispose]();
		},
	};
});
