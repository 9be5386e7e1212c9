import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../src/errors.ts";
import type { OpenedStorage, Storage } from "../../src/storage/storage.ts";
import {
	addChunk,
	collectEvents,
	openFeeds,
	readPage,
	SHOW_PIN,
	startReads,
} from "../helpers/feedReads.ts";
import { ask } from "../helpers/mysqlStorage.ts";
import { user } from "../helpers/storageModel.ts";
import { good, listOf } from "../helpers/storing.ts";
import { TcpProxy } from "../helpers/tcpProxy.ts";
import { until } from "../helpers/until.ts";
import { caughtUp, startMysqlPair } from "../services/mysql.ts";

const USERS = 20;
const pair = await startMysqlPair();
after(() => pair[Symbol.asyncDispose]());
const link = await TcpProxy.to(pair.primary.port);
after(() => link[Symbol.asyncDispose]());
const throughLink = pair.primary.url.replace(
	`:${pair.primary.port}`,
	`:${link.port}`,
);
{
	await using storage = await openFeeds(pair.primary.url, {
		primary: pair.primary.url,
		replica: pair.replica.url,
	});
	await storage.admin.createTables();
	for (let n = 1; n <= USERS; n++)
		await addChunk(storage, user(n), n * 100, 30);
	await caughtUp(pair);
}

/** The link to the primary can be broken; the graph is not behind it. */
async function open(): Promise<OpenedStorage> {
	return openFeeds(
		pair.primary.url,
		{ primary: throughLink, replica: pair.replica.url },
		{ readMs: 1_000 },
	);
}

/** The pair is asked for its beats once it was read from, and a standby is used once it has one. */
async function untilFit(storage: Storage): Promise<void> {
	await until("the standby to answer", async () => {
		link.hold();
		try {
			const page = await readPage(storage, user(1));
			return !(page instanceof Error) && page.isStale === true;
		} finally {
			link.release();
			await sleep(200);
		}
	});
}

async function untilPrimary(storage: Storage): Promise<void> {
	await until("the primary to answer again", async () => {
		const page = await readPage(storage, user(1));
		await sleep(50);
		return !(page instanceof Error) && page.isStale !== true;
	});
}

describe("feed lists on a pair of hosts", () => {
	test("are in databases of their own, whole, and written and read there", async () => {
		await using storage = await open();
		assert.deepEqual(storage.map.shards, [0, 1, 2, 3]);
		const feed = storage.map.shardOfLists(SHOW_PIN, 0);
		assert.equal(storage.map.hostOf(feed), `127.0.0.1:${link.port}`);
		assert.ok(storage.map.outboxes.some(({ shards }) => shards.includes(feed)));
		assert.equal((await listOf(storage, SHOW_PIN, user(1))).count, 30);
		const [row] = await ask(
			pair.primary,
			"SELECT COUNT(*) AS n FROM feed00000.user_home_feed",
		);
		assert.equal(Number(row?.n), 30 * USERS);
		const elsewhere = await ask(
			pair.primary,
			"SELECT table_schema AS db FROM information_schema.tables WHERE table_name = 'user_home_feed' AND table_schema LIKE 'db%'",
		);
		assert.deepEqual(elsewhere, []);
		assert.deepEqual(await storage.admin.missingTables(), []);
	});

	for (const [how, begin, end] of [
		["is paused", () => pair.primary.pause(), () => pair.primary.resume()],
		[
			"is behind a link that swallows all",
			() => link.hold(),
			() => link.release(),
		],
		["refuses connections", () => link.cut(), () => link.restore()],
	] as const) {
		test(`are answered by the standby while the primary ${how}, and by the primary soon after`, async () => {
			await using storage = await open();
			await untilFit(storage);
			await untilPrimary(storage);
			using seen = collectEvents();
			const load = startReads(storage, 50, USERS);
			await sleep(1_000);
			const calm = load.reads.length;
			begin();
			const brokenAt = performance.now();
			try {
				await until(
					"the standby to answer a hundred reads",
					() => load.reads.filter(({ isStale }) => isStale).length > 100,
				);
			} finally {
				end();
			}
			const wellAt = performance.now();
			await until(
				"the switch back",
				() => seen.count("switchToPrimary") === seen.count("switchToStandby"),
			);
			const backMs = performance.now() - wellAt;
			await load.end();
			assert.ok(calm > 0);
			assert.deepEqual(
				load.reads.filter(({ failed }) => failed),
				[],
			);
			assert.ok(seen.count("switchToStandby") >= 1);
			const later = load.reads.filter(
				({ at, isStale }) => isStale && at > brokenAt + 1_000 && at < wellAt,
			);
			assert.ok(later.length > 0);
			// Held for ten seconds; the rest is a machine that is busy.
			assert.ok(backMs < 60_000, `${backMs}`);
		});
	}

	test("are refused where the standby does not have what the reader has seen, and served below that", async () => {
		await using storage = await open();
		await untilFit(storage);
		await untilPrimary(storage);
		await ask(pair.replica, "STOP REPLICA SQL_THREAD");
		try {
			await addChunk(storage, user(1), 9_000, 5);
			const page = good(await readPage(storage, user(1)));
			const [, inChunk] = page.edges;
			const below = page.edges[10];
			link.hold();
			const [behind, seen] = await Promise.all([
				readPage(storage, user(1), inChunk),
				readPage(storage, user(1), below),
			]);
			assert.ok(behind instanceof CorkboardError);
			assert.equal(behind.code, "UNAVAILABLE");
			assert.equal(good(seen).isStale, true);
			const [first] = good(seen).edges;
			assert.ok((first?.sequence ?? 0) < (below?.sequence ?? 0));
		} finally {
			link.release();
			await ask(pair.replica, "START REPLICA SQL_THREAD");
			await caughtUp(pair);
		}
	});

	test("are not read from a standby that is more than five seconds behind, also when the primary is gone then", async () => {
		await using storage = await open();
		await untilFit(storage);
		await untilPrimary(storage);
		await ask(pair.replica, "STOP REPLICA");
		try {
			await until("the standby to be too old", async () => {
				link.hold();
				const page = await readPage(storage, user(1));
				link.release();
				await sleep(500);
				return page instanceof Error;
			});
			link.cut();
			await sleep(500);
			const page = await readPage(storage, user(1));
			assert.ok(page instanceof CorkboardError);
		} finally {
			link.restore();
			link.release();
			await ask(pair.replica, "START REPLICA");
			await caughtUp(pair);
		}
	});

	test("are read from the primary alone by what writes, verifies or counts", async () => {
		await using storage = await open();
		await untilFit(storage);
		link.hold();
		try {
			const key = { mapping: SHOW_PIN, from: user(1) };
			const [scan] = await storage.read("lists", [
				{ ...key, backward: false, limit: 20 },
			]);
			const [count] = await storage.read("counts", [key]);
			assert.ok(scan instanceof CorkboardError);
			assert.ok(count instanceof CorkboardError);
		} finally {
			link.release();
		}
	});
});
