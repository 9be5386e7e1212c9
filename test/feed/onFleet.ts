import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join as pathOf } from "node:path";
import { test } from "node:test";
import pinsApp from "../../pins/app.ts";
import { type Corkboard, openCorkboard } from "../../src/app/openCorkboard.ts";
import { startCorkboardServer } from "../../src/app/startCorkboardServer.ts";
import { readConfig } from "../../src/config/config.ts";
import { ITEM_QUEUE } from "../../src/feed/jobBodies.ts";
import { ARCHIVE_QUEUE } from "../../src/graph/write/archiveJobs.ts";
import { createWrites } from "../../src/graph/write/createWrites.ts";
import type { Id } from "../../src/id/ids.ts";
import { type Job, PRIORITIES } from "../../src/queue/jobStore.ts";
import { createLog } from "../../src/server/log.ts";
import { join, type Member, made, mutate } from "../helpers/member.ts";
import { ask } from "../helpers/mysqlStorage.ts";
import { command } from "../helpers/runCommand.ts";
import { TcpProxy } from "../helpers/tcpProxy.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";
import type { Server } from "../services/server.ts";

/** Graph, queues and pools on one server, the pools through a link that can be cut, and feed lists on another one. */
export function feedOnFleet(graph: Server, feeds: Server): void {
	test("a home feed on a fleet shows what waited, answers while the host of the pools is down, and loses nothing", async () => {
		await using stack = new AsyncDisposableStack();
		const folder = stack.use(temporaryFolder());
		const link = stack.use(await TcpProxy.to(graph.port));
		const poolHost = new URL(graph.url);
		poolHost.port = String(link.port);
		const env = {
			PORT: "0",
			HOST: "127.0.0.1",
			CORKBOARD_TOPOLOGY: pathOf(folder.path, "topology.json"),
			CORKBOARD_SECRET: "of the test of feeds on a fleet 32 bytes",
			CORKBOARD_MODE: "development",
		};
		const range = { range: [0, 1], primary: graph.url };
		writeFileSync(
			env.CORKBOARD_TOPOLOGY,
			JSON.stringify({
				version: 1,
				shards: [{ ...range, open: true }],
				lookups: [{ range: [0, 0], primary: graph.url }],
				queues: [{ range: [0, 0], primary: graph.url }],
				pools: [{ range: [0, 1], primary: poolHost.href }],
				feeds: [{ range: [0, 1], primary: feeds.url }],
			}),
		);
		// Other tests of this server have pools there, of other users with the same ids.
		await ask(
			graph,
			"DROP DATABASE IF EXISTS pool00000",
			"DROP DATABASE IF EXISTS pool00001",
		);
		const init = await command(["init"], { env, open: openCorkboard });
		assert.equal(init.code, 0, init.err);

		const corkboard = stack.use(await openCorkboard(pinsApp, readConfig(env)));
		const log = createLog({
			level: "silent",
			format: "json",
			destination: { write() {} },
		});
		const server = stack.use(await startCorkboardServer(corkboard, { log }));
		stack.use(await corkboard.startWorker({ queues: null, concurrency: 4 }));

		const ada = await join(server.url, "ada_pins");
		const eve = await join(server.url, "eve_looks");
		const board = await made(ada, "createBoard", { name: "b" }, "board");
		const newPin = () => made(ada, "createPin", { boardId: board }, "pin");
		await mutate(eve, "followUser", { userId: ada.id }, "user { id }");
		assert.deepEqual((await homeFeed(eve)).pins, []);
		const { pools } = corkboard.feed?.parts ?? assert.fail();
		await until("the look to be noted", async () => {
			return (await pools.visit(eve.id as Id)) !== null;
		});

		const first = await newPin();
		await until("the pin to wait", async () => {
			const { waiting, pins } = await homeFeed(eve);
			return waiting === 1 || pins.includes(first);
		});
		await refreshUntil(eve, first);
		const [{ feedRows } = { feedRows: null }] = await ask(
			feeds,
			"SELECT (SELECT COUNT(*) FROM feed00000.user_home_feed) + (SELECT COUNT(*) FROM feed00001.user_home_feed) AS feedRows",
		);
		assert.equal(Number(feedRows), 1);

		// The host says nothing, then nobody listens.
		link.hold();
		await mutate(eve, "refreshHomeFeed", { userId: eve.id }, "added");
		assert.deepEqual(await homeFeed(eve), { waiting: null, pins: [first] });
		link.cut();
		const second = await newPin();
		await mutate(eve, "refreshHomeFeed", { userId: eve.id }, "added");
		assert.deepEqual(await homeFeed(eve), { waiting: null, pins: [first] });
		await until("a job to have failed", () => hasFailedJob(corkboard, second));

		link.restore();
		await refreshUntil(eve, second);
		const third = await newPin();
		await refreshUntil(eve, third);
		assert.deepEqual((await homeFeed(eve)).pins, [third, second, first]);
		assert.deepEqual(await reasonOf(eve), {
			source: "FOLLOWED_USER",
			via: { id: ada.id },
		});

		await mutate(
			eve,
			"deactivateUser",
			{ userId: eve.id },
			"deactivatedUserId",
		);
		await archiveNow(corkboard, eve.id as Id);
		await until("the pool to be deleted", async () => {
			const counts = [0, 1].flatMap((shard) =>
				["pool", "visits"].map(
					(table) =>
						`(SELECT COUNT(*) FROM pool0000${shard}.${table} WHERE user_id = ${eve.id})`,
				),
			);
			const [row] = await ask(graph, `SELECT ${counts.join(" + ")} AS entries`);
			return Number(row?.entries) === 0;
		});
	});
}

