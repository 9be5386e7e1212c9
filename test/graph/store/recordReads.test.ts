import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import {
	INVALIDATED_MAX_AGE_MS,
	MAX_AGE_MS,
} from "../../../src/cache/entryAges.ts";
import {
	ALL_CHANNELS,
	CHANNEL_SLOTS,
} from "../../../src/cache/slotVersions.ts";
import {
	channelOfId,
	channelOfLookup,
} from "../../../src/freshness/channels.ts";
import { View } from "../../../src/graph/read/view.ts";
import { hidesNone } from "../../../src/graph/read/viewerLists.ts";
import type { CachedObject } from "../../../src/graph/store/cachedObject.ts";
import {
	type ReadDependencies,
	RecordedReads,
} from "../../../src/graph/store/recordReads.ts";
import { Store, type StoreOptions } from "../../../src/graph/store/store.ts";
import type { Graph, PageArguments } from "../../../src/graph/types.ts";
import { createCursorCodec } from "../../../src/id/cursorCodec.ts";
import { type Id, unpackId } from "../../../src/id/ids.ts";
import { modShard } from "../../../src/storage/modShard.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import { type Embedded, openEmbedded } from "../../helpers/embedded.ts";
import { theModel } from "../../helpers/model.ts";

const PINS = 40;
const channels = ALL_CHANNELS;

