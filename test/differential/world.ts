import assert from "node:assert/strict";
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { DEMO_USERNAME } from "../../pins/demo/people.ts";
import { CorkboardError } from "../../src/errors.ts";
import { View } from "../../src/graph/read/view.ts";
import { LongestLists } from "../../src/graph/store/longestLists.ts";
import { Store } from "../../src/graph/store/store.ts";
import { createWrites } from "../../src/graph/write/createWrites.ts";
import type { RequestContext } from "../../src/graphql/context.ts";
import { applyScalars } from "../../src/graphql/scalars.ts";
import { createCursorCodec } from "../../src/id/cursorCodec.ts";
import { type Id, unpackId } from "../../src/id/ids.ts";
import { createFieldReaders } from "../../src/model/fieldReaders.ts";
import type { Mapping } from "../../src/model/types.ts";
import {
	importLines,
	PATIENT_RETRIES_MS,
} from "../../src/ops/import/importLines.ts";
import { createPlanner } from "../../src/plan/planner.ts";
import { modShard } from "../../src/storage/modShard.ts";
import type { EdgeKey, Scan } from "../../src/storage/rows.ts";
import { openSqliteStorage } from "../../src/storage/sqlite/sqliteStorage.ts";
import type { OpenedStorage, Storage } from "../../src/storage/storage.ts";
import { embeddedTopology } from "../../src/topology/parseTopology.ts";
import { seededRandom } from "../../src/util/random.ts";
import { theModel } from "../helpers/model.ts";
import { resolvers } from "../helpers/resolvers.ts";
import { readsWith, storageWith } from "../helpers/storageWith.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import type { GraphSamples } from "./graphSamples.ts";
import { type History, history } from "./history.ts";
import { Learned } from "./learned.ts";
import { Memory } from "./memory.ts";
import type { Execute, Operation } from "./operation.ts";
import { createReference } from "./reference.ts";

const SHARDS = 16;
const { model, schema: publicSchema, domain } = theModel();
const schema = applyScalars(publicSchema);

/** A graph and the executors on it. */
export interface Side {
	readonly store: Store;
	readonly plan: Execute;
	readonly reference: Execute;
}

/** Empty shards, and the store whose plan is tested. */
export interface EmptyShards {
	readonly storage: Storage;
	readonly store: Store;
}

/** The graph of `history` in a temporary folder, with copies that may be changed. */
export class World implements AsyncDisposable {
	readonly memory: Memory;
	readonly learned = new Learned();
	readonly queries: Side;
	/** Null on given shards. */
	readonly #folder: string | null;
	readonly #resources: AsyncDisposableStack;

	private constructor(
		memory: Memory,
		queries: Side,
		folder: string | null,
		resources: AsyncDisposableStack,
	) {
		this.memory = memory;
		this.queries = queries;
		this.#folder = folder;
		this.#resources = resources;
	}

	static async open(): Promise<World> {
		await using resources = new AsyncDisposableStack();
		const { path } = resources.use(temporaryFolder());
		const original = join(path, "original");
		mkdirSync(original);
		let memory: Memory;
		{
			await using storage = await open(original);
			await storage.admin.createTables();
			memory = await populate(storage, storeOf(storage, 10_000_000));
		}
		const storage = resources.use(await open(original));
		const queries = sideOf(storage, { unchanged: true });
		return new World(memory, queries, path, resources.move());
	}

	static async openOn({ storage, store }: EmptyShards): Promise<World> {
		const memory = await populate(storage, store);
		const side = sideOf(storage, { store });
		return new World(memory, side, null, new AsyncDisposableStack());
	}

	get schema() {
		return schema;
	}