async function homeFeed(as: Member) {
	const { viewer } = await as.data<{
		viewer: {
			homeFeedWaiting: number | null;
			homeFeed: { nodes: readonly { id: string }[] };
		};
	}>("{ viewer { homeFeedWaiting homeFeed(first: 10) { nodes { id } } } }");
	return {
		waiting: viewer.homeFeedWaiting,
		pins: viewer.homeFeed.nodes.map(({ id }) => id),
	};
}

/** On a busy machine a look may add the pin after it has answered. */
async function refreshUntil(as: Member, pin: string): Promise<void> {
	await until("the pin in the feed", async () => {
		await mutate(as, "refreshHomeFeed", { userId: as.id }, "added");
		return (await homeFeed(as)).pins.includes(pin);
	});
}

async function reasonOf(as: Member): Promise<unknown> {
	const { viewer } = await as.data<{
		viewer: {
			homeFeed: { nodes: readonly { homeFeedReason: unknown }[] };
		};
	}>(
		"{ viewer { homeFeed(first: 1) { nodes { homeFeedReason { source via { id } } } } } }",
	);
	return viewer.homeFeed.nodes[0]?.homeFeedReason;
}

async function hasFailedJob(of: Corkboard, pin: string): Promise<boolean> {
	const jobs = await pendingJobs(of, ITEM_QUEUE, pin);
	return jobs.some(({ attempts }) => attempts > 0);
}

/** What happens to a closed account after 30 days. */
async function archiveNow(of: Corkboard, user: Id): Promise<void> {
	await createWrites(of.store).modify(user, (data) => ({
		...data,
		deactivated_at: new Date(Date.now() - 31 * 86_400_000).toISOString(),
	}));
	await until("the job", async () => {
		const jobs = await pendingJobs(of, ARCHIVE_QUEUE, user);
		const changed = await of.queues?.store.change(
			{ queue: ARCHIVE_QUEUE, shard: 0 },
			jobs,
			{ kind: "reschedule", due: Date.now() * 1_000 },
		);
		// One of the account's end, and one of this write when it is there too.
		return (changed ?? 0) > 0;
	});
}

async function pendingJobs(
	{ queues }: Corkboard,
	queue: string,
	matching: string,
): Promise<readonly Job[]> {
	const { store } = queues ?? assert.fail();
	const found = PRIORITIES.map((priority) =>
		store.scan(
			{ queue, shard: 0 },
			{ state: "pending", priority, matching, limit: 1_000 },
		),
	);
	return (await Promise.all(found)).flatMap(({ jobs }) => jobs);
}
