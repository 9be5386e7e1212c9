import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { parse } from "graphql";
import pinsApp from "../../pins/app.ts";
import { type Corkboard, openCorkboard } from "../../src/app/openCorkboard.ts";
import { CACHE_CHANNELS, type CacheCall } from "../../src/cache/diagnostics.ts";
import { type Config, readConfig } from "../../src/config/config.ts";
import type { Id } from "../../src/id/ids.ts";
import { unpackId } from "../../src/id/ids.ts";
import {
	STORAGE_CHANNELS,
	type StorageCall,
} from "../../src/storage/diagnostics.ts";
import type { Statement } from "../../src/trace.ts";
import { stacksOf } from "../helpers/stacksOf.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";
import { ask as askRedis } from "../services/ask.ts";
import { startMemcached } from "../services/memcached.ts";
import { type Fleet, startFleet } from "./fleet.ts";

const PAGE = parse(`query ($id: ID!, $first: Int) {
	board(id: $id) {
		name
		pins(first: $first) { totalCount nodes { details owner { username } } }
	}
}`);
const LIKES = parse(`query ($id: ID!, $first: Int) {
	board(id: $id) {
		pins(first: $first) { nodes { likedBy(first: 3) { totalCount nodes { username } } } }
	}
}`);
const LIKE = parse(`mutation ($id: ID!) {
	likePin(input: { pinId: $id }) { pin { likeCount } }
}`);
const PINS = 25;
/** From the step of a plan to mysql2: the goal is 20. */
const FRAMES = 20;
/** The same of a like. */
const LIKE_FRAMES = 25;
/** How often a page is read again until it is answered in time. */
const MOST_TRIES = 20;

interface Answer {
	readonly board: {
		readonly pins: {
			readonly nodes: readonly {
				readonly owner: { readonly username: string };
			}[];
		};
	};
}

/** Round trips depend on the depth of the query and the number of hosts, never on the length of its lists. */
/** What is published or asked by the clock, not for a request. */
const isOwnTime = ({ verb }: CacheCall) => verb === "publish" || verb === "ask";

