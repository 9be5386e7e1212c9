import assert from "node:assert/strict";
import {
	appendFileSync,
	existsSync,
	mkdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
	TOPOLOGY_CHANNELS,
	type TopologyEvent,
} from "../../src/topology/diagnostics.ts";
import { openFileStore } from "../../src/topology/file/fileStore.ts";
import {
	type LastGoodOptions,
	type LastGoodTopology,
	openLastGood,
} from "../../src/topology/guards/lastGood.ts";
import type { Topology } from "../../src/topology/types.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";

/** For tests that do not depend on polling. */
const NEVER_MS = 3_600_000;

function fleet(version: number, change: object = {}): object {
	return {
		version,
		shards: [{ range: [0, 7], primary: "sqlite:a", open: true }],
		lookups: [{ range: [0, 3], primary: "sqlite:a" }],
		...change,
	};
}

interface FollowOptions extends LastGoodOptions {
	readonly onChange?: (topology: Topology) => void | Promise<void>;
}

interface TestFile {
	readonly folder: string;
	readonly path: string;
	readonly events: readonly string[];
	/** Overwrites the file in place, as some editors do. */
	write(content: object | string): void;
	/** Opens the file and starts following it. */
	follow(options?: FollowOptions): Promise<LastGoodTopology>;
}

/** A topology file in its own folder, and the events published for it. */
function topologyFile(context: TestContext): TestFile {
	const folder = temporaryFolder();
	const path = join(folder.path, "topology.json");
	const events: string[] = [];
	const record = (event: TopologyEvent) => {
		if (event.path !== path) return;
		const { state, version, error } = event;
		const reason = error instanceof Error ? ` ${error.message}` : "";
		events.push(`${state} ${version}${reason.replaceAll(`${path}: `, "")}`);
	};
	TOPOLOGY_CHANNELS.topology.subscribe(record);
	const watchers: AsyncDisposable[] = [];
	context.after(async () => {
		for (const watcher of watchers) await watcher[Symbol.asyncDispose]();
		TOPOLOGY_CHANNELS.topology.unsubscribe(record);
		folder[Symbol.dispose]();
	});
	return {
		folder: folder.path,
		path,
		events,
		write(content) {
			writeFileSync(
				path,
				typeof content === "string" ? content : JSON.stringify(content),
			);
		},
		async follow({ onChange = () => {}, ...options } = {}) {
			const pollMs = options.pollMs ?? NEVER_MS;
			const store = openFileStore(path, { pollMs });
			watchers.push(store);
			const watcher = await openLastGood(store, { pollMs, ...options });
			watchers.unshift(watcher);
			watcher.follow(onChange);
			return watcher;
		},
	};
}

