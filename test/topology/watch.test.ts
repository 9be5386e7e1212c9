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
import { CHANNELS, type TopologyNews } from "../../src/diagnostics.ts";
import {
	type TopologyWatcher,
	type WatchOptions,
	watchTopology,
} from "../../src/topology/watch.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";

/** No test waits for the poll but the one about it. */
const NEVER_MS = 3_600_000;

function fleet(version: number, change: object = {}): object {
	return {
		version,
		shards: [{ range: [0, 7], primary: "sqlite:a", open: true }],
		lookups: [{ range: [0, 3], primary: "sqlite:a" }],
		...change,
	};
}

interface Watched {
	readonly folder: string;
	readonly path: string;
	readonly news: readonly string[];
	/** As an editor does that writes in place. */
	write(content: object | string): void;
	watch(options?: WatchOptions): TopologyWatcher;
}

/** A file in a folder of its own, and what is told of it. */
function watched(context: TestContext): Watched {
	const folder = temporaryFolder();
	const path = join(folder.path, "topology.json");
	const news: string[] = [];
	const note = (message: unknown) => {
		const told = message as TopologyNews;
		if (told.path !== path) return;
		const reason = told.error instanceof Error ? ` ${told.error.message}` : "";
		news.push(
			`${told.state} ${told.version}${reason.replaceAll(`${path}: `, "")}`,
		);
	};
	CHANNELS.topology.subscribe(note);
	const watchers: TopologyWatcher[] = [];
	context.after(async () => {
		for (const watcher of watchers) await watcher[Symbol.asyncDispose]();
		CHANNELS.topology.unsubscribe(note);
		folder[Symbol.dispose]();
	});
	return {
		folder: folder.path,
		path,
		news,
		write(content) {
			writeFileSync(
				path,
				typeof content === "string" ? content : JSON.stringify(content),
			);
		},
		watch(options) {
			const watcher = watchTopology(path, { pollMs: NEVER_MS, ...options });
			watchers.push(watcher);
			return watcher;
		},
	};
}

