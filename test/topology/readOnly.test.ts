import assert from "node:assert/strict";
import {
	mkdirSync,
	readdirSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import pinsApp from "../../pins/app.ts";
import { openCorkboard } from "../../src/app/openCorkboard.ts";
import { readConfig } from "../../src/config/config.ts";
import { agreed } from "../../src/fleet/map/barrier.ts";
import {
	TOPOLOGY_CHANNELS,
	type TopologyEvent,
} from "../../src/topology/diagnostics.ts";
import { openFileStore } from "../../src/topology/file/fileStore.ts";
import { openLastGood } from "../../src/topology/guards/lastGood.ts";
import { command } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";

function text(version: number): string {
	return JSON.stringify({
		version,
		shards: [{ range: [0, 7], primary: "mysql://a@a:3306", open: true }],
		lookups: [{ range: [0, 3], primary: "mysql://a@a:3306" }],
	});
}

test("a map that kubelet mounts arrives elsewhere up to two minutes later, which waiting by time allows for; another one at once", async () => {
	using folder = temporaryFolder();
	const plain = join(folder.path, "plain.json");
	writeFileSync(plain, text(1));
	// As kubelet lays a ConfigMap out.
	mkdirSync(join(folder.path, "..2026_11_28"));
	writeFileSync(join(folder.path, "..2026_11_28/topology.json"), text(1));
	symlinkSync("..2026_11_28", join(folder.path, "..data"));
	const mounted = join(folder.path, "topology.json");
	symlinkSync("..data/topology.json", mounted);
	for (const [file, expected] of [
		[plain, 0],
		[mounted, 120_000],
	] as const) {
		await using store = openFileStore(file);
		assert.equal(store.arrivesMs, expected);
		assert.match((await store.get("topology"))?.text ?? "", /"version":1/);
	}
	const waiting = new AbortController();
	const store = {
		hasMembers: false,
		arrivesMs: 60_000,
		get: async () => null,
		list: async () => [],
		watch: () => ({ [Symbol.dispose]() {} }),
	};
	const waited = agreed(store, 2, 0, {
		byTimeMs: 1,
		signal: waiting.signal,
	});
	const early = await Promise.race([waited, sleep(50, "it waits")]);
	assert.equal(early, "it waits");
	waiting.abort();
	await assert.rejects(waited, { name: "AbortError" });
	assert.equal(
		(await agreed({ ...store, arrivesMs: 0 }, 2, 0, { byTimeMs: 1 })).by,
		"time",
	);
});

describe("where nothing can be written", () => {
	// The superuser of a container may write whatever the modes of files say, so paths lead where nobody can write.
	test("a command that changes the topology says that its file is read-only, not that the store is away", async () => {
		using folder = temporaryFolder();
		const file = join(folder.path, "topology.json");
		writeFileSync(file, text(1));
		const store = `${file}.d`;
		writeFileSync(store, "");
		await assertRefused();
		// Published by somebody else, on a file system that can only be read here.
		rmSync(store);
		mkdirSync(store);
		symlinkSync(join(folder.path, "none/db"), join(store, "store.sqlite"));
		await assertRefused();

		async function assertRefused(): Promise<void> {
			const { code, err } = await command(["shards", "close", "0-3"], {
				env: { CORKBOARD_TOPOLOGY: file },
			});
			assert.equal(code, 1);
			assert.match(err, /can be read, not written: .*ConfigMap/);
			assert.doesNotMatch(err, /does not answer/);
		}
	});

	test("a folder for embedded data is refused in a sentence", async () => {
		using folder = temporaryFolder();
		const file = join(folder.path, "file");
		writeFileSync(file, "");
		const config = readConfig({
			CORKBOARD_DATA: join(file, "data"),
			CORKBOARD_DEMO: "off",
		});
		await assert.rejects(openCorkboard(pinsApp, config), {
			code: "BAD_CONFIG",
			message: /data folder .* cannot be written: .*CORKBOARD_DATA/,
		});
	});

	test("the copy of the topology is missed once, not with each version, and again after it was kept", async () => {
		using folder = temporaryFolder();
		const file = join(folder.path, "topology.json");
		const place = join(folder.path, "later");
		writeFileSync(file, text(1));
		const failed: number[] = [];
		const record = ({ path, state, version }: TopologyEvent) => {
			if (path === file && state === "copyFailed") failed.push(version);
		};
		TOPOLOGY_CHANNELS.topology.subscribe(record);
		try {
			await using store = openFileStore(file, { pollMs: 20 });
			await using source = await openLastGood(store, {
				keptCopy: join(place, "kept.json"),
				pollMs: 20,
			});
			source.follow(() => {});
			for (const version of [2, 3]) {
				writeFileSync(file, text(version));
				await until("the version", () => source.topology.version === version);
			}
			await until("the failure", () => failed.length > 0);
			assert.deepEqual(failed, [1]);
			mkdirSync(place);
			writeFileSync(file, text(4));
			// It is written beside its place first.
			await until("the copy, and nothing else", () =>
				isDeepStrictEqual(readdirSync(place), ["kept.json"]),
			);
			assert.deepEqual(failed, [1]);
		} finally {
			TOPOLOGY_CHANNELS.topology.unsubscribe(record);
		}
	});

	test("two processes with one process id, as in two containers, keep one copy on a volume without taking each other's file", async () => {
		using folder = temporaryFolder();
		const file = join(folder.path, "topology.json");
		const volume = join(folder.path, "volume");
		mkdirSync(volume);
		writeFileSync(file, text(1));
		const failed: unknown[] = [];
		const record = ({ path, state, error }: TopologyEvent) => {
			if (path === file && state === "copyFailed") failed.push(error);
		};
		TOPOLOGY_CHANNELS.topology.subscribe(record);
		try {
			await using store = openFileStore(file);
			const keptCopy = join(volume, "kept.json");
			for (let round = 0; round < 10; round++) {
				await using first = await openLastGood(store, { keptCopy });
				await using second = await openLastGood(store, { keptCopy });
				first.follow(() => {});
				second.follow(() => {});
			}
			assert.deepEqual(failed, []);
			assert.deepEqual(readdirSync(volume), ["kept.json"]);
		} finally {
			TOPOLOGY_CHANNELS.topology.unsubscribe(record);
		}
	});
});
