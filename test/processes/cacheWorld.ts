import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
	openTopology,
	type TopologySource,
} from "../../src/app/openTopology.ts";
import { readConfig } from "../../src/config/config.ts";
import { setCaches } from "../../src/fleet/map/setCaches.ts";
import { OutboxWorker } from "../../src/graph/outbox/outboxWorker.ts";
import { WritePipeline } from "../../src/graph/write/pipeline.ts";
import type { Id } from "../../src/id/ids.ts";
import { openMysqlStorage } from "../../src/storage/mysql/mysqlStorage.ts";
import { openFileStore } from "../../src/topology/file/fileStore.ts";
import type { TopologyStore } from "../../src/topology/store.ts";
import type { FleetCaches, Topology } from "../../src/topology/types.ts";
import { theModel } from "../helpers/model.ts";
import { readsWith, storageWith } from "../helpers/storageWith.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";
import { startMemcached } from "../services/memcached.ts";
import { startRedis } from "../services/redis.ts";
import type { Server } from "../services/server.ts";
import { type Fleet, openProcess, type Process, startFleet } from "./fleet.ts";
import { makePin } from "./subjects.ts";

/** Enough that each of some servers has several. */
const SHARDS = 16;
/** Between two steps of a loop of the load. */
const PAUSE_MS = 60;
/** docs/consistency/freshness.md */
const LIMIT_MS = 10_000;

/** A fleet whose map names several Redis and memcached. */
export interface CacheWorld extends AsyncDisposable {
	readonly redis: readonly Server[];
	readonly memcached: readonly Server[];
	/** URLs of the first so many of each. */
	caches(redis: number, memcached?: number): FleetCaches;
	/** A topology of its own. */
	startMap(caches?: FleetCaches): CacheMap;
}

export interface CacheMap {
	readonly store: TopologyStore;
	open(options?: MemberOptions): Promise<Member>;
	/** As `caches set` does. */
	set(
		caches: FleetCaches,
		options?: {
			readonly without?: readonly Member[];
			readonly onStep?: () => Promise<void>;
		},
	): Promise<void>;
}

export interface MemberOptions {
	/** Those of the settings. */
	readonly redis?: string;
	readonly memcached?: readonly string[];
	/** It never switches to a newer version. */
	readonly lags?: boolean;
	/** No cache in the process. */
	readonly cacheBytes?: number;
}

export interface Member extends AsyncDisposable {
	readonly process: Process;
	readonly source: TopologySource;
	readonly id: string;
	/** Lists that it has read from MySQL, by owner. */
	readonly fromMysql: Id[];
}

export async function startCacheWorld(count: number): Promise<CacheWorld> {
	await using stack = new AsyncDisposableStack();
	const fleet: Fleet = stack.use(await startFleet({ mysql: 1 }));
	const [redis, memcached] = await Promise.all([
		Promise.all(Array.from({ length: count }, () => startRedis())),
		Promise.all(Array.from({ length: count }, () => startMemcached())),
	]);
	for (const server of [...redis, ...memcached]) stack.use(server);
	const primary = fleet.mysql[0]?.url ?? "";
	const range = [0, SHARDS - 1] as const;
	const base: Topology = {
		version: 1,
		shards: [{ range, primary, open: true }],
		lookups: [{ range: [0, 0], primary }],
	};
	{
		const { model } = theModel();
		await using storage = await openMysqlStorage({ model, topology: base });
		await storage.admin.createTables();
	}
	const folder = stack.use(temporaryFolder());
	let maps = 0;
	const resources = stack.move();
	return {
		redis,
		memcached,
		caches: (ofRedis, ofMemcached = ofRedis) => ({
			objects: memcached
				.slice(0, ofMemcached)
				.map(({ address }) => `memcached://${address}`),
			lists: redis.slice(0, ofRedis).map(({ url }) => url),
		}),
		startMap(caches) {
			const file = join(folder.path, `${++maps}.json`);
			const map = { ...base, ...(caches && { caches }) };
			writeFileSync(file, JSON.stringify(map));
			const store = openFileStore(file, { pollMs: 50 });
			return {
				store,
				open: (options) => openMember(file, options),
				async set(wanted, { without = [], onStep } = {}) {
					const hidden = new Set(without.map(({ id }) => id));
					await setCaches({
						store: {
							...withMethods(store),
							list: async (path) =>
								(await store.list(path)).filter((id) => !hidden.has(id)),
						},
						wanted,
						why: "a test",
						agreeMs: 60_000,
						...(onStep && { onStep }),
					});
				},
			};
		},
		[Symbol.asyncDispose]: () => resources.disposeAsync(),
	};
}

function withMethods(store: TopologyStore): TopologyStore {
	return {
		name: store.name,
		hasMembers: store.hasMembers,
		get: (path) => store.get(path),
		list: (path) => store.list(path),
		write: (changes) => store.write(changes),
		watch: (path, onChange) => store.watch(path, onChange),
		announce: (path) => store.announce(path),
		[Symbol.asyncDispose]: async () => {},
	};
}