describe("a watched topology file", () => {
	test("is in use as it stands at the start, and after each edit", async (context) => {
		const file = watched(context);
		file.write(fleet(1));
		const changes: number[] = [];
		const watcher = file.watch({
			onChange: ({ version }) => void changes.push(version),
		});
		assert.equal(watcher.topology.version, 1);
		assert.equal(watcher.trouble, null);
		file.write(fleet(2));
		await until("version 2", () => watcher.topology.version === 2);
		file.write(fleet(5));
		await until("version 5", () => watcher.topology.version === 5);
		assert.deepEqual(changes, [2, 5]);
		assert.deepEqual(file.news, ["taken 1", "taken 2", "taken 5"]);
	});

	test("is seen again after another file took its name, again and again", async (context) => {
		const file = watched(context);
		file.write(fleet(1));
		const watcher = file.watch();
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

	test("is looked at from time to time where the file system tells nothing", async (context) => {
		const file = watched(context);
		const elsewhere = join(file.folder, "elsewhere");
		mkdirSync(elsewhere);
		const target = join(elsewhere, "target.json");
		writeFileSync(target, JSON.stringify(fleet(1)));
		// Of what happens in the folder it points to, its own hears nothing.
		symlinkSync(target, file.path);
		const watcher = file.watch({ pollMs: 100 });
		writeFileSync(target, JSON.stringify(fleet(2)));
		await until("version 2", () => watcher.topology.version === 2);
	});

	test("that is bad is refused once with every reason, and the last good one stays", async (context) => {
		const file = watched(context);
		file.write(fleet(3));
		const watcher = file.watch({ pollMs: 60 });
		const refused: readonly (readonly [string, object | string])[] = [
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
				"shards[0].primary: expected sqlite:FOLDER or mysql://USER:PASSWORD@HOST:PORT[?ssl-mode=MODE[&ssl-ca=FILE]] but got: postgres:",
				fleet(4, {
					shards: [{ range: [0, 7], primary: "postgres://b", open: true }],
				}),
			],
		];
		const news = ["taken 3"];
		for (const [reason, content] of refused) {
			file.write(content);
			news.push(`refused 3 ${reason}`);
			await until(reason, () => file.news.length === news.length);
			// Several looks at the same: it is not told again.
			await sleep(250);
			assert.deepEqual(file.news, news);
			assert.equal(watcher.topology.version, 3);
			assert.match(watcher.trouble?.message ?? "", /^.*topology\.json: /);
		}
		file.write(
			fleet(4, {
				shards: [
					{ range: [0, 7], primary: "sqlite:b", open: true, generation: 1 },
				],
			}),
		);
		await until("version 4", () => watcher.topology.version === 4);
		await until("no trouble", () => watcher.trouble === null);
		assert.deepEqual(file.news, [...news, "taken 4"]);
	});

	test("that went away is told, and seen when it is back", async (context) => {
		const file = watched(context);
		file.write(fleet(1));
		const watcher = file.watch();
		rmSync(file.path);
		await until("the loss told", () => watcher.trouble !== null);
		assert.match(watcher.trouble?.message ?? "", /ENOENT/);
		assert.equal(watcher.topology.version, 1);
		file.write(fleet(1));
		await until("no trouble", () => watcher.trouble === null);
	});

	test("that is being written is waited for, and nothing is told of its halves", async (context) => {
		const file = watched(context);
		file.write(fleet(1));
		const watcher = file.watch();
		for (let version = 2; ; version++) {
			const before = file.news.length;
			const longestMs = await writeInThirds(file, fleet(version));
			await until(
				`version ${version}`,
				() => watcher.topology.version === version,
			);
			// On a busy machine a half may stand still so long that it is taken for the whole.
			if (longestMs > 45 && version < 40) continue;
			assert.deepEqual(file.news.slice(before), [`taken ${version}`]);
			break;
		}
	});

	/** Answers how long (ms) the file stood still, at the longest. */
	async function writeInThirds(file: Watched, content: object) {
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

	test("is given again to whoever could not take it into use", async (context) => {
		const file = watched(context);
		file.write(fleet(1));
		let tries = 0;
		const watcher = file.watch({
			pollMs: 60,
			async onChange() {
				tries += 1;
				if (tries < 4) throw new Error("not yet");
			},
		});
		file.write(fleet(2));
		await until("version 2", () => watcher.topology.version === 2);
		assert.equal(tries, 4);
		assert.deepEqual(file.news, ["taken 1", "refused 1 not yet", "taken 2"]);
	});

	test("is looked at no more after the end", async (context) => {
		const file = watched(context);
		file.write(fleet(1));
		const watcher = file.watch({ pollMs: 20 });
		await watcher[Symbol.asyncDispose]();
		file.write(fleet(2));
		await sleep(200);
		assert.equal(watcher.topology.version, 1);
		assert.deepEqual(file.news, ["taken 1"]);
	});
});

describe("the last good topology, kept on disk", () => {
	const kept = (file: Watched) => join(file.folder, "kept.json");

	async function keep(file: Watched, version: number): Promise<void> {
		file.write(fleet(version));
		const watcher = file.watch({ keptAt: kept(file) });
		await watcher[Symbol.asyncDispose]();
	}

	test("is there for its owner alone, and follows each change", async (context) => {
		const file = watched(context);
		await keep(file, 1);
		const read = () => JSON.parse(readFileSync(kept(file), "utf8"));
		assert.deepEqual(read(), fleet(1));
		assert.equal(statSync(kept(file)).mode & 0o777, 0o600);
		file.watch({ keptAt: kept(file) });
		file.write(fleet(2));
		await until("a copy of version 2", () => read().version === 2);
	});

	test("is used at the start where the file is bad, older or gone, and that is told", async (context) => {
		const file = watched(context);
		await keep(file, 7);
		const bad: readonly (readonly [RegExp, () => void])[] = [
			[/expected JSON/, () => file.write("{")],
			[/expected 7 or later but got: 6/, () => file.write(fleet(6))],
			[/ENOENT/, () => rmSync(file.path)],
		];
		for (const [reason, spoil] of bad) {
			spoil();
			const watcher = file.watch({ keptAt: kept(file), pollMs: 60 });
			assert.deepEqual(watcher.topology.version, 7);
			const { message } = watcher.trouble as Error;
			assert.match(message, reason);
			assert.match(
				message,
				/kept\.json: version 7, the last good one, is used instead; remove this copy if .*topology\.json is right$/,
			);
			await sleep(300);
			assert.equal(file.news.filter((line) => reason.test(line)).length, 1);
			file.write(fleet(8));
			await until("version 8", () => watcher.topology.version === 8);
			await watcher[Symbol.asyncDispose]();
			rmSync(kept(file));
			await keep(file, 7);
		}
	});

	test("does not help where it is bad itself", async (context) => {
		const file = watched(context);
		writeFileSync(kept(file), "{");
		file.write("{");
		assert.throws(() => file.watch({ keptAt: kept(file) }), {
			code: "BAD_TOPOLOGY",
		});
		file.write(fleet(1));
		assert.equal(file.watch({ keptAt: kept(file) }).topology.version, 1);
	});

	test("is done without where it cannot be written, and that is told", async (context) => {
		const file = watched(context);
		file.write(fleet(1));
		const nowhere = join(file.folder, "none", "kept.json");
		const watcher = file.watch({ keptAt: nowhere });
		await until("it told", () => file.news.length === 2);
		assert.match(file.news[1] ?? "", /^unkept 1 ENOENT/);
		assert.equal(existsSync(nowhere), false);
		assert.equal(watcher.trouble, null);
	});

	test("is not there where nobody asked for it: a bad file stops the start", (context) => {
		const file = watched(context);
		file.write("{");
		assert.throws(() => file.watch(), { code: "BAD_TOPOLOGY" });
	});
});
