import assert from "node:assert/strict";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../src/errors.ts";
import type { Id } from "../../src/id/ids.ts";
import { hostProblems } from "../../src/storage/hostReport.ts";
import { openMysqlStorage } from "../../src/storage/mysql/mysqlStorage.ts";
import {
	createReloadableStorage,
	type ReloadableStorage,
} from "../../src/storage/versions/reloadableStorage.ts";
import { openFileStore } from "../../src/topology/file/fileStore.ts";
import { openLastGood } from "../../src/topology/guards/lastGood.ts";
import { generationOf } from "../../src/topology/ranges.ts";
import { ask } from "../helpers/mysqlStorage.ts";
import {
	MAPPINGS,
	MODEL,
	pin,
	topologyOn,
	user,
} from "../helpers/storageModel.ts";
import { create, good, listOf, toggle } from "../helpers/storing.ts";
import { TcpProxy } from "../helpers/tcpProxy.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { timed } from "../helpers/timing.ts";
import { until } from "../helpers/until.ts";
import { caughtUp, startMysql, startMysqlPair } from "../services/mysql.ts";

const { likePin } = MAPPINGS;

function mapOn(primary: string, version: number, generation: number) {
	const { shards, lookups } = topologyOn(primary);
	return {
		version,
		shards: shards.map((range) => ({ ...range, generation })),
		lookups,
	};
}

/** The longest that any call of each kind took, in milliseconds of this process. */
interface Load {
	readonly pins: readonly Id[];
	readonly likes: readonly Id[];
	readonly names: readonly string[];
	readonly failures: readonly unknown[];
	readonly longest: { read: number; write: number };
	end(): Promise<void>;
}

/** Objects, edges and names written and read, until the end; each worker on a shard of its own. */
function loadOn(storage: ReloadableStorage): Load {
	const pins: Id[] = [];
	const likes: Id[] = [];
	const names: string[] = [];
	const failures: unknown[] = [];
	const longest = { read: 0, write: 0 };
	let isOver = false;
	const noted = async <T>(
		kind: "read" | "write",
		call: () => Promise<T>,
	): Promise<T | null> => {
		const { result, ownMs } = await timed(async () => {
			try {
				return await call();
			} catch (thrown) {
				failures.push(thrown);
				return null;
			}
		});
		longest[kind] = Math.max(longest[kind], ownMs);
		return result;
	};
	const worker = async (number: number) => {
		for (let n = 1; !isOver; n++) {
			const made = await noted("write", () =>
				create(storage, number % 4, "Pin", { number, n }),
			);
			if (made) pins.push(...made);
			const to = pin(number * 100_000 + n);
			const liked = await noted("write", async () => {
				await toggle(storage, likePin, user(1), to, true);
				return true;
			});
			if (liked) likes.push(to);
			const key = `name_${number}_${n}`;
			await noted("write", async () => {
				const [row] = await storage.compareAndSetLookups([
					{
						name: "username",
						key,
						expect: null,
						next: { id: user(n), token: `${n}` },
					},
				]);
				assert.equal(good(row)?.token, `${n}`);
				names.push(key);
			});
			await noted("read", async () => {
				const ids = pins.slice(-10);
				for (const answer of await storage.read("objects", ids)) {
					assert.ok(good(answer));
				}
				const scan = { mapping: likePin, from: user(1), backward: false };
				const [head] = await storage.read("lists", [{ ...scan, limit: 10 }]);
				good(head);
			});
			await sleep(2);
		}
	};
	const workers = [0, 1, 2, 3, 4, 5].map(worker);
	return {
		pins,
		likes,
		names,
		failures,
		longest,
		async end() {
			isOver = true;
			await Promise.all(workers);
		},
	};
}