async function openMember(
	file: string,
	{ redis = "", memcached = [], lags = false, cacheBytes }: MemberOptions = {},
): Promise<Member> {
	await using stack = new AsyncDisposableStack();
	const config = readConfig({
		CORKBOARD_TOPOLOGY: file,
		CORKBOARD_SECRET: "x".repeat(40),
	});
	const before = new Set(await membersIn(file));
	const opened = await openTopology(config, { role: "serve", model: "" });
	stack.use(opened);
	const [id = ""] = (await membersIn(file)).filter((each) => !before.has(each));
	const source: TopologySource = lags
		? {
				...opened,
				topology: opened.topology,
				problem: null,
				stoppedHosts: opened.stoppedHosts,
				follow() {},
				[Symbol.asyncDispose]: async () => {},
			}
		: opened;
	const fromMysql: Id[] = [];
	const process = stack.use(
		await openProcess(
			{ topology: source.topology, memcached, redis },
			{
				source,
				channel: true,
				cacheDeadlineMs: 200,
				...(cacheBytes !== undefined && { cacheBytes }),
				overrides: {
					storage: (storage) =>
						storageWith(storage, {
							read: readsWith(storage, {
								lists(scans, call) {
									fromMysql.push(...scans.map(({ from }) => from));
									return storage.read("lists", scans, call);
								},
							}),
						}),
				},
			},
		),
	);
	stack.use(new OutboxWorker(new WritePipeline(process.store)));
	const { news } = process;
	await until("the channels", () => news.at(-1) === "restored", 20_000);
	const resources = stack.move();
	return {
		process,
		source,
		id,
		fromMysql,
		[Symbol.asyncDispose]: () => resources.disposeAsync(),
	};
}

async function membersIn(file: string): Promise<readonly string[]> {
	await using store = openFileStore(file);
	return store.list("members");
}

/** Pins with a text that counts up, and a list that grows: who reads too little too late breaks a promise. */
export class CountingLoad implements AsyncDisposable {
	readonly pins: readonly Id[];
	readonly #members: readonly Member[];
	/** By pin and kind, each number with the time when it was acknowledged. */
	readonly #written = new Map<string, { number: number; at: number }[]>();
	readonly failures: unknown[] = [];
	readonly stale: string[] = [];
	reads = 0;
	#isRunning = true;
	readonly #loops: Promise<void>[];

	private constructor(pins: readonly Id[], members: readonly Member[]) {
		this.pins = pins;
		this.#members = members;
		this.#loops = members.flatMap((member) => [
			this.#loop(() => this.#write(member)),
			this.#loop(() => this.#read(member)),
			this.#loop(() => this.#read(member)),
		]);
	}

	static async start(
		members: readonly Member[],
		/** Those that write, and others that only read. */
		each = 2,
	): Promise<CountingLoad> {
		const [first] = members;
		assert.ok(first);
		const pins: Id[] = [];
		for (let nth = 0; nth < each * SHARDS; nth++) {
			const pin = await makePin(first.process, { details: "0" }, nth % SHARDS);
			pins.push(pin);
		}
		return new CountingLoad(pins, members);
	}

	async #loop(step: () => Promise<void>): Promise<void> {
		while (this.#isRunning) {
			try {
				await step();
			} catch (error) {
				this.failures.push(error);
				await sleep(50);
			}
			await sleep(PAUSE_MS);
		}
	}

	#any(): Id {
		return this.pins[Math.floor(Math.random() * this.pins.length)] as Id;
	}

	async #write({ process }: Member): Promise<void> {
		const pin = this.#any();
		if (Math.random() < 0.5) {
			let number = 0;
			await process.writes.modify(pin, (data) => {
				number = Number(data.details) + 1;
				return { ...data, details: String(number) };
			});
			this.#note(`object ${pin}`, number);
		} else {
			const to = this.#any();
			const filed = process.mapping("filePin");
			await process.writes.setEdge(filed, pin, to, true);
			// A list only grows: its count is at least that of those that were added.
			this.#added.set(pin, (this.#added.get(pin) ?? new Set()).add(to));
			this.#note(`list ${pin}`, this.#added.get(pin)?.size ?? 0);
		}
	}
	readonly #added = new Map<Id, Set<Id>>();

	#note(key: string, number: number): void {
		const written = this.#written.get(key) ?? [];
		written.push({ number, at: performance.now() });
		this.#written.set(key, written);
	}

	async #read(member: Member): Promise<void> {
		await this.#check(member, this.#any(), LIMIT_MS);
	}

	/** Whether what it shows of the pin is not older than so long. */
	async #check(
		{ process, id }: Member,
		pin: Id,
		limitMs: number,
	): Promise<boolean> {
		const since = performance.now() - limitMs;
		const least = (kind: string) =>
			Math.max(
				0,
				...(this.#written.get(`${kind} ${pin}`) ?? [])
					.filter(({ at }) => at <= since)
					.map(({ number }) => number),
			);
		const [text, count] = [least("object"), least("list")];
		const object = await process.object(pin);
		const head = await process.head("filePin", pin);
		this.reads++;
		const found = [Number(object?.details), head.count] as const;
		if (found[0] >= text && found[1] >= count) return true;
		if (limitMs > 0) {
			this.stale.push(`${id}: ${pin} is ${found}, expected ${text}, ${count}`);
		}
		return false;
	}

	/** Ends the load. All that was written is shown by all within the limit, also by who came later. */
	async end(others: readonly Member[] = []): Promise<void> {
		await until("many reads", () => this.reads > 50);
		this.#isRunning = false;
		await Promise.all(this.#loops);
		assert.deepEqual(this.failures, []);
		const all = [...this.#members, ...others];
		await until(
			"everybody to show everything",
			async () => {
				const fresh = await Promise.all(
					all.flatMap((member) =>
						this.pins.map((pin) => this.#check(member, pin, 0)),
					),
				);
				return fresh.every(Boolean);
			},
			LIMIT_MS,
		);
		assert.deepEqual(this.stale, []);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#isRunning = false;
		await Promise.all(this.#loops);
	}
}