	/** A copy that may be changed. Two copies with the same operations stay equal. */
	async copy(name: string): Promise<Side> {
		if (this.#folder === null) {
			throw new TypeError("only a world in a folder can be copied");
		}
		const folder = join(this.#folder, name);
		cpSync(join(this.#folder, "original"), folder, { recursive: true });
		return sideOf(this.#resources.use(await open(folder)));
	}

	/** The graph while the hosts of some shards do not answer. */
	withDown(shards: readonly number[]): Side {
		return sideOf(withDown(this.queries.store.storage, new Set(shards)));
	}

	/** The graph through an altered store. */
	withStore(change: (store: Store) => Store): Side {
		return sideOf(this.queries.store.storage, { change, cacheBytes: 0 });
	}

	samples(): GraphSamples {
		const rows = [...this.memory.byId.values()];
		const ofType = (type: string) => rows.filter((row) => row.type === type);
		const demo = this.memory.byName.get(DEMO_USERNAME) as { id: Id };
		const owners = ofType("Board")
			.filter(({ fields }) => fields.secret === true)
			.map((board) => this.memory.reference(board, "owner")?.id as Id);
		const viewers = [...new Set([demo.id, ...owners])].slice(0, 6);
		// Deleted and hidden objects, and the viewers, are chosen more often.
		const interest = (row: (typeof rows)[number]) =>
			row.removed || viewers.includes(row.id)
				? 0
				: this.memory.sees(null, row)
					? 2
					: 1;
		const ids = new Map(
			["User", "Board", "Section", "Pin", "Comment", "Interest"].map((type) => [
				type,
				ofType(type)
					.toSorted((a, b) => interest(a) - interest(b))
					.map(({ id }) => id),
			]),
		);
		return {
			schema,
			viewers: [null, ...viewers, ...viewers],
			ids,
			owned: new Map(viewers.map((id) => [id, this.#ownedBy(id)])),
			usernames: ofType("User").map(({ fields }) => String(fields.username)),
			slugs: ofType("Interest").map(({ fields }) => String(fields.slug)),
			cursors: this.learned,
		};
	}

	#ownedBy(viewer: Id): ReadonlyMap<string, readonly Id[]> {
		const owned = (type: string, by: string) =>
			[...this.memory.byId.values()]
				.filter((row) => row.type === type)
				.filter((row) => this.memory.reference(row, by)?.id === viewer)
				.map(({ id }) => id);
		return new Map([
			["Board", owned("Board", "owner")],
			["Section", this.#sectionsOf(viewer)],
			["Pin", owned("Pin", "owner")],
			["Comment", owned("Comment", "author")],
		]);
	}

	#sectionsOf(viewer: Id): readonly Id[] {
		return [...this.memory.byId.values()]
			.filter((row) => row.type === "Section")
			.filter((row) => {
				const board = this.memory.reference(row, "board");
				return board && this.memory.reference(board, "owner")?.id === viewer;
			})
			.map(({ id }) => id);
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.#resources.disposeAsync();
	}
}

/** Imports and changes the graph, and returns the same graph in memory, with the ids from the import. */
async function populate(storage: Storage, store: Store): Promise<Memory> {
	const { lines, changes } = history();
	const { bad } = await importLines(store, texts(lines), {
		fields: createFieldReaders(schema, domain.fields),
		// A busy machine may keep a COMMIT for longer than a write is given.
		retryAfterMs: PATIENT_RETRIES_MS,
		onBadLine: (line, reason) => console.error(`line ${line}: ${reason}`),
	});
	assert.equal(bad, 0, "every line is valid");
	const keys = lines.flatMap((line) => ("key" in line ? [line.key] : []));
	const rows = await storage.read(
		"lookups",
		keys.map((key) => ({ name: "import", key })),
	);
	const ids = new Map<string, Id>();
	for (const [at, key] of keys.entries()) {
		const row = rows[at];
		assert.ok(row && !(row instanceof CorkboardError), `${key} has an id`);
		ids.set(key, row.id);
	}
	const writes = createWrites(store);
	const idOf = (key: string) => ids.get(key) as Id;
	for (const change of changes) {
		if ("remove" in change) await writes.remove(idOf(change.remove));
		else if ("unset" in change) {
			const { unset, from, to } = change;
			await writes.setEdge(mapping(unset), idOf(from), idOf(to), false);
		} else {
			const { place, on, before } = change;
			await writes.move({
				mapping: mapping("placePin"),
				object: idOf(place),
				from: idOf(on),
				...(before !== undefined && { before: idOf(before) }),
			});
		}
	}
	const memory = new Memory(lines, ids);
	for (const change of changes) memory.apply(change);
	return memory;
}

async function* texts(lines: History["lines"]): AsyncGenerator<string> {
	for (const line of lines) yield JSON.stringify(line);
}

function mapping(name: string): Mapping {
	const found = model.mappings.get(name);
	assert.ok(found, `no mapping ${name}`);
	return found;
}

/** A seed chooses the shards of new users, so that copies stay equal. */
async function open(folder: string): Promise<OpenedStorage> {
	const topology = embeddedTopology(folder, SHARDS);
	const storage = await openSqliteStorage({ model, topology });
	const random = seededRandom(1);
	Object.defineProperty(storage.map, "openShards", {
		get: () => [random.integer(0, SHARDS - 1)],
	});
	return storage;
}

function storeOf(storage: Storage, cacheBytes: number): Store {
	const cursors = createCursorCodec(Buffer.alloc(32, 1));
	return new Store({ model, domain, storage, cursors, cacheBytes });
}

/** Its longest lists are those of now and not minutes old, so that two stores on the same shards have the same. */
function withPresentCounts(store: Store): Store {
	return store.with({
		longestLists: (mapping) => new LongestLists(store.storage).read(mapping),
	});
}

/** The plan reads through the cache in process; the reference reads without it. */
export function sideOf(
	storage: Storage,
	{
		cacheBytes = 2_000_000,
		change = (store: Store) => store,
		store: kept = change(storeOf(storage, cacheBytes)),
		unchanged = false,
	}: {
		readonly cacheBytes?: number;
		/** Nothing writes to this storage: the reference need not read anything twice. */
		readonly unchanged?: boolean;
		readonly change?: (store: Store) => Store;
		readonly store?: Store;
	} = {},
): Side {
	const store = withPresentCounts(kept);
	const read = unchanged ? withReadsOnce(storage) : storage;
	const cold = withPresentCounts(change(storeOf(read, 0)));
	const planner = createPlanner<RequestContext>({
		schema,
		model,
		resolvers,
		maxCost: 1_000_000,
		maxPlans: 200,
		visibility: domain.visibility,
	});
	return {
		store,
		plan: (operation) =>
			planner.execute({ ...operation, context: contextOf(store, operation) }),
		reference: createReference({
			publicSchema: schema,
			model,
			resolvers,
			contextOf: (operation) => contextOf(cold, operation),
		}),
	};
}

function contextOf(store: Store, { viewer }: Operation): RequestContext {
	const graph = new View(store, viewer);
	return {
		graph,
		fields: domain.fields,
		writes: (call) =>
			createWrites(store, (written) => graph.discardReads(written), call),
		viewer,
		feed: null,
		signToken: async (id) => `token of ${id}`,
		now: () => new Date(Date.now()),
	};
}

/** Storage that keeps what it read: half of the reference's time is reads that it did before. */
function withReadsOnce(storage: Storage): Storage {
	const read = readsWith(storage, {
		objects: once((ids: readonly Id[]) => storage.read("objects", ids), String),
		lists: once(
			(scans: readonly Scan[]) => storage.read("lists", scans),
			({ mapping, ...scan }) => JSON.stringify([mapping.name, scan]),
		),
		edges: once(
			(keys: readonly EdgeKey[]) => storage.read("edges", keys),
			({ mapping, from, to }) => `${mapping.name} ${from} ${to}`,
		),
	});
	return storageWith(storage, { read });
}

/** Reads each key at most once. */
function once<Key, A>(
	read: (keys: readonly Key[]) => Promise<readonly A[]>,
	textOf: (key: Key) => string,
): (keys: readonly Key[]) => Promise<readonly A[]> {
	const kept = new Map<string, A>();
	return async (keys) => {
		const texts = keys.map(textOf);
		const missing = new Map(
			keys.flatMap((key, at) => {
				const text = texts[at] as string;
				return kept.has(text) ? [] : [[text, key] as const];
			}),
		);
		if (missing.size > 0) {
			const found = await read([...missing.values()]);
			for (const [at, text] of [...missing.keys()].entries()) {
				kept.set(text, found[at] as A);
			}
		}
		return texts.map((text) => kept.get(text) as A);
	};
}

/** Storage whose reads of these shards and mod shards fail with UNAVAILABLE. */
function withDown(storage: Storage, shards: ReadonlySet<number>): Storage {
	const orDown = <Key, A>(
		read: (keys: readonly Key[]) => Promise<readonly A[]>,
		shardOf: (key: Key) => number,
	) => {
		return async (keys: readonly Key[]) => {
			const answers = await read(keys);
			return keys.map((key, at) =>
				shards.has(shardOf(key))
					? new CorkboardError("UNAVAILABLE", "The host does not answer.")
					: (answers[at] as A),
			);
		};
	};
	const read = readsWith(storage, {
		objects: orDown(
			(ids) => storage.read("objects", ids),
			(id) => unpackId(id).shard,
		),
		lists: orDown(
			(scans) => storage.read("lists", scans),
			({ from }) => unpackId(from).shard,
		),
		edges: orDown(
			(keys) => storage.read("edges", keys),
			({ from }) => unpackId(from).shard,
		),
		lookups: orDown(
			(keys) => storage.read("lookups", keys),
			({ key }) => modShard(key, storage.map.modShards),
		),
	});
	return storageWith(storage, { read });
}
