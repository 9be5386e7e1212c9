import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Id } from "../../../src/id/ids.ts";
import { checkServers } from "../../../src/ops/fleet/checkServers.ts";
import { listOperations } from "../../../src/ops/fleet/operations.ts";
import {
	abortPromotion,
	checkPromotion,
	type PromoteOptions,
	promote,
	resumePromotion,
} from "../../../src/ops/fleet/promote.ts";
import {
	MYSQL_LIMITS,
	openMysqlStorage,
} from "../../../src/storage/mysql/mysqlStorage.ts";
import { SharedHosts } from "../../../src/storage/mysql/sharedHosts.ts";
import { createReloadableStorage } from "../../../src/storage/reloadableStorage.ts";
import { openFileStore } from "../../../src/topology/fileStore.ts";
import { openLastGood } from "../../../src/topology/lastGood.ts";
import { Membership } from "../../../src/topology/members.ts";
import { ask } from "../../helpers/mysqlStorage.ts";
import { command } from "../../helpers/runCommand.ts";
import { MODEL, topologyOn } from "../../helpers/storageModel.ts";
import { create, good } from "../../helpers/storing.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { until } from "../../helpers/until.ts";
import { caughtUp, startMysqlPair } from "../../services/mysql.ts";
import type { Server } from "../../services/server.ts";

const PAGE = readFileSync(
	join(import.meta.dirname, "../../../docs/commands.md"),
	"utf8",
);

