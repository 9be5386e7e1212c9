import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { openCorkboard } from "../../src/app/openCorkboard.ts";
import { readConfig } from "../../src/config/config.ts";
import { CHANNELS, type TopologyEvent } from "../../src/diagnostics.ts";
import { openFileStore } from "../../src/topology/fileStore.ts";
import { openLastGood } from "../../src/topology/lastGood.ts";
import { asNobody } from "../helpers/asNobody.ts";
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

describe("where nothing can be written", () => {
	test("a command that changes the topology says that its file is read-only, not that the store is away", async () => {
		using folder = temporaryFolder();
		const file = join(folder.path, "topology.json");
		writeFileSync(file, text(1), { mode: 0o444 });
		for (const before of [() => {}, makeStoreFolder]) {
			before();
			chmodSync(folder.path, 0o555);
			const { code, err } = await asNobody(() =>
				command(["topology", "close", "0-3"], {
					env: { CORKBOARD_TOPOLOGY: file },
				}),
			);
			chmodSync(folder.path, 0o755);
			assert.equal(code, 1);
			assert.match(err, /can be read, not written: .*ConfigMap/);
			assert.doesNotMatch(err, /does not answer/);
		}

		/** Of somebody else, who has published there. */
		function makeStoreFolder(): void {
			mkdirSync(`${file}.d`);
			chmodSync(`${file}.d`, 0o555);
		}
	});

	test("a folder for embedded data is refused in a sentence", async () => {
		using folder = temporaryFolder();
		chmodSync(folder.path, 0o555);
		const config = readConfig({
			CORKBOARD_DATA: join(folder.path, "data"),
			CORKBOARD_DEMO: "off",
		});
		await assert.rejects(
			asNobody(() => openCorkboard(config)),
			{
				code: "BAD_CONFIG",
				message: /data folder .* cannot be written: .*CORKBOARD_DATA/,
			},
		);
		chmodSync(folder.path, 0o755);
	});

	test("the copy of the topology is missed once, not with each version, and again after it was kept", async () => {
		using folder = temporaryFolder();
		const file = join(folder.path, "topology.json");
		const place = join(folder.path, "later");
		writeFileSync(file, text(1));
		const failed: number[] = [];
		const record = (message: unknown) => {
			const { path, state, version } = message as TopologyEvent;
			if (path === file && state === "copyFailed") failed.push(version);
		};
		CHANNELS.topology.subscribe(record);
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
			await until("the copy", () => readdirSync(place).length === 1);
			assert.deepEqual(readdirSync(place), ["kept.json"]);
			assert.deepEqual(failed, [1]);
		} finally {
			CHANNELS.topology.unsubscribe(record);
		}
	});

	test("two processes with one process id, as in two containers, keep one copy on a volume without taking each other's file", async () => {
		using folder = temporaryFolder();
		const file = join(folder.path, "topology.json");
		const volume = join(folder.path, "volume");
		mkdirSync(volume);
		writeFileSync(file, text(1));
		const failed: unknown[] = [];
		const record = (message: unknown) => {
			const { path, state, error } = message as TopologyEvent;
			if (path === file && state === "copyFailed") failed.push(error);
		};
		CHANNELS.topology.subscribe(record);
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
			CHANNELS.topology.unsubscribe(record);
		}
	});
});