describe("a followed topology file", () => {
	test("is loaded at the start and after each edit", async (context) => {
		const file = topologyFile(context);
		file.write(fleet(1));
		const changes: number[] = [];
		const watcher = await file.follow({
			onChange: ({ version }) => void changes.push(version),
		});
		assert.equal(watcher.topology.version, 1);
		assert.equal(watcher.problem, null);
		file.write(fleet(2));
		await until("version 2", () => watcher.topology.version === 2);
		file.write(fleet(5));
		await until("version 5", () => watcher.topology.version === 5);
		assert.deepEqual(changes, [2, 5]);
		assert.deepEqual(file.events, ["loaded 1", "loaded 2", "loaded 5"]);
	});

	test("is loaded with the edits made between opening and following it", async (context) => {
		const file = topologyFile(context);
		file.write(fleet(1));
		await using store = openFileStore(file.path, { pollMs: NEVER_MS });
		await using opened = await openLastGood(store);
		file.write(fleet(2));
		assert.equal(opened.topology.version, 1);
		const changes: number[] = [];
		opened.follow(({ version }) => void changes.push(version));
		await until("version 2", () => opened.topology.version === 2);
		assert.deepEqual(changes, [2]);
	});

	test("is loaded again each time another file replaces it", async (context) => {
		const file = topologyFile(context);
		file.write(fleet(1));
		const watcher = await file.follow();
		for (const version of [2, 3, 4]) {
			const beside = join(file.folder, "new");
			writeFileSync(beside, JSON.stringify(fleet(version)));
			renameSync(beside, file.path);
			await until(
				`version ${version}`,
				() => watcher.topology.version === version,
			);
		}
	});

	test("is polled if the file system reports no change", async (context) => {
		const file = topologyFile(context);
		const elsewhere = join(file.folder, "elsewhere");
		mkdirSync(elsewhere);
		const target = join(elsewhere, "target.json");
		writeFileSync(target, JSON.stringify(fleet(1)));
		// Changes in the target's folder cause no event in the folder of the link.
		symlinkSync(target, file.path);
		const watcher = await file.follow({ pollMs: 100 });
		writeFileSync(target, JSON.stringify(fleet(2)));
		await until("version 2", () => watcher.topology.version === 2);
	});

	test("is rejected once, with every reason, if it is bad; the last good version stays in use", async (context) => {
		const file = topologyFile(context);
		file.write(fleet(3));
		const watcher = await file.follow({ pollMs: 60 });
		const rejected: readonly (readonly [string, object | string])[] = [
			[
				"expected JSON but got: something else at position 19 (line 1 column 20)",
				'{"version": 4, "sha',
			],
			["version: expected 3 or later but got: 2", fleet(2)],
			[
				"version: expected a version after 3 for another map but got: the same version",
				fleet(3, {
					shards: [{ range: [0, 7], primary: "sqlite:a", open: true }].concat({
						range: [8, 9],
						primary: "sqlite:a",
						open: false,
					}),
				}),
			],
			[
				"shards[1].range: expected no overlap but got: 4 to 7, which shards[0].range has too",
				fleet(4, {
					shards: [
						{ range: [0, 7], primary: "sqlite:a", open: true },
						{ range: [4, 9], primary: "sqlite:a", open: true },
					],
				}),
			],
			[
				"shards: expected all shards that were there but got: none of 7",
				fleet(4, {
					shards: [{ range: [0, 6], primary: "sqlite:a", open: true }],
				}),
			],
			[
				"lookups: expected 4 mod shards, as when the fleet was made, but got: 5",
				fleet(4, { lookups: [{ range: [0, 4], primary: "sqlite:a" }] }),
			],
			[
				"shards: expected a higher generation with another primary but got: the same one for 0 to 7",
				fleet(4, {
					shards: [{ range: [0, 7], primary: "sqlite:b", open: true }],
				}),
			],
			[
				"shards[0].primary: expected sqlite:FOLDER or mysql://[USER:PASSWORD@]HOST:PORT[?ssl-mode=MODE[&ssl-ca=FILE][&password-file=FILE][&failover=lossless]] but got: postgres:",
				fleet(4, {
					shards: [{ range: [0, 7], primary: "postgres://b", open: true }],
				}),
			],
		];
		const events = ["loaded 3"];
		for (const [reason, content] of rejected) {
			file.write(content);
			events.push(`rejected 3 ${reason}`);
			await until(reason, () => file.events.length === events.length);
			// Further checks of the same text report nothing.
			await sleep(250);
			assert.deepEqual(file.events, events);
			assert.equal(watcher.topology.version, 3);
			assert.match(watcher.problem?.message ?? "", /^.*topology\.json: /);
		}
		file.write(
			fleet(4, {
				shards: [
					{ range: [0, 7], primary: "sqlite:b", open: true, generation: 1 },
				],
			}),
		);
		await until("version 4", () => watcher.topology.version === 4);
		await until("no problem", () => watcher.problem === null);
		assert.deepEqual(file.events, [...events, "loaded 4"]);
	});

	test("is reported missing after a delete, and loaded after it is restored", async (context) => {
		const file = topologyFile(context);
		file.write(fleet(1));
		const watcher = await file.follow();
		rmSync(file.path);
		await until(
			"the missing file to be reported",
			() => watcher.problem !== null,
		);
		assert.match(
			watcher.problem?.message ?? "",
			/expected a topology but got: nothing/,
		);
		assert.equal(watcher.topology.version, 1);
		file.write(fleet(1));
		await until("no problem", () => watcher.problem === null);
	});

	test("is not rejected while it is being written", async (context) => {
		const file = topologyFile(context);
		file.write(fleet(1));
		const watcher = await file.follow();
		for (let version = 2; ; version++) {
			const before = file.events.length;
			const longestMs = await writeInThirds(file, fleet(version));
			await until(
				`version ${version}`,
				() => watcher.topology.version === version,
			);
			// On a busy machine the pause between two writes can be so long that a part is read.
			if (longestMs > 45 && version < 40) continue;
			assert.deepEqual(file.events.slice(before), [`loaded ${version}`]);
			break;
		}
	});

	/** Returns the longest pause (ms) between two writes. */
	async function writeInThirds(file: TestFile, content: object) {
		const text = JSON.stringify(content);
		const third = Math.ceil(text.length / 3);
		let longestMs = 0;
		file.write("");
		for (let from = 0; from < text.length; from += third) {
			const began = performance.now();
			await sleep(30);
			appendFileSync(file.path, text.slice(from, from + third));
			longestMs = Math.max(longestMs, performance.now() - began);
		}
		return longestMs;
	}

	test("is passed to onChange again after onChange rejects", async (context) => {
		const file = topologyFile(context);
		file.write(fleet(1));
		let tries = 0;
		const watcher = await file.follow({
			pollMs: 60,
			async onChange() {
				tries += 1;
				if (tries < 4) throw new Error("not yet");
			},
		});
		file.write(fleet(2));
		await until("version 2", () => watcher.topology.version === 2);
		assert.equal(tries, 4);
		assert.deepEqual(file.events, [
			"loaded 1",
			"rejected 1 not yet",
			"loaded 2",
		]);
	});

	test("is loaded again when a bad edit is taken back, so that its end is reported too", async (context) => {
		const file = topologyFile(context);
		file.write(fleet(1));
		await file.follow({ pollMs: 20 });
		file.write("{");
		await until("a bad file", () => file.events.length === 2);
		file.write(fleet(1));
		await until("the good one", () => file.events.length === 3);
		assert.match(file.events[1] ?? "", /^rejected 1/);
		assert.equal(file.events[2], "loaded 1");
	});

	test("is not read after disposal", async (context) => {
		const file = topologyFile(context);
		file.write(fleet(1));
		const watcher = await file.follow({ pollMs: 20 });
		await watcher[Symbol.asyncDispose]();
		file.write(fleet(2));
		await sleep(200);
		assert.equal(watcher.topology.version, 1);
		assert.deepEqual(file.events, ["loaded 1"]);
	});
});

