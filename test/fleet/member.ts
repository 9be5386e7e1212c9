import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { Id } from "../../src/id/ids.ts";
import {
	MYSQL_LIMITS,
	openMysqlStorage,
} from "../../src/storage/mysql/mysqlStorage.ts";
import { SharedHosts } from "../../src/storage/mysql/sharedHosts.ts";
import { createReloadableStorage } from "../../src/storage/versions/reloadableStorage.ts";
import { openFileStore } from "../../src/topology/file/fileStore.ts";
import { openLastGood } from "../../src/topology/guards/lastGood.ts";
import { Membership } from "../../src/topology/members.ts";
import { MODEL } from "../helpers/storageModel.ts";
import { create, good } from "../helpers/storing.ts";

/** Longer than any pause of a test: none may make a write fail, however slow the machine. Milliseconds. */
const PATIENCE_MS = 120_000;

/** Between two writes of a worker: six workers make some thirty a second, and leave the cores to what is tested. Milliseconds. */
const PAUSE_MS = 160;

/** A process of the fleet, which writes and reads one after another and lists what was acknowledged. */
export async function member(file: string) {
	await using opened = new AsyncDisposableStack();
	const store = opened.use(openFileStore(file, { pollMs: 50 }));
	const membership = opened.use(
		new Membership(store, { role: "test", model: "" }),
	);
	const source = opened.use(await openLastGood(store, {}));
	const limits = { ...MYSQL_LIMITS, connections: 4, writeMs: PATIENCE_MS };
	const hosts = new SharedHosts(limits, false, {});
	const storage = opened.use(
		await createReloadableStorage(
			(topology) => openMysqlStorage({ model: MODEL, topology, limits, hosts }),
			source.topology,
			{ waitMs: PATIENCE_MS },
		),
	);
	const say = () =>
		membership.say(storage.topology.version, storage.topology.version);
	await say();
	source.follow(async (topology) => {
		await storage.switchTopology(topology);
		await say();
	});
	const acknowledged: Id[] = [];
	const failures: unknown[] = [];
	let isOver = false;
	const worker = async (shard: number) => {
		for (let n = 0; !isOver; n++) {
			try {
				acknowledged.push(...(await create(storage, shard, "Pin", { n })));
				const some = acknowledged.slice(-5);
				for (const text of await storage.read("objects", some)) {
					assert.ok(good(text));
				}
			} catch (thrown) {
				failures.push(thrown);
			}
			await sleep(PAUSE_MS);
		}
	};
	const working = [0, 1, 2].map(worker);
	const owned = opened.move();
	return {
		storage,
		acknowledged,
		failures,
		async end() {
			isOver = true;
			await Promise.all(working);
		},
		async [Symbol.asyncDispose]() {
			isOver = true;
			await Promise.all(working);
			await owned.disposeAsync();
		},
	};
}
