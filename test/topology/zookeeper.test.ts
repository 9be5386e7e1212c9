import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { parseStoredId, unpackId } from "../../src/id/ids.ts";
import {
	TOPOLOGY_CHANNELS,
	type TopologyEvent,
} from "../../src/topology/diagnostics.ts";
import { openLastGood } from "../../src/topology/guards/lastGood.ts";
import { readMembers } from "../../src/topology/members.ts";
import type { TopologyStore } from "../../src/topology/store.ts";
import { openZookeeperStore } from "../../src/topology/zookeeper/zookeeperStore.ts";
import { client } from "../helpers/client.ts";
import { serve } from "../helpers/program.ts";
import { runHere } from "../helpers/runCommand.ts";
import { TcpProxy } from "../helpers/tcpProxy.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";
import { startMysql } from "../services/mysql.ts";
import type { Server } from "../services/server.ts";
import { startZookeeper } from "../services/zookeeper.ts";
import { topologyStoreSuite } from "../suites/topologyStore.ts";

let server: Server;
before(async () => {
	server = await startZookeeper();
});
after(() => server.stop());

let places = 0;
const place = () => {
	const root = `/corkboard/place-${++places}`;
	return {
		root,
		open: async () =>
			openZookeeperStore({ name: "zk", servers: [server.address], root }),
		async [Symbol.asyncDispose]() {},
	};
};

topologyStoreSuite({ title: "ZooKeeper", place: async () => place() });

describe("a lost ZooKeeper", () => {
	const map = (version: number) => ({
		version,
		shards: [{ range: [0, 7], primary: "mysql://u:p@a", open: true }],
		lookups: [{ range: [0, 3], primary: "mysql://u:p@a" }],
	});

	/** Replaces the topology, as a publisher does. */
	async function publish(store: TopologyStore, version: number): Promise<void> {
		const current = await store.get("topology");
		const text = JSON.stringify(map(version));
		await store.write([
			{ path: "topology", revision: current?.revision ?? null, text },
		]);
	}

	async function follower(address: string, root: string) {
		const store = openZookeeperStore({
			name: `zk://${root}`,
			servers: [address],
			root,
			sessionMs: 2_000,
			waitMs: 500,
		});
		const events: string[] = [];
		const record = ({ path, state, version }: TopologyEvent) => {
			if (path === `zk://${root}`) events.push(`${state} ${version}`);
		};
		TOPOLOGY_CHANNELS.topology.subscribe(record);
		const source = await openLastGood(store, { pollMs: 200 });
		source.follow(() => {});
		return {
			store,
			source,
			events,
			async [Symbol.asyncDispose]() {
				await source[Symbol.asyncDispose]();
				await store[Symbol.asyncDispose]();
				TOPOLOGY_CHANNELS.topology.unsubscribe(record);
			},
		};
	}

	test("leaves the last good topology in use, is reported once, and is caught up with after a stop and a kill", async () => {
		const at = place();
		await using writer = await at.open();
		await publish(writer, 1);
		await using reader = await follower(server.address, at.root);
		const announced = reader.store.announce("members/m");
		await announced.set("here");
		server.pause();
		await until("the silence to be noticed", () => reader.events.length === 2);
		assert.equal(reader.source.topology.version, 1);
		assert.equal(reader.source.problem?.code, "UNAVAILABLE");
		server.resume();
		await until("the store again", () => reader.source.problem === null);
		await server.kill();
		await until("the loss to be noticed", () => reader.events.length === 4);
		await server.restart();
		await until("the store again", () => reader.source.problem === null);
		await until("the announcement", async () =>
			(await writer.list("members")).includes("m"),
		);
		await until("a publish", () =>
			publish(writer, 2).then(
				() => true,
				() => false,
			),
		);
		await until("version 2", () => reader.source.topology.version === 2);
		assert.deepEqual(reader.events, [
			"loaded 1",
			"unreachable 1",
			"loaded 1",
			"unreachable 1",
			"loaded 1",
			"loaded 2",
		]);
	});

	test("survives frames that are no answers, and a connection that is cut: whatever the server sends ends the connection at most", async () => {
		const at = place();
		await using writer = await at.open();
		await publish(writer, 1);
		const garbage = [
			Buffer.alloc(4),
			Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n"),
			Buffer.from([0, 0, 0, 5, 1, 2, 3, 4, 5]),
			Buffer.from([0, 0, 0, 16, 0, 0, 0, 77, ...new Array(12).fill(0)]),
		];
		let connections = 0;
		const proxy = createServer((client) => {
			const bad = garbage[connections++];
			const upstream = connect(server.port, "127.0.0.1");
			client.on("error", () => {});
			upstream.on("error", () => {});
			client.on("close", () => upstream.destroy());
			upstream.on("close", () => client.destroy());
			client.pipe(upstream);
			upstream.pipe(client, { end: false });
			if (bad !== undefined) setTimeout(() => client.write(bad), 300);
		});
		proxy.listen(0, "127.0.0.1");
		await once(proxy, "listening");
		const { port } = proxy.address() as AddressInfo;
		{
			await using reader = await follower(`127.0.0.1:${port}`, at.root);
			await until("all bad frames", () => connections > garbage.length);
			await publish(writer, 2);
			await until("version 2", () => reader.source.topology.version === 2);
		}
		proxy.close();
	});
});