describe("the kept copy of the last good topology", () => {
	const kept = (file: TestFile) => join(file.folder, "kept.json");

	async function keep(file: TestFile, version: number): Promise<void> {
		file.write(fleet(version));
		const watcher = await file.follow({ keptCopy: kept(file) });
		await watcher[Symbol.asyncDispose]();
	}

	test("is readable by its owner only, and is replaced after each change", async (context) => {
		const file = topologyFile(context);
		await keep(file, 1);
		const read = () => JSON.parse(readFileSync(kept(file), "utf8"));
		assert.deepEqual(read(), fleet(1));
		assert.equal(statSync(kept(file)).mode & 0o777, 0o600);
		await file.follow({ keptCopy: kept(file) });
		file.write(fleet(2));
		await until("a copy of version 2", () => read().version === 2);
	});

	test("is used and reported at startup if the file is bad, older or missing", async (context) => {
		const file = topologyFile(context);
		await keep(file, 7);
		const bad: readonly (readonly [RegExp, () => void])[] = [
			[/expected JSON/, () => file.write("{")],
			[/expected 7 or later but got: 6/, () => file.write(fleet(6))],
			[/expected a topology but got: nothing/, () => rmSync(file.path)],
		];
		for (const [reason, spoil] of bad) {
			spoil();
			const watcher = await file.follow({ keptCopy: kept(file), pollMs: 60 });
			assert.deepEqual(watcher.topology.version, 7);
			const { message } = watcher.problem as Error;
			assert.match(message, reason);
			assert.match(
				message,
				/kept\.json: version 7, the last good one, is used instead; remove this copy if .*topology\.json is right$/,
			);
			await sleep(300);
			assert.equal(file.events.filter((line) => reason.test(line)).length, 1);
			file.write(fleet(8));
			await until("version 8", () => watcher.topology.version === 8);
			await watcher[Symbol.asyncDispose]();
			rmSync(kept(file));
			await keep(file, 7);
		}
	});

	test("is ignored if it is bad", async (context) => {
		const file = topologyFile(context);
		writeFileSync(kept(file), "{");
		file.write("{");
		await assert.rejects(file.follow({ keptCopy: kept(file) }), {
			code: "BAD_TOPOLOGY",
		});
		file.write(fleet(1));
		assert.equal(
			(await file.follow({ keptCopy: kept(file) })).topology.version,
			1,
		);
	});

	test("is reported but not required if it cannot be written", async (context) => {
		const file = topologyFile(context);
		file.write(fleet(1));
		const nowhere = join(file.folder, "none", "kept.json");
		const watcher = await file.follow({ keptCopy: nowhere });
		await until(
			"the failed copy to be reported",
			() => file.events.length === 2,
		);
		assert.match(file.events[1] ?? "", /^copyFailed 1 ENOENT/);
		assert.equal(existsSync(nowhere), false);
		assert.equal(watcher.problem, null);
	});

	test("is not used unless it is configured: a bad file throws BAD_TOPOLOGY", async (context) => {
		const file = topologyFile(context);
		file.write("{");
		await assert.rejects(file.follow(), { code: "BAD_TOPOLOGY" });
	});
});
