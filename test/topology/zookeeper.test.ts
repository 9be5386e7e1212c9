import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { after, before, describe, test } from "node:test";
import { CHANNELS, type TopologyEvent } from "../../src/diagnostics.ts";
import { openLastGood } from "../../src/topology/lastGood.ts";
import type { TopologyStore } from "../../src/topology/store.ts";
import { openZookeeperStore } from "../../src/topology/zookeeper/zookeeperStore.ts";
import { until } from "../helpers/until.ts";
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
		const record = (message: unknown) => {
			const { path, state, version } = message as TopologyEvent;
			if (path === `zk://${root}`) events.push(`${state} ${version}`);
		};
		CHANNELS.topology.subscribe(record);
		const source = await openLastGood(store, { pollMs: 200 });
		source.follow(() => {});
		return {
			store,
			source,
			events,
			async [Symbol.asyncDispose]() {
				await source[Symbol.asyncDispose]();
				await store[Symbol.asyncDispose]();
				CHANNELS.topology.unsubscribe(record);
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