test("a replica is promoted by hand under a steady load: no request fails, writes wait, nothing is lost", async () => {
	await using pair = await startMysqlPair();
	using folder = temporaryFolder();
	const path = join(folder.path, "topology.json");
	const write = (content: object) => {
		writeFileSync(`${path}.new`, JSON.stringify(content));
		renameSync(`${path}.new`, path);
	};
	write(mapOn(pair.primary.url, 1, 0));
	await using store = openFileStore(path);
	await using watcher = await openLastGood(store);
	await using storage = await createReloadableStorage(
		(topology) => openMysqlStorage({ model: MODEL, topology }),
		watcher.topology,
	);
	watcher.follow((topology) => storage.switchTopology(topology));
	await storage.admin.createTables();

	// As an operator would look at it before.
	await caughtUp(pair);
	{
		const { shards, lookups, version } = mapOn(pair.primary.url, 1, 0);
		const replica = pair.replica.url;
		await using inspected = await openMysqlStorage({
			model: MODEL,
			topology: {
				version,
				shards: shards.map((range) => ({ ...range, replica })),
				lookups,
			},
			readOnly: true,
		});
		const reports = await inspected.admin.inspectHosts();
		assert.deepEqual(
			reports.map(({ host, role, error, isReadOnly, replication }) => ({
				host,
				role,
				error,
				isReadOnly,
				replication,
			})),
			[
				{
					host: pair.primary.address,
					role: "primary",
					error: null,
					isReadOnly: false,
					replication: null,
				},
				{
					host: pair.replica.address,
					role: "replica",
					error: null,
					isReadOnly: true,
					// Seconds as the replica counts them: a busy one may have begun another.
					replication: {
						isRunning: true,
						lagSeconds: reports.at(-1)?.replication?.lagSeconds,
						error: null,
					},
				},
			],
		);
		const lag = reports.at(-1)?.replication?.lagSeconds ?? null;
		assert.ok(lag !== null && lag >= 0 && lag < 30, `lag: ${lag}`);
		assert.deepEqual(hostProblems(reports), []);
		await ask(pair.replica, "STOP REPLICA");
		const [stopped] = hostProblems(await inspected.admin.inspectHosts());
		assert.match(stopped ?? "", /does not replicate/);
		await ask(pair.replica, "START REPLICA");
	}

	const load = loadOn(storage);
	await until("some load", () => load.pins.length > 100);

	const stalled = performance.now();
	await ask(pair.primary, "SET GLOBAL super_read_only = ON");
	// The rest may take less time than a write has to wait to be seen to.
	await sleep(200);
	// An edit in the middle of it that is none: who moves a primary raises the generation.
	write(mapOn(pair.replica.url, 2, 0));
	await until("the bad edit refused", () => watcher.problem !== null);
	assert.match(watcher.problem?.message ?? "", /expected a higher generation/);
	assert.equal(storage.topology.version, 1);
	assert.equal(storage.map.hostOf(0), pair.primary.address);

	await caughtUp(pair);
	await ask(
		pair.replica,
		"STOP REPLICA",
		"RESET REPLICA ALL",
		"SET GLOBAL super_read_only = OFF",
		"SET GLOBAL read_only = OFF",
	);
	const before = load.pins.length;
	write(mapOn(pair.replica.url, 2, 1));
	await until("version 2", () => storage.topology.version === 2);
	await until("writes again", () => load.pins.length > before + 100);
	const stall = performance.now() - stalled;
	await load.end();

	assert.deepEqual(load.failures, []);
	assert.equal(watcher.problem, null);
	assert.equal(generationOf(storage.topology, 0), 1);
	assert.equal(storage.map.hostOf(0), pair.replica.address);
	assert.ok(load.longest.write > 100, "expected writes to have waited");
	assert.ok(load.longest.write < stall + 1_000, `${load.longest.write} ms`);
	assert.ok(
		load.longest.read < Math.min(load.longest.write, 1_000),
		`expected no read to wait but got: ${load.longest.read} ms`,
	);

	// Whatever was acknowledged, before and after, is on the promoted host.
	const objects = await storage.read("objects", load.pins);
	assert.equal(
		objects.filter((text) => good(text) !== null).length,
		load.pins.length,
	);
	assert.equal(new Set(load.pins).size, load.pins.length);
	const list = await listOf(storage, likePin, user(1));
	assert.equal(list.count, load.likes.length);
	assert.deepEqual(list.tos.toSorted(), load.likes.toSorted());
	const names = await storage.read(
		"lookups",
		load.names.map((key) => ({ name: "username", key })),
	);
	assert.equal(
		names.filter((row) => good(row) !== null).length,
		load.names.length,
	);
	const [old] = await ask(
		pair.primary,
		"SELECT @@global.gtid_executed AS gtids",
	);
	const [after] = await ask(
		pair.replica,
		`SELECT GTID_SUBTRACT('${old?.gtids}', @@global.gtid_executed) AS lost`,
	);
	assert.equal(after?.lost, "");
	assert.match(readFileSync(path, "utf8"), /"version":2/);
});

/** How many transactions have written something and are not committed. */
const WRITING =
	"SELECT COUNT(*) AS n FROM information_schema.innodb_trx WHERE trx_rows_modified > 0";

test("a COMMIT rejected as read-only changes nothing, and its retry is carried out once", async () => {
	await using server = await startMysql();
	await using link = await TcpProxy.to(server.port);
	const throughLink = new URL(server.url);
	throughLink.port = String(link.port);
	const topology = topologyOn(throughLink.href);
	await using storage = await createReloadableStorage(
		(topology) => openMysqlStorage({ model: MODEL, topology }),
		topology,
		{ retryMs: 100 },
	);
	await storage.admin.createTables();
	let decisions = 0;
	const creating = storage.transact({
		shard: 0,
		creates: [{ type: "Pin", data: { n: 1 } }],
		decide({ created }) {
			decisions += 1;
			// Only COMMIT is left.
			if (decisions === 1) link.hold();
			return { result: created };
		},
	});
	await until("COMMIT", () => link.held > 0);
	const [writing] = await ask(server, WRITING);
	assert.equal(writing?.n, 1);
	await ask(server, "SET GLOBAL super_read_only = ON");
	link.release();
	setTimeout(() => {
		ask(server, "SET GLOBAL read_only = OFF").catch(() => {});
	}, 300);
	const { result } = await creating;
	assert.equal(decisions, 2);
	const [row] = await ask(server, "SELECT COUNT(*) AS pins FROM db00000.pins");
	assert.equal(row?.pins, 1);
	assert.deepEqual(await storage.read("objects", result), ['{"n":1}']);
});

test("a write to a host that stays read-only fails as UNAVAILABLE, after its bounded wait", async () => {
	await using server = await startMysql();
	await using storage = await createReloadableStorage(
		(topology) => openMysqlStorage({ model: MODEL, topology }),
		topologyOn(server.url),
		{ waitMs: 600, retryMs: 100 },
	);
	await storage.admin.createTables();
	await ask(
		server,
		"SET GLOBAL read_only = ON",
		"SET GLOBAL super_read_only = ON",
	);
	const { ms, ownMs } = await timed(() =>
		assert.rejects(create(storage, 0, "Pin", {}), {
			code: "UNAVAILABLE",
			message: "Shard 0 does not answer at the moment.",
		}),
	);
	assert.ok(ms >= 590 && ownMs < 5_000, `after ${ms} ms`);
	const [row] = await storage.compareAndSetLookups([
		{
			name: "username",
			key: "a",
			expect: null,
			next: { id: user(1), token: "1" },
		},
	]);
	assert.ok(row instanceof CorkboardError);
	assert.equal(row.code, "UNAVAILABLE");
	assert.deepEqual(await storage.read("objects", [pin(1)]), [null]);
});