test("a server fails no request while ZooKeeper is stopped, killed and away until the session has expired, nor while shards open on a new host", async () => {
	const at = place();
	await using one = await startMysql();
	await using two = await startMysql();
	await using link = await TcpProxy.to(server.port);
	using folder = temporaryFolder();
	const map = join(folder.path, "map.json");
	const range = { range: [0, 1], primary: one.url };
	writeFileSync(
		map,
		JSON.stringify({
			version: 1,
			shards: [{ ...range, open: true }],
			lookups: [range],
		}),
	);
	const env = {
		HOST: "127.0.0.1",
		CORKBOARD_SECRET: "of the tests of ZooKeeper 32 bytes or more",
		CORKBOARD_TOPOLOGY: `zk://${server.address}${at.root}`,
		CORKBOARD_TOPOLOGY_COPY: join(folder.path, "kept"),
	};
	const good = async (...args: readonly string[]) => {
		const { code, out, err } = await runHere(args, { env });
		assert.equal(code, 0, `${args.join(" ")}: ${out}${err}`);
		return out;
	};
	await good("map", "publish", map);
	await good("init");
	assert.match(await good("init", "--check"), /^nothing is missing: 2 shards/);
	await using api = await serve({
		...env,
		CORKBOARD_TOPOLOGY: `zk://127.0.0.1:${link.port}${at.root}`,
		CORKBOARD_TOPOLOGY_COPY: join(folder.path, "kept-by-server"),
	});
	await using store = await at.open();
	const member = async () => (await readMembers(store))[0] ?? null;
	await until("a member", async () => (await member())?.version === 1);

	const anybody = client(api.url);
	const ids: string[] = [];
	const failures: unknown[] = [];
	let isOver = false;
	const load = [0, 1].map(async (n) => {
		for (let count = 0; !isOver; count++) {
			const input = `username: "user_${n}_${count}", email: "${n}.${count}@example.com"`;
			const made = await anybody.post(
				`mutation { createUser(input: {${input}}) { user { id } } }`,
			);
			const { id } = (made.data as Made | undefined)?.createUser?.user ?? {};
			if (id === undefined) failures.push(made);
			else {
				ids.push(id);
				const read = await anybody.post(`{ node(id: "${id}") { id } }`);
				const { node } = (read.data ?? {}) as { node?: { id: string } };
				if (node?.id !== id) failures.push(read);
			}
			await sleep(250);
		}
	});
	const someMore = async () => {
		const before = ids.length;
		await until("more requests", () => ids.length > before + 6);
	};
	const topologyStore = async () => {
		const response = await fetch(`${api.url}/health/ready?verbose`);
		return (await response.json()).topologyStore.state;
	};
	try {
		await someMore();
		server.pause();
		await someMore();
		server.resume();
		await server.kill();
		await someMore();
		await server.restart();
		await until("the member again", async () =>
			member().then(
				(known) => known?.version === 1,
				() => false,
			),
		);
		link.cut();
		await until("the session's end", async () => (await member()) === null);
		await until("the loss", async () => (await topologyStore()) === "down");
		await someMore();
		link.restore();
		await until("the member again", async () => (await member()) !== null);
		await until(
			"the store again",
			async () => (await topologyStore()) === "up",
		);

		const opened = await good("shards", "open", "2-3", "--primary", two.url);
		assert.match(opened, /1 of 1 members serve version 2/);
		assert.match(opened, /version 3 opens them/);
		await until("version 3", async () => (await member())?.oldest === 3);
		const shardOf = (id: string) => unpackId(parseStoredId(id)).shard;
		await until("new users there", () => ids.some((id) => shardOf(id) > 1));
	} finally {
		isOver = true;
		await Promise.all(load);
	}
	assert.deepEqual(failures, []);
	const status = JSON.parse(await good("status", "--json"));
	assert.equal(status.topology.store, "up");
	assert.equal(status.members.length, 1);
	assert.equal(status.members[0].role, "serve");
});

interface Made {
	readonly createUser?: { readonly user?: { readonly id: string } };
}