describe("a board page with its pins and their owners, on a fleet", () => {
	const resources = new AsyncDisposableStack();
	let fleet: Fleet;
	let config: Config;
	let board: Id;
	let liker: Id;
	let owners: ReadonlySet<number>;

	before(async () => {
		fleet = resources.use(await startFleet({ mysql: 2 }));
		const second = resources.use(await startMemcached());
		const { path } = resources.use(temporaryFolder());
		const topology = join(path, "topology.json");
		writeFileSync(topology, JSON.stringify(fleet.addresses.topology));
		config = readConfig({
			CORKBOARD_TOPOLOGY: topology,
			CORKBOARD_MEMCACHED: `${fleet.memcached.address},${second.address}`,
			CORKBOARD_REDIS: fleet.redis.url,
			CORKBOARD_SECRET: "of the tests of calls 32 bytes or more",
		});
		await using writer = await openCorkboard(pinsApp, config, "readWrite");
		const writes = writer.createContext(null).writes();
		const users = await Promise.all(
			Array.from({ length: PINS }, (_, n) =>
				writes.create({ type: "User", data: { username: `saver_${n}` } }),
			),
		);
		liker = users[PINS - 1] as Id;
		owners = new Set(users.map((id) => unpackId(id).shard));
		board = await writes.create({
			type: "Board",
			data: { name: "page", user_id: users[0] as Id },
		});
		for (const user of users) {
			await writes.create({
				type: "Pin",
				data: { details: "pin", board_id: board, user_id: user },
			});
		}
		const likePin = writer.model.mappings.get("likePin");
		assert.ok(likePin);
		const pins = await scanned(writer, "placePin", board);
		for (const [n, pin] of pins.entries()) {
			await writes.setEdge(likePin, users[n] as Id, pin, true);
		}
	});
	after(() => resources.disposeAsync());

	/** One page, with all calls over the network for it. */
	async function page(corkboard: Corkboard, first = PINS) {
		const levels: { call: string; statements: string[] }[] = [];
		const cached: CacheCall[] = [];
		const onStorage = ({ verb, keys }: StorageCall) => {
			levels.push({ call: `${verb} ${keys}`, statements: [] });
		};
		const onStatement = (message: Statement) => {
			levels.at(-1)?.statements.push(message.host);
		};
		const onCache = (call: CacheCall) => {
			// Once a second a read is preceded by a trial whether the cache takes writes.
			if (!isOwnTime(call) && call.verb !== "try") cached.push(call);
		};
		STORAGE_CHANNELS.storage.subscribe(onStorage);
		STORAGE_CHANNELS.statement.subscribe(onStatement);
		CACHE_CHANNELS.cacheCall.subscribe(onCache);
		try {
			const { data, errors } = await corkboard.planner.execute({
				document: PAGE,
				variables: { id: board, first },
				context: corkboard.createContext(null),
			});
			assert.equal(errors, undefined);
			const { pins } = (data as unknown as Answer).board;
			const names = pins.nodes.map(({ owner }) => owner.username);
			assert.equal(new Set(names).size, first);
		} finally {
			STORAGE_CHANNELS.storage.unsubscribe(onStorage);
			STORAGE_CHANNELS.statement.unsubscribe(onStatement);
			CACHE_CHANNELS.cacheCall.unsubscribe(onCache);
		}
		return { levels, cached };
	}

	/** A page from shared caches, and how many reads Redis had for it. Again if a cache was late, as on a machine without CPU. */
	async function cachedPage(corkboard: Corkboard) {
		for (let tries = 1; ; tries++) {
			const before = await mgets();
			const found = await page(corkboard);
			const isAnswered =
				found.levels.length === 0 && found.cached.every(({ ok }) => ok);
			if (isAnswered || tries === MOST_TRIES) {
				return { ...found, reads: (await mgets()) - before };
			}
		}
	}

	/** A process without a local cache. */
	const open = () => openCorkboard(pinsApp, config, "readOnly");

	it("takes at most one statement per host and level uncached; one batch per memcached host and one Redis command from shared caches; nothing from the process", async () => {
		await using corkboard = await open();
		const cold = await page(corkboard);
		const calls = cold.levels.map(({ call }) => call);
		// The board, its visibility, its pins and their owners.
		assert.ok(calls.length <= 5, calls.join());
		assert.deepEqual(
			calls.filter((call) => call.startsWith("scanLists")),
			["scanLists 1"],
		);
		assert.ok(calls.includes(`readObjects ${PINS}`));
		for (const { call, statements } of cold.levels) {
			assert.equal(new Set(statements).size, statements.length, call);
		}
		assert.ok(owners.size > 2, "owners are on shards of both hosts");
		assert.equal(cold.levels.at(-1)?.statements.length, 2);

		await filled(corkboard);
		const { levels, cached, reads } = await cachedPage(corkboard);
		assert.deepEqual(levels, []);
		assert.equal(reads, 1);
		assert.deepEqual(batchesOf(cached, "redis"), ["1 keys"]);
		// As many keys as the cold read, level by level.
		const ofObjects = calls
			.filter((call) => call.startsWith("readObjects"))
			.map((call) => Number(call.split(" ")[1]));
		const asked = cached.filter(({ layer }) => layer === "memcached");
		assert.ok(asked.every(({ verb, ok }) => verb === "get" && ok));
		assert.equal(
			asked.reduce((sum, { keys }) => sum + keys, 0),
			ofObjects.reduce((sum, keys) => sum + keys, 0),
		);
		for (const host of config.memcached) {
			const batches = asked.filter((call) => call.host === host);
			assert.ok(batches.length >= 2, host);
			assert.ok(batches.length <= ofObjects.length, host);
		}

		await using serving = await openCorkboard(pinsApp, config, "readWrite");
		await until("the local cache to hold the page", async () => {
			const { levels, cached } = await page(serving);
			return levels.length + cached.length === 0;
		});
	});

	it("takes as many levels for 3 pins as for 25", async () => {
		await using corkboard = await open();
		await filled(corkboard);
		const [few, many] = [await page(corkboard, 3), await page(corkboard)];
		assert.deepEqual([few.levels, many.levels], [[], []]);
		for (const { cached } of [few, many]) {
			assert.deepEqual(batchesOf(cached, "redis"), ["1 keys"]);
		}
		assert.ok(
			few.cached.length <= many.cached.length,
			JSON.stringify([few.cached, many.cached]),
		);
	});

	it("takes as many commands and statements for the cold lists of 25 pins as for that of one", async () => {
		await using corkboard = await open();
		await filled(corkboard);
		// Its fill ends before the next is counted.
		await coldLikes(corkboard, 1, { forget: true });
		const one = await coldLikes(corkboard, 1, { forget: true });
		const many = await coldLikes(corkboard, PINS, { forget: true });
		assert.equal(one.lists, 1);
		assert.equal(many.lists, PINS);
		// The board's list; those of its pins, and their fill.
		for (const { calls, commands } of [one, many]) {
			// Whether it takes writes is tried once a second.
			const tries = calls.filter((verb) => verb === "try").length;
			assert.deepEqual(
				calls.filter((verb) => verb !== "try"),
				["get", "get", "set"],
			);
			assert.ok(
				commands.eval <= 3 + tries,
				`${commands.eval} scripts for ${calls.join()}`,
			);
		}
		// Scans and users, on each host once.
		for (const [host, count] of many.statements) {
			assert.ok(count <= 2, `${count} statements on ${host}`);
		}
	});

	it("asks the shard of a cold list through few functions of its own", async () => {
		await using corkboard = await open();
		await filled(corkboard);
		// Its fill ends before the next is counted.
		await coldLikes(corkboard, 1, { forget: true });
		const stacks = await stacksOf(() =>
			coldLikes(corkboard, 1, { forget: true }),
		);
		const own = stacks.find(({ sql }) => sql.includes("liked_by"))?.own ?? [];
		// The step itself does not count.
		const frames = own.slice(0, own.indexOf("run plan/execute/stepRunner.ts"));
		assert.ok(
			frames.length > 0 && frames.length <= FRAMES,
			`${frames.length}\n${frames.join("\n")}`,
		);
	});

	it("writes a like through few functions of its own", async (t) => {
		await using corkboard = await openCorkboard(pinsApp, config, "readWrite");
		const [pin] = await scanned(corkboard, "placePin", board);
		const like = () =>
			corkboard.planner.execute({
				document: LIKE,
				variables: { id: pin },
				context: corkboard.createContext(liker),
			});
		const stacks = await stacksOf(async () => {
			assert.equal((await like()).errors, undefined);
		});
		const own =
			stacks.find(({ sql }) => /INTO \S*user_likes_pins/.test(sql))?.own ?? [];
		const frames = own.slice(0, own.indexOf("run plan/execute/stepRunner.ts"));
		t.diagnostic(`${frames.length} functions`);
		assert.ok(
			frames.length > 0 && frames.length <= LIKE_FRAMES,
			`${frames.length}\n${frames.join("\n")}`,
		);
	});

	/** Reads who likes pins of the board, and counts what their lists take. */
	async function coldLikes(
		corkboard: Corkboard,
		first: number,
		{ forget = false } = {},
	) {
		const lists = corkboard.model.mappings.get("likePin.inverse");
		assert.ok(lists);
		const pins = (await scanned(corkboard, "placePin", board)).slice(0, first);
		if (forget) {
			await corkboard.store.invalidator.invalidate({
				lists: pins.map((from) => ({ mapping: lists, from })),
			});
		}
		const before = await commands();
		const statements = new Map<string, number>();
		const calls: string[] = [];
		let filling = 0;
		const onStatement = ({ host }: Statement) => {
			statements.set(host, (statements.get(host) ?? 0) + 1);
		};
		const onCache = (call: CacheCall) => {
			const { layer, verb, keys } = call;
			if (layer !== "redis" || isOwnTime(call)) return;
			calls.push(verb);
			if (verb === "set") filling += keys;
		};
		STORAGE_CHANNELS.statement.subscribe(onStatement);
		CACHE_CHANNELS.cacheCall.subscribe(onCache);
		try {
			const { errors } = await corkboard.planner.execute({
				document: LIKES,
				variables: { id: board, first },
				context: corkboard.createContext(null),
			});
			assert.equal(errors, undefined);
			// The response does not wait for it.
			if (forget) await until("the fill", () => filling === first);
		} finally {
			STORAGE_CHANNELS.statement.unsubscribe(onStatement);
			CACHE_CHANNELS.cacheCall.unsubscribe(onCache);
		}
		const after = await commands();
		return {
			lists: filling,
			calls,
			statements,
			commands: {
				mget: after.mget - before.mget,
				eval: after.eval - before.eval,
			},
		};
	}

	async function scanned(
		corkboard: Corkboard,
		name: string,
		from: Id,
	): Promise<readonly Id[]> {
		const mapping = corkboard.model.mappings.get(name);
		assert.ok(mapping);
		const [list] = await corkboard.storage.read("lists", [
			{ mapping, from, backward: false, limit: PINS },
		]);
		assert.ok(list && "edges" in list);
		return list.edges.map(({ to }) => to);
	}

	function filled(corkboard: Corkboard): Promise<void> {
		return until(
			"the shared caches to be filled",
			async () => (await page(corkboard)).levels.length === 0,
		);
	}

	function batchesOf(
		cached: readonly CacheCall[],
		layer: CacheCall["layer"],
	): readonly string[] {
		return cached
			.filter((call) => call.layer === layer && call.verb !== "ask")
			.map(({ keys }) => `${keys} keys`);
	}

	const mgets = async () => (await commands()).mget;

	/** The numbers of commands, from Redis's own statistics. */
	async function commands(): Promise<{ mget: number; eval: number }> {
		const { host, port } = fleet.redis;
		const text = await askRedis(
			{ host, port },
			"INFO commandstats",
			/cmdstat_mget[^\n]*\r\n[\s\S]*\r\n$/,
		);
		const calls = (name: string) =>
			Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(text)?.[1] ?? 0);
		// A publication of the lists that are forgotten is a script with a PUBLISH; a question for numbers is one with an HMGET.
		return {
			mget: calls("mget"),
			eval: calls("eval") - calls("publish") - calls("hmget"),
		};
	}
});