/** docs/consistency.md, "Answers that are used again". */
describe("the recorded reads of a request", () => {
	const { model, domain } = theModel();
	const username = model.lookups.get("username");
	let graph: Embedded;
	let ada: Id;
	let bo: Id;
	let other: Id;
	let board: Id;
	const pins: Id[] = [];
	let pin: Id;
	let store: Store;
	let now: number;
	let isOverdue: boolean;

	before(async () => {
		graph = await openEmbedded();
		const user = (username: string) =>
			graph.writes.create({ type: "User", data: { username } });
		[ada, bo, other] = (await Promise.all(
			["ada", "bo", "other"].map(user),
		)) as [Id, Id, Id];
		board = await graph.writes.create({
			type: "Board",
			data: { name: "b", user_id: ada },
		});
		for (let n = 0; n < PINS; n++) {
			pin = await graph.writes.create({
				type: "Pin",
				data: { board_id: board, user_id: ada },
			});
			pins.push(pin);
		}
	});
	after(() => graph[Symbol.asyncDispose]());
	beforeEach(() => {
		now = 1_000;
		isOverdue = false;
		store = open();
	});

	function open(
		maxAgeMs = MAX_AGE_MS,
		more: Partial<Pick<StoreOptions, "cacheBytes" | "storage">> = {},
	): Store {
		return new Store({
			model,
			domain,
			storage: graph.storage,
			cursors: createCursorCodec(Buffer.alloc(32, 1)),
			cacheBytes: 1_000_000,
			maxAgeMs,
			now: () => now,
			isOverdue: () => isOverdue,
			...more,
		});
	}

	/** Its reads wait until they may continue: those of these keys. */
	function heldStorage(
		isHeld: (keys: readonly unknown[]) => boolean = () => true,
	) {
		const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
		const { promise: released, resolve: go } = Promise.withResolvers<void>();
		const read = async (...[kind, keys, call]: Parameters<Storage["read"]>) => {
			const read = graph.storage.read(kind, keys, call);
			if (isHeld(keys)) {
				await read;
				begin();
				await released;
			}
			return read;
		};
		const storage: Storage = Object.create(graph.storage, {
			read: { value: read },
		});
		return { storage, begun, go };
	}

	function page(size: number, after?: string): PageArguments {
		const fields = {
			edges: true,
			hasNextPage: true,
			hasPreviousPage: true,
			cursors: true,
			totalCount: true,
		};
		return { first: size, fields, ...(after !== undefined && { after }) };
	}

	/** What the second of two equal requests depends on: the first fills the caches. */
	async function recorded(
		read: (view: Graph) => unknown,
		viewer: Id | null = null,
	): Promise<ReadDependencies | null> {
		await read(new View(store, viewer));
		const reads = RecordedReads.of(store) as RecordedReads;
		await read(new View(reads.store, viewer));
		return reads.dependencies();
	}

	const readAll = async (view: Graph) => {
		assert.ok(username);
		await view.readObjects([pin]);
		await view.readPages(graph.mapping("placePin"), [board], page(3));
		await view.hasEdges(graph.mapping("likePin"), bo, [pin]);
		await view.lookUp(username, ["ada"]);
	};

	const CHANGES: Readonly<Record<string, () => void>> = {
		"an object of it changes": () =>
			store.invalidator.invalidateLocally({ objects: [pin] }),
		"the parent of an object changes": () =>
			store.invalidator.invalidateLocally({ objects: [board] }),
		"the owner of an object changes": () =>
			store.invalidator.invalidateLocally({ objects: [ada] }),
		"a list of it changes": () =>
			store.invalidator.invalidateLocally({
				lists: [{ mapping: graph.mapping("placePin"), from: board }],
			}),
		"an edge of the viewer changes": () =>
			store.invalidator.invalidateLocally({
				lists: [{ mapping: graph.mapping("likePin"), from: bo }],
			}),
		"somebody blocks the viewer": () =>
			store.invalidator.invalidateLocally({
				lists: [{ mapping: graph.mapping("blockUser.inverse"), from: bo }],
			}),
		"another process changed an object of it": () =>
			store.caches.applyInvalidations([`o ${ada}`]),
		"another process changed a lookup of it": () =>
			store.caches.applyInvalidations(["l username ada"]),
		"everything is dropped": () => store.caches.invalidateAll(),
		"a channel of it missed something": () =>
			store.caches.invalidateChannels(new Set([channelOfId(ada)])),
		"the caches are bypassed": () => store.caches.bypass(channels, true),
		"the caches were bypassed": () => {
			store.caches.bypass(channels, true);
			store.caches.bypass(channels, false);
		},
		"a shard of it has another primary": () =>
			store.caches.invalidateShards({
				shards: new Set([unpackId(ada).shard]),
				modShards: new Set(),
			}),
		"a mod shard of it has another primary": () =>
			store.caches.invalidateShards({
				shards: new Set(),
				modShards: new Set([modShard("ada", store.storage.map.modShards)]),
			}),
		"a shard of it is bypassed": () =>
			store.caches.bypassShards(new Set([unpackId(ada).shard])),
		"the process was paused": () => {
			isOverdue = true;
		},
		"the first entry is too old": () => {
			now += MAX_AGE_MS;
		},
	};
	const isFor = ({ users }: ReadDependencies, viewer: Id | null) =>
		users !== null && hidesNone(store, viewer, users);
	const isUsable = (dependencies: ReadDependencies, viewer: Id) =>
		dependencies.reads.isValid() && isFor(dependencies, viewer);
	for (const [change, happens] of Object.entries(CHANGES)) {
		it(`are valid until ${change}`, async () => {
			const dependencies = await recorded(readAll, bo);
			assert.ok(dependencies);
			now += MAX_AGE_MS - 1;
			assert.ok(isUsable(dependencies, bo));
			happens();
			assert.ok(!isUsable(dependencies, bo));
		});
	}

	it("name the channels of all entries of a slot", async () => {
		const entry = (channel: number) => ({ slot: 7, channel, end: 1_000_000 });
		const entries = [entry(1), entry(2)] as unknown as CachedObject[];
		const plain = store.with({ readObjects: () => entries });
		const reads = RecordedReads.of(plain) as RecordedReads;
		reads.store.readObjects([pin, board]);
		const slots = reads.dependencies()?.reads.slots ?? [];
		assert.deepEqual(
			new Set(slots),
			new Set([7, CHANNEL_SLOTS + 1, CHANNEL_SLOTS + 2]),
		);
	});

	describe("and other viewers", () => {
		const readPin = (view: Graph) => view.readObjects([pin]);

		it("are for all whose lists are known to hide none of its users", async () => {
			const dependencies = await recorded(readPin, bo);
			assert.ok(dependencies);
			assert.deepEqual([...(dependencies.users ?? [])], [ada]);
			assert.ok(isFor(dependencies, null));
			assert.ok(!isFor(dependencies, other), "its lists are not known");
			await new View(store, other).readObjects([pin]);
			assert.ok(isFor(dependencies, other));
		});

		it("are valid whatever happens to the lists of the viewer who read", async () => {
			const dependencies = await recorded(readPin, bo);
			assert.ok(dependencies);
			store.invalidator.invalidateLocally({
				lists: [{ mapping: graph.mapping("blockUser.inverse"), from: bo }],
			});
			assert.ok(dependencies.reads.isValid());
			assert.ok(!isFor(dependencies, bo));
		});

		for (const [name, from, to] of [
			["blockUser", "viewer", "owner"],
			["blockUser", "owner", "viewer"],
		] as const) {
			it(`are not for a viewer where the ${from} blocks the ${to}`, async () => {
				const ids = { viewer: other, owner: ada };
				const ends = [graph.mapping(name), ids[from], ids[to]] as const;
				const dependencies = await recorded(readPin, bo);
				assert.ok(dependencies);
				await graph.writes.setEdge(...ends, true);
				try {
					await new View(store, other).readObjects([pin]);
					assert.ok(!isFor(dependencies, other));
					assert.ok(isFor(dependencies, null));
					const own = await recorded(readPin, other);
					assert.equal(own?.users, null);
				} finally {
					await graph.writes.setEdge(...ends, false);
				}
			});
		}

		it("are the viewer's alone where something is hidden from others, or from it", async () => {
			const secret = await graph.writes.create({
				type: "Board",
				data: { name: "s", user_id: ada, secret: true },
			});
			for (const viewer of [ada, bo, null]) {
				const read = (view: Graph) => view.readObjects([secret, pin]);
				assert.equal((await recorded(read, viewer))?.users, null);
			}
		});

		it("are the viewer's alone where somebody asked who that is, or read a private list", async () => {
			const reads: ((view: View) => unknown)[] = [
				(view) => view.viewer,
				(view) =>
					view.readPages(graph.mapping("blockUser"), [bo, ada], page(1)),
			];
			for (const read of reads) {
				const record = async (view: Graph) => {
					await readPin(view);
					await read(view as View);
				};
				assert.equal((await recorded(record, bo))?.users, null);
			}
		});
	});

	it("of pages behind a head are valid until the list changes", async () => {
		const mapping = graph.mapping("placePin");
		const dependencies = await recorded(async (view) => {
			const [first] = await view.readPages(mapping, [board], page(PINS - 2));
			assert.ok(first && "endCursor" in first && first.endCursor);
			await view.readPages(mapping, [board], page(1, first.endCursor));
		});
		assert.ok(dependencies);
		assert.ok(dependencies.reads.isValid());
		store.invalidator.invalidateLocally({ lists: [{ mapping, from: board }] });
		assert.ok(!dependencies.reads.isValid());
	});

	it("of an edge below a head are valid until the list changes", async () => {
		const mapping = graph.mapping("placePin");
		const dependencies = await recorded(async (view) => {
			assert.deepEqual(await view.hasEdges(mapping, board, [other]), [false]);
		});
		assert.ok(dependencies);
		assert.ok(dependencies.reads.isValid());
		store.invalidator.invalidateLocally({ lists: [{ mapping, from: board }] });
		assert.ok(!dependencies.reads.isValid());
	});

	it("that invalidations keep good are valid for as long as an entry lives from then on, and as its first entry while ages are limited", async () => {
		store = open(INVALIDATED_MAX_AGE_MS);
		const read = (view: Graph) => view.readObjects([pin]);
		await read(new View(store, null));
		now += INVALIDATED_MAX_AGE_MS / 2 - 1;
		const dependencies = await recorded(read);
		assert.ok(dependencies);
		now += INVALIDATED_MAX_AGE_MS - 1;
		assert.ok(dependencies.reads.isValid());
		now++;
		assert.ok(!dependencies.reads.isValid());
		const before = await recorded(read);
		store.caches.limitAge(true);
		assert.ok(before && !before.reads.isValid());
		const limited = await recorded(read);
		assert.ok(limited);
		assert.ok(limited.reads.isValid());
		now += MAX_AGE_MS;
		assert.ok(!limited.reads.isValid());
	});

	it("are valid while another channel, or a shard of another channel, is bypassed", async () => {
		const dependencies = await recorded(readAll, bo);
		assert.ok(dependencies);
		const read = new Set([ada, bo, board, pin].map(channelOfId));
		read.add(channelOfLookup("username ada"));
		const free = [...ALL_CHANNELS].filter((channel) => !read.has(channel));
		assert.ok(free.length > 0);
		store.caches.bypass(new Set(free), true);
		store.caches.bypassShards(new Set(free));
		store.caches.invalidateChannels(new Set(free));
		assert.ok(dependencies.reads.isValid());
		store.caches.bypass(new Set(free), false);
		assert.ok(dependencies.reads.isValid());
		const again = await recorded(readAll, bo);
		assert.ok(again);
		assert.ok(again.reads.isValid());
	});

	it("are valid again after a process that was paused has received what it missed, if that was something else", async () => {
		const dependencies = await recorded(readAll, bo);
		assert.ok(dependencies);
		isOverdue = true;
		assert.ok(!dependencies.reads.isValid());
		isOverdue = false;
		store.caches.applyInvalidations([`o ${other}`]);
		assert.ok(dependencies.reads.isValid());
	});

	it("are those of what is absent too", async () => {
		assert.ok(username);
		const dependencies = await recorded(async (view) => {
			assert.deepEqual(await view.lookUp(username, ["nobody"]), [null]);
		});
		assert.ok(dependencies);
		assert.ok(dependencies.reads.isValid());
		store.caches.applyInvalidations(["l username nobody"]);
		assert.ok(!dependencies.reads.isValid());
	});

	it("are none where the process caches nothing", () => {
		const uncached = new Store({ ...store, cacheBytes: 0 });
		assert.equal(RecordedReads.of(uncached), null);
	});

	it("are not valid if something changed while the request ran", async () => {
		await readAll(new View(store, bo));
		const reads = RecordedReads.of(store) as RecordedReads;
		const view = new View(reads.store, bo);
		await view.readObjects([pin]);
		store.invalidator.invalidateLocally({ objects: [ada] });
		await view.hasEdges(graph.mapping("likePin"), bo, [pin]);
		const dependencies = reads.dependencies();
		assert.ok(dependencies && !dependencies.reads.isValid());
	});

	const UNDECIDED: Readonly<Record<string, (view: Graph) => unknown>> = {
		"from the end of a long list": (view) =>
			view.readPages(graph.mapping("placePin"), [board], {
				last: 2,
				fields: page(2).fields,
			}),
	};
	for (const [what, read] of Object.entries(UNDECIDED)) {
		it(`are unknown of a request that read ${what}`, async () => {
			assert.equal(await recorded(read), null);
		});
	}

	/** What nothing has read before. */
	const MISSES: Readonly<Record<string, (view: Graph) => unknown>> = {
		"an object": (view) => view.readObjects([other]),
		"a list": (view) =>
			view.readPages(graph.mapping("followUser"), [other], page(1)),
		"an edge": (view) => view.hasEdges(graph.mapping("likePin"), other, [pin]),
		"a lookup": (view) => {
			assert.ok(username);
			return view.lookUp(username, ["other"]);
		},
	};
	const EVERYTHING: Readonly<Record<string, () => void>> = {
		"is dropped": () => store.caches.invalidateAll(),
		"was bypassed": () => {
			store.caches.bypass(channels, true);
			store.caches.bypass(channels, false);
		},
		"is on a shard that is bypassed": () =>
			store.caches.bypassShards(
				new Set([pin, ada, other].map((id) => unpackId(id).shard)),
			),
	};
	for (const [what, read] of Object.entries(MISSES)) {
		it(`are known of a request that missed ${what}, until it changes`, async () => {
			const reads = RecordedReads.of(store) as RecordedReads;
			await read(new View(reads.store, null));
			const dependencies = reads.dependencies();
			assert.ok(dependencies);
			assert.ok(dependencies.reads.isValid());
			store.caches.applyInvalidations([
				`o ${other}`,
				`h followUser ${other}`,
				`h likePin ${other}`,
				"l username other",
			]);
			assert.ok(!dependencies.reads.isValid());
		});

		for (const [change, happens] of Object.entries(EVERYTHING)) {
			it(`are of no use if ${what} was missing, and everything ${change} while it is read`, async () => {
				const { storage, begun, go } = heldStorage();
				store = open(MAX_AGE_MS, { storage });
				const reads = RecordedReads.of(store) as RecordedReads;
				const reading = read(new View(reads.store, null));
				await begun;
				happens();
				go();
				await reading;
				const dependencies = reads.dependencies();
				assert.ok(dependencies === null || !dependencies.reads.isValid());
			});
		}
	}

	it("are known of a request that missed an object for which the process has no room", async () => {
		store = open(MAX_AGE_MS, { cacheBytes: 2_600 });
		const data = { board_id: board, user_id: ada };
		for (let n = 0; n < 60; n++) {
			const another = await graph.writes.create({ type: "Pin", data });
			await store.readObjects([another]);
		}
		assert.ok(store.objectCache.local.level().evictions > 0);
		const reads = RecordedReads.of(store) as RecordedReads;
		await new View(reads.store, null).readObjects([other]);
		assert.equal(store.cachedObject(other), undefined);
		const dependencies = reads.dependencies();
		assert.ok(dependencies);
		assert.ok(dependencies.reads.isValid());
		store.invalidator.invalidateLocally({ objects: [other] });
		assert.ok(!dependencies.reads.isValid());
	});

	it("are unknown while a read has not ended, and of a request whose read failed", async () => {
		const { promise, reject } = Promise.withResolvers<never>();
		const failing = store.with({ readObjects: () => promise });
		const reads = RecordedReads.of(failing) as RecordedReads;
		const reading = reads.store.readObjects([other]);
		assert.equal(reads.dependencies(), null);
		reject(new Error("the host is away"));
		await assert.rejects(async () => reading);
		assert.equal(reads.dependencies(), null);
	});

	it("are of no use if an object that another request had read changed before the rest was there", async () => {
		const { storage, begun, go } = heldStorage(({ length }) => length > 1);
		store = open(MAX_AGE_MS, { storage });
		const first = store.readObjects([bo]);
		const reads = RecordedReads.of(store) as RecordedReads;
		const all = reads.store.readObjects([bo, ada, other]);
		await Promise.all([first, begun]);
		store.invalidator.invalidateLocally({ objects: [bo] });
		go();
		await all;
		assert.equal(reads.dependencies(), null);
	});
});