/** A process of the fleet, which writes and reads one after another and lists what was acknowledged. */
async function member(file: string) {
	await using opened = new AsyncDisposableStack();
	const store = opened.use(openFileStore(file, { pollMs: 50 }));
	const membership = opened.use(
		new Membership(store, { role: "test", model: "" }),
	);
	const source = opened.use(await openLastGood(store, {}));
	const limits = { ...MYSQL_LIMITS, connections: 4 };
	const hosts = new SharedHosts(limits, false, {});
	const storage = opened.use(
		await createReloadableStorage(
			(topology) => openMysqlStorage({ model: MODEL, topology, limits, hosts }),
			source.topology,
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
				for (const text of await storage.readObjects(some)) {
					assert.ok(good(text));
				}
			} catch (thrown) {
				failures.push(thrown);
			}
			await sleep(10);
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

/** `fleet check` finds nothing in a healthy pair, and what is wrong where something is. */
async function checksServers(
	file: string,
	primary: Server,
	replica: Server,
): Promise<void> {
	const topology = JSON.parse(readFileSync(file, "utf8"));
	const check = () => checkServers(topology, {});
	assert.deepEqual(await check(), { faults: [], unchecked: [] });
	const [row] = await ask(replica, "SELECT @@GLOBAL.binlog_row_image AS image");
	await ask(replica, "SET GLOBAL binlog_row_image = MINIMAL");
	await ask(primary, "ALTER DATABASE db00000 READ ONLY = 1");
	const { faults } = await check();
	const all = faults.join("\n");
	assert.match(all, /binlog_row_image must be FULL, got MINIMAL\.$/m);
	assert.match(
		all,
		new RegExp(`^${primary.address}: db00000 is read-only`, "m"),
	);
	const ran = await command(["fleet", "check", "--json"], {
		env: { CORKBOARD_TOPOLOGY: file },
	});
	assert.equal(ran.code, 1, ran.err);
	const described = JSON.parse(ran.out);
	assert.deepEqual(Object.keys(described).sort(), shownKeys("fleet check"));
	for (const fault of faults) assert.ok(described.faults.includes(fault));
	await ask(primary, "ALTER DATABASE db00000 READ ONLY = 0");
	await ask(replica, `SET GLOBAL binlog_row_image = ${row?.image}`);
	await until("no faults", async () => (await check()).faults.length === 0);
}

/** Names in the JSON that docs/commands.md shows. */
function shownKeys(command: string): readonly string[] {
	const section = PAGE.split(`\n### ${command}\n`)[1] ?? "";
	const shown = JSON.parse(/```json\n([\s\S]*?)```/.exec(section)?.[1] ?? "");
	return Object.keys(Array.isArray(shown) ? shown[0] : shown).sort();
}

test("a promotion under load fails no request and loses nothing, also where its runner ends after any step and another resumes or aborts it", async () => {
	await using pair = await startMysqlPair();
	using folder = temporaryFolder();
	const file = join(folder.path, "topology.json");
	const { primary, replica } = pair;
	const { shards, lookups } = topologyOn(primary.url);
	const both = <Range>(range: Range) => ({ ...range, replica: replica.url });
	writeFileSync(
		file,
		JSON.stringify({
			version: 1,
			shards: shards.map(both),
			lookups: lookups.map(both),
		}),
	);
	{
		await using storage = await openMysqlStorage({
			model: MODEL,
			topology: topologyOn(primary.url),
		});
		await storage.createTables();
	}
	await caughtUp(pair);
	await checksServers(file, primary, replica);
	await using store = openFileStore(file);
	await using first = await member(file);
	await using second = await member(file);
	const members = [first, second];
	const options: PromoteOptions = {
		store,
		environment: {},
		maxLagMs: 30_000,
		maxPauseMs: 60_000,
		agreeMs: 60_000,
	};
	const count = () => first.acknowledged.length + second.acknowledged.length;
	const someMore = async () => {
		const before = count();
		await until("more writes", () => count() > before + 20);
	};
	const hosts = [primary, replica];
	const isWritable = async () =>
		Promise.all(
			hosts.map(async (server) => {
				const [row] = await ask(server, "SELECT @@super_read_only AS fenced");
				return row?.fenced === 0;
			}),
		);
	let version = 1;
	let now = 0;
	const named = () => (hosts[now] as typeof primary).address;

	const refused = await checkPromotion(
		{ ...options, maxLagMs: 30_000 },
		named(),
	);
	assert.deepEqual(refused.faults, []);

	await someMore();
	const result = await promote(options, named());
	version += 1;
	now = 1 - now;
	assert.equal(result.version, version);
	assert.equal(result.agreement?.missing.length, 0);
	assert.equal(result.agreement?.agreed.length, 2);
	assert.deepEqual(await isWritable(), [false, true]);
	await someMore();

	assert.deepEqual(Object.keys(result).sort(), shownKeys("promote"));
	const [over] = await listOperations(store);
	assert.deepEqual(
		[...Object.keys(over ?? {}), "isHeld"].sort(),
		shownKeys("operations list"),
	);

	const steps = ["locked", "fenced", "writable", "published"];
	/** Ends the runner after a step, as kill -9 does: it does nothing more. */
	const endedAfter = async (step: string) => {
		await assert.rejects(
			promote(
				{
					...options,
					onStep(done) {
						if (done === step) throw new RangeError("killed");
					},
				},
				named(),
			),
			RangeError,
		);
		const operation = (await listOperations(store)).at(-1);
		assert.ok(operation);
		return operation.id;
	};
	for (const step of steps) {
		const id = await endedAfter(step);
		const resumed = await resumePromotion(options, id);
		version += 1;
		now = 1 - now;
		assert.equal(resumed.version, version, step);
		assert.deepEqual(await isWritable(), [now === 0, now === 1], step);
		await someMore();
	}
	for (const step of ["fenced", "writable"]) {
		await abortPromotion(options, await endedAfter(step));
		assert.deepEqual(await isWritable(), [now === 0, now === 1], step);
		await someMore();
	}
	await assert.rejects(abortPromotion(options, await endedAfter("published")), {
		code: "CONFLICT",
		message: /Complete it/,
	});

	for (const { failures } of members) assert.deepEqual(failures, []);
	for (const each of members) {
		await each.end();
		const texts = await each.storage.readObjects(each.acknowledged);
		assert.equal(texts.filter((text) => good(text) === null).length, 0);
	}
	const ids = members.flatMap(({ acknowledged }) => acknowledged);
	assert.equal(new Set(ids).size, ids.length);
});
