import { join } from "node:path";
import { openFileStore } from "../../src/topology/file/fileStore.ts";
import { memoryStore, storedTexts } from "../helpers/memoryStore.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { topologyStoreSuite } from "../suites/topologyStore.ts";

topologyStoreSuite({
	title: "a file",
	async place() {
		const folder = temporaryFolder();
		const file = join(folder.path, "topology.json");
		return {
			open: async () => openFileStore(file, { pollMs: 100 }),
			async [Symbol.asyncDispose]() {
				folder[Symbol.dispose]();
			},
		};
	},
});

topologyStoreSuite({
	title: "memory",
	async place() {
		const stored = storedTexts();
		return {
			open: async () => memoryStore(stored),
			async [Symbol.asyncDispose]() {},
		};
	},
});
