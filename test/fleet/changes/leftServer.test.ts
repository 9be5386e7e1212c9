import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ChangeFollower } from "../../../src/fleet/changes/followChanges.ts";
import { GtidSet } from "../../../src/storage/mysql/driver/gtidSet.ts";
import { openFileStore } from "../../../src/topology/file/fileStore.ts";
import { ask } from "../../helpers/mysqlStorage.ts";
import { MODEL, topologyOn } from "../../helpers/storageModel.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { startMysql } from "../../services/mysql.ts";
import type { Server } from "../../services/server.ts";

/** A way to a server that takes one connection, and closes each further one. */
async function onceTo(server: Server) {
	let taken = 0;
	const way = createServer((client) => {
		client.on("error", () => {});
		if (++taken > 1) return client.destroy();
		const upstream = connect(server.port, server.host);
		upstream.on("error", () => client.destroy());
		client.on("close", () => upstream.destroy());
		return client.pipe(upstream).pipe(client);
	});
	way.listen(0, "127.0.0.1");
	await once(way, "listening");
	const { port } = way.address() as AddressInfo;
	return {
		name: `127.0.0.1:${port}`,
		[Symbol.asyncDispose]: async () => {
			way.close();
		},
	};
}

test("a server that left the map and stops answering while it is read to its end is given up after a time, with a message, and the others go on", async () => {
	await using kept = await startMysql();
	await using left = await startMysql();
	await using way = await onceTo(left);
	using folder = temporaryFolder();
	const file = join(folder.path, "topology.json");
	writeFileSync(file, JSON.stringify(topologyOn(kept.url)));
	await using store = openFileStore(file);
	await ask(kept, "CREATE DATABASE before_it");
	await ask(left, "CREATE DATABASE only_there");
	const [row] = await ask(kept, "SELECT @@global.gtid_executed AS gtids");
	const said: string[] = [];
	const follower = new ChangeFollower({
		store,
		model: MODEL,
		selection: { fields: new Map(), mappings: new Map() },
		environment: {},
		since: { gtids: String(row?.gtids), owners: { "0-3": way.name } },
		take: async () => {},
		signal: new AbortController().signal,
		onFailure: () => {},
		onLeft: (server, reason) => void said.push(`${server}: ${reason}`),
		leftMs: 300,
		untilNow: true,
	});
	await follower.run();
	assert.equal(said.length, 1);
	assert.match(
		said[0] ?? "",
		new RegExp(`^${way.name}: \\d+ transactions of it were not read$`),
	);
});

test("a server that left the map is read to its end, however long the sink takes", async () => {
	await using kept = await startMysql();
	await using left = await startMysql();
	using folder = temporaryFolder();
	const file = join(folder.path, "topology.json");
	writeFileSync(file, JSON.stringify(topologyOn(kept.url)));
	await using store = openFileStore(file);
	for (const n of [1, 2, 3]) await ask(left, `CREATE DATABASE only_there_${n}`);
	const executed = async (server: Server) =>
		String(
			(await ask(server, "SELECT @@global.gtid_executed AS gtids"))[0]?.gtids,
		);
	const said: string[] = [];
	let now = 0;
	const follower = new ChangeFollower({
		store,
		model: MODEL,
		selection: { fields: new Map(), mappings: new Map() },
		environment: {},
		since: {
			gtids: await executed(kept),
			owners: { "0-3": `${left.host}:${left.port}` },
		},
		async take() {
			// Hours, in which it is looked again and again.
			for (let looks = 0; looks < 20; looks++) {
				await sleep(20);
				now += 600_000;
			}
		},
		signal: new AbortController().signal,
		onLeft: (server, reason) => void said.push(`${server}: ${reason}`),
		now: () => now,
		untilNow: true,
	});
	await follower.run();
	assert.deepEqual(said, []);
	const given = new GtidSet(follower.position().gtids);
	assert.ok(given.contains(new GtidSet(await executed(left))));
});
