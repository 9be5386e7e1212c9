import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AppModel } from "../../src/app/readApp.ts";
import { View } from "../../src/graph/read/view.ts";
import type { JobQueue } from "../../src/graph/store/jobQueue.ts";
import { Store } from "../../src/graph/store/store.ts";
import { createWrites } from "../../src/graph/write/createWrites.ts";
import { createCursorCodec } from "../../src/id/cursorCodec.ts";
import type { Id } from "../../src/id/ids.ts";
import type { Mapping } from "../../src/model/types.ts";
import {
	STORAGE_CHANNELS,
	type StorageCall,
} from "../../src/storage/diagnostics.ts";
import { openSqliteStorage } from "../../src/storage/sqlite/sqliteStorage.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { embeddedTopology } from "../../src/topology/parseTopology.ts";
import { theModel } from "./model.ts";

/** A graph in a temporary folder, which is removed at the end of the test. */
export interface Embedded extends AsyncDisposable {
	readonly folder: string;
	readonly store: Store;
	readonly storage: Storage;
	readonly mapping: (name: string) => Mapping;
	readonly view: (viewer?: Id | null) => View;
	readonly writes: ReturnType<typeof createWrites>;
	/** Another store of the same storage, with empty caches. */
	readonly cold: () => Store;
}

/** Enough for a small graph: what is allocated for a cache takes longer than many a test. */
const CACHE_BYTES = 1_000_000;
const CURSORS = createCursorCodec(Buffer.alloc(32, 1));

export async function openEmbedded(
	options: {
		readonly shards?: number;
		readonly folder?: string;
		readonly cacheBytes?: number;
		/** The program's own if absent. */
		readonly model?: Pick<AppModel, "model" | "domain">;
		/** Where writes enqueue jobs; none if absent. */
		readonly jobQueue?: JobQueue;
		/** Wraps the storage that the store uses. */
		readonly wrap?: (storage: Storage) => Storage;
	} = {},
): Promise<Embedded> {
	const folder =
		options.folder ?? mkdtempSync(join(tmpdir(), "corkboard-graph-"));
	const { model, domain } = options.model ?? theModel();
	const storage = await openSqliteStorage({
		model,
		topology: embeddedTopology(folder, options.shards ?? 4),
	});
	await storage.admin.createTables();
	const wrapped = options.wrap?.(storage) ?? storage;
	const cold = () =>
		new Store({
			model,
			domain,
			storage: wrapped,
			cursors: CURSORS,
			cacheBytes: options.cacheBytes ?? CACHE_BYTES,
			...(options.jobQueue && { jobQueue: options.jobQueue }),
		});
	const store = cold();
	return {
		folder,
		store,
		storage,
		mapping(name) {
			const mapping = model.mappings.get(name);
			if (mapping === undefined) throw new TypeError(`no mapping ${name}`);
			return mapping;
		},
		view: (viewer = null) => new View(store, viewer),
		writes: createWrites(store),
		cold,
		async [Symbol.asyncDispose]() {
			await storage[Symbol.asyncDispose]();
			if (options.folder === undefined) {
				rmSync(folder, { recursive: true, force: true });
			}
		},
	};
}

/** The storage calls that `work` makes, each as `verb keys`. */
export async function callsOf(work: () => unknown): Promise<string[]> {
	const calls: string[] = [];
	const note = ({ verb, keys }: StorageCall) => {
		calls.push(`${verb} ${keys}`);
	};
	STORAGE_CHANNELS.storage.subscribe(note);
	try {
		await work();
	} finally {
		STORAGE_CHANNELS.storage.unsubscribe(note);
	}
	return calls;
}
