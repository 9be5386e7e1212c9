// Runs in a process of its own: it measures the heap.
import assert from "node:assert/strict";
import { once } from "node:events";
import { renameSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { parse } from "graphql";
import { createConnection } from "mysql2/promise";
import pinsApp from "../../pins/app.ts";
import { jobQueuesOf } from "../../src/app/jobKinds.ts";
import { type Corkboard, openCorkboard } from "../../src/app/openCorkboard.ts";
import { startCorkboardServer } from "../../src/app/startCorkboardServer.ts";
import { type Config, readConfig } from "../../src/config/config.ts";
import type { CorkboardError } from "../../src/errors.ts";
import { packId } from "../../src/id/ids.ts";
import { recount } from "../../src/ops/jobs/recount.ts";
import { parseJobId } from "../../src/queue/jobId.ts";
import { createQueues } from "../../src/queue/openJobs.ts";
import { createCostMeter } from "../../src/server/limits/costMeter.ts";
import { openMysqlStorage } from "../../src/storage/mysql/mysqlStorage.ts";
import {
	TOPOLOGY_CHANNELS,
	type TopologyEvent,
} from "../../src/topology/diagnostics.ts";
import { openFileStore } from "../../src/topology/file/fileStore.ts";
import { readMembers } from "../../src/topology/members.ts";
import type { Topology } from "../../src/topology/types.ts";
import { isCollected, leftBytes } from "../helpers/heldBytes.ts";
import { theModel } from "../helpers/model.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";
import { startMysql } from "../services/mysql.ts";
import type { Server } from "../services/server.ts";

const HELD_ITEMS = 1_000;
const INTERESTS = parse("{ interests(first: 5) { nodes { slug } } }");

describe("Corkboard, embedded in another program,", () => {
	test("answers queries and mutations without HTTP", async () => {
		using folder = temporaryFolder();
		const config = readConfig({ CORKBOARD_DATA: folder.path });
		await using corkboard = await openCorkboard(pinsApp, config);

		const created = await corkboard.query(
			`mutation ($input: CreateUserInput!) {
				createUser(input: $input) { user { id } }
			}`,
			{ variables: { input: { username: "ada", name: "Ada" } } },
		);
		assert.equal(created.errors, undefined);
		const { data } = await corkboard.query(
			'{ user(by: {username: "ada"}) { name } }',
		);
		assert.deepEqual(data, { user: { name: "Ada" } });
	});

	test("serves HTTP with the settings it was opened with", async () => {
		using folder = temporaryFolder();
		const config = readConfig({
			PORT: "0",
			CORKBOARD_DATA: folder.path,
			CORKBOARD_LOG: "silent",
		});
		await using corkboard = await openCorkboard(pinsApp, config);
		await using server = await startCorkboardServer(corkboard);
		const response = await fetch(`${server.url}/graphql`, {
			method: "POST",
			headers: { "content-type": "application/json" },
			body: JSON.stringify({ query: "{ __typename }" }),
		});
		assert.deepEqual(await response.json(), { data: { __typename: "Query" } });
	});

	test("keeps of an answer that may be used again nothing but what it depends on", async () => {
		using folder = temporaryFolder();
		const config = readConfig({ CORKBOARD_DATA: folder.path });
		await using corkboard = await openCorkboard(pinsApp, config);
		const execute = async () => {
			const operation = recordedOperation();
			const { reuse } = await corkboard.execute(operation);
			return { reuse, costMeter: new WeakRef(operation.costMeter) };
		};
		// The first one fills the caches.
		await execute();
		const { reuse, costMeter } = await execute();
		assert.ok(reuse?.isValid());
		assert.ok(await isCollected(costMeter));
		assert.ok(reuse?.isValid());
	});

	test("leaves nothing of a request to the collector of old garbage", async () => {
		using folder = temporaryFolder();
		const config = readConfig({ CORKBOARD_DATA: folder.path });
		await using corkboard = await openCorkboard(pinsApp, config);
		const execute = async () => {
			const operation = recordedOperation();
			// What the request held, it would keep as well.
			Object.assign(operation.costMeter, { held: Array(HELD_ITEMS).fill(0.5) });
			await corkboard.execute(operation);
		};
		for (let n = 0; n < 100; n++) await execute();
		const left = await leftBytes(600, execute);
		// Half of what each request held. Code that is compiled meanwhile is there too.
		assert.ok(left < (HELD_ITEMS * 8) / 2, `${left} bytes`);
	});

	test("names every problem of a document that is not valid", async () => {
		using folder = temporaryFolder();
		const config = readConfig({ CORKBOARD_DATA: folder.path });
		await using corkboard = await openCorkboard(pinsApp, config);
		await assert.rejects(async () => corkboard.query("{ nothing }"), {
			code: "BAD_USER_INPUT",
			message: /Cannot query field "nothing" on type "Query"/,
		});
	});
});

describe("the queues of a topology", () => {
	test("are created in a folder that has a topology of its own", async () => {
		using folder = temporaryFolder();
		const path = join(folder.path, "topology.json");
		const primary = `sqlite:${join(folder.path, "data")}`;
		writeFileSync(
			path,
			JSON.stringify({
				version: 1,
				shards: [{ range: [0, 0], primary, open: true }],
				lookups: [{ range: [0, 0], primary }],
			}),
		);
		const config = readConfig({
			CORKBOARD_TOPOLOGY: path,
			CORKBOARD_SECRET: "0123456789abcdef0123456789abcdef",
		});
		await using corkboard = await openCorkboard(pinsApp, config);
		assert.ok(corkboard.queues?.settings.queues.includes("archive"));
	});

	test("may be away while the graph is served, and be moved elsewhere: the worker waits, and goes on", async () => {
		await using world = await topologyTest();
		const queuesOn = (version: number, primary: unknown) => ({
			...world.topology(version),
			queues: [{ range: [0, 0], primary }],
		});
		// It takes connections and says nothing.
		await using silent = createServer().listen(0, "127.0.0.1");
		await once(silent, "listening");
		const { port } = silent.address() as AddressInfo;
		world.write(queuesOn(1, `mysql://corkboard@127.0.0.1:${port}`));
		await using corkboard = await world.open();
		await using _worker = await corkboard.startWorker({
			queues: null,
			concurrency: 1,
		});
		const { data } = await corkboard.query("{ __typename }");
		assert.deepEqual(data, { __typename: "Query" });

		const { primary } = world.topology(1).shards[0] as { primary: string };
		const { queues } = corkboard;
		if (queues === null) throw new Error("expected queues");
		const switched = Promise.withResolvers<unknown>();
		queues.onSwitch(switched.resolve);
		world.write(queuesOn(2, primary));
		await switched.promise;
		let id = "";
		await until("the other host to answer", async () => {
			try {
				await queues.store.createTables();
				await createQueues(queues.store, jobQueuesOf(pinsApp));
				await queues.settings.refresh();
				({ id } = await queues.jobs.enqueue(recount, { shard: 0 }));
				return true;
			} catch (error) {
				// It has a second to accept a connection, which a busy machine may take.
				if ((error as CorkboardError).code === "UNAVAILABLE") return false;
				throw error;
			}
		});
		const job = parseJobId(id);
		if (job === null) throw new TypeError(`no id: ${id}`);
		await until("the job ran", async () => {
			const [found] = await queues.store.find(job, [job]);
			return found?.state === "succeeded";
		});
	});
});

describe("the barrier that an edit of the topology waits for", () => {
	for (const what of ["an enqueue", "a call on the pools"]) {
		test(`is held by ${what} that is paused on the version before`, async () => {
			await using world = await topologyTest();
			const { primary } = world.topology(1).shards[0] as { primary: string };
			const topology = (version: number, url: string) => ({
				...world.topology(version),
				queues: [{ range: [0, 0], primary: url }],
				pools: [{ range: [0, 0], primary: url }],
			});
			world.write(topology(1, primary));
			await using corkboard = await world.open();
			const { queues, feed } = corkboard;
			assert.ok(queues !== null && feed !== null);
			const { pools } = feed.parts;
			await pools.createTables();
			await queues.store.createTables();
			await createQueues(queues.store, jobQueuesOf(pinsApp));
			await queues.settings.refresh();
			const user = packId({ shard: 0, type: 3, local: 2 ** 30 + 1 });
			await pools.noteVisit(user, { visitedAt: 1 });

			const other = await createConnection(primary);
			await other.query("BEGIN");
			await other.query("SELECT * FROM queue00000.queues FOR UPDATE");
			await other.query("SELECT * FROM pool00000.visits FOR UPDATE");
			const held =
				what === "an enqueue"
					? queues.jobs.enqueue(recount, { shard: 0 }, { key: "one" })
					: pools.noteVisit(user, { visitedAt: 2 });
			// Whether it is still written is for the guard to say.
			const ended = held.catch(() => {});
			await until("the call to wait", async () => {
				const [rows] = await other.query("SHOW FULL PROCESSLIST");
				const running = JSON.stringify(rows);
				return /`queues` WHERE name = .*FOR UPDATE|`visits` \(/.test(running);
			});
			await using store = openFileStore(world.path);
			const oldest = async () => {
				const [member] = await readMembers(store);
				return member?.version === 2 ? member.oldest : null;
			};
			world.write(topology(2, primary.replace("127.0.0.1", "localhost")));
			await until(
				"version 2 to be served",
				async () => (await oldest()) !== null,
			);
			assert.equal(await oldest(), 1);
			other.destroy();
			await ended;
			await until("the call to end", async () => (await oldest()) === 2);
		});
	}
});

interface TopologyTest extends AsyncDisposable {
	readonly config: Config;
	readonly path: string;
	/** `loaded 1` and so on, in order. */
	readonly events: readonly string[];
	topology(version: number): Topology;
	write(content: object | string): void;
	open(): Promise<Corkboard>;
}

let shared: Promise<Server> | undefined;
after(async () => (await shared)?.stop());

/** A MySQL with all tables, for all tests of this file. */
async function startWithTables(): Promise<Server> {
	const server = await startMysql();
	await using storage = await openMysqlStorage({
		model: theModel().model,
		topology: topologyOn(server.url, 1),
	});
	await storage.admin.createTables();
	return server;
}

function topologyOn(primary: string, version: number): Topology {
	return {
		version,
		shards: [
			{ range: [0, 0], primary, open: true },
			{ range: [1, 1], primary, open: version === 1 },
		],
		lookups: [{ range: [0, 0], primary }],
	};
}

/** Settings that name a topology file of the MySQL. */
async function topologyTest(): Promise<TopologyTest> {
	await using stack = new AsyncDisposableStack();
	shared ??= startWithTables();
	const { url: primary } = await shared;
	const folder = stack.use(temporaryFolder());
	const path = join(folder.path, "topology.json");
	const topology = (version: number) => topologyOn(primary, version);
	const events: string[] = [];
	const record = (event: TopologyEvent) => {
		if (event.path === path) events.push(`${event.state} ${event.version}`);
	};
	TOPOLOGY_CHANNELS.topology.subscribe(record);
	stack.defer(() => void TOPOLOGY_CHANNELS.topology.unsubscribe(record));
	const config = readConfig({
		CORKBOARD_TOPOLOGY: path,
		CORKBOARD_SECRET: "0123456789abcdef0123456789abcdef",
	});
	const owned = stack.move();
	return {
		config,
		path,
		events,
		topology,
		write(content) {
			const text =
				typeof content === "string" ? content : JSON.stringify(content);
			writeFileSync(`${path}.new`, text);
			renameSync(`${path}.new`, path);
		},
		open: () => openCorkboard(pinsApp, config),
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}

describe("the topology file at the start", () => {
	test("is read once: an edit during the start is loaded after it, and served", async () => {
		await using file = await topologyTest();
		file.write(file.topology(1));
		const opening = file.open();
		await until("version 1 to be read", () => file.events.length === 1);
		file.write(file.topology(2));
		await using corkboard = await opening;
		await until("version 2 to be loaded", () => file.events.length === 2);
		assert.deepEqual(file.events, ["loaded 1", "loaded 2"]);
		assert.deepEqual(corkboard.storage.map.openShards, [0]);
	});

	test("does not stop the start where it is bad and a good copy was kept; the problem is reported", async () => {
		await using file = await topologyTest();
		writeFileSync(`${file.path}.kept`, JSON.stringify(file.topology(3)));
		file.write('{"version": 4,');
		await using corkboard = await file.open();
		assert.deepEqual(file.events, ["rejected 3"]);
		assert.deepEqual(corkboard.storage.map.openShards, [0]);
		assert.match(
			corkboard.topologyProblem?.message ?? "",
			/version 3, the last good one, is used instead/,
		);
		file.write(file.topology(4));
		await until("version 4 to be loaded", () =>
			file.events.includes("loaded 4"),
		);
	});

	test("stops the start where it is bad and no copy was kept", async () => {
		await using file = await topologyTest();
		file.write("{");
		await assert.rejects(file.open(), { code: "BAD_TOPOLOGY" });
	});
});

/** A query whose reads are recorded, as for an answer that is kept. */
function recordedOperation() {
	return {
		document: INTERESTS,
		operationName: undefined,
		variables: {},
		viewer: null,
		deadline: { isOver: false, signal: new AbortController().signal },
		source: "",
		explain: false,
		recordsReads: true,
		record: null,
		costMeter: createCostMeter({
			isReported: true,
			budget: null,
			budgetKey: () => "",
		}),
	};
}
