import { createReloadableStorage } from "../../src/storage/versions/reloadableStorage.ts";
import { sqliteForSuite } from "../helpers/sqliteStorage.ts";
import { topologyOn } from "../helpers/storageModel.ts";
import { storageSuite } from "../suites/storage.ts";

const suite = await sqliteForSuite();

storageSuite("a version of SQLite", async (options) => {
	const opened = await suite(options);
	const storage = await createReloadableStorage(
		async () => opened.storage,
		topologyOn("sqlite:there"),
	);
	return {
		storage,
		change: opened.change,
		async [Symbol.asyncDispose]() {
			await storage[Symbol.asyncDispose]();
			await opened[Symbol.asyncDispose]();
		},
	};
});
