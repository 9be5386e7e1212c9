import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { demoGraph } from "../../../pins/demo/graph.ts";
import type { CorkboardError } from "../../../src/errors.ts";
import type { Id } from "../../../src/id/ids.ts";
import { acquireImportLease } from "../../../src/ops/import/importLease.ts";
import { importLines } from "../../../src/ops/import/importLines.ts";
import type { ImportProgress } from "../../../src/ops/import/progress.ts";
import { verify } from "../../../src/ops/verify/verify.ts";
import { type LookupChange, REMOVED } from "../../../src/storage/rows.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import { seededRandom } from "../../../src/util/random.ts";
import { Death, Fault } from "../../helpers/death.ts";
import { openEmbedded } from "../../helpers/embedded.ts";
import {
	ada,
	board,
	bob,
	idOf,
	like,
	listOf,
	pin,
} from "../../helpers/importedGraph.ts";
import {
	dump,
	graphInKeys,
	importAll,
	START,
	sqlOn,
} from "../../helpers/importing.ts";
import { theFieldReaders } from "../../helpers/model.ts";
import { IS_SLOW_RUN, printedSeed } from "../../helpers/slowRun.ts";
import { until } from "../../helpers/until.ts";

const random = seededRandom(printedSeed());

/** A line of each kind. */
const LINES = [
	{ type: "Interest", key: "i:1", fields: { slug: "art", name: "Art" } },
	ada,
	bob,
	board,
	{ ...board, key: "b:2", fields: { owner: "u:bob", name: "Two" } },
	pin(1),
	{ ...pin(2), fields: { board: "b:2", origin: "p:1" } },
	{ edge: "filePin", from: "p:2", to: "i:1" },
	like("u:bob", "p:1"),
	{ edge: "followUser", from: "u:ada", to: "u:bob" },
	{ edge: "followUser", from: "u:bob", to: "u:ada" },
];

describe("an import that is run again", () => {
	it("changes nothing when it is run again", async () => {
		await using graph = await openEmbedded();
		const lines = [
			ada,
			bob,
			{ type: "User", key: "u:3", fields: { username: "ADA", name: "Third" } },
			board,
			pin(1),
			pin(2, { origin: "p:1" }),
			"bad",
			like("u:bob", "p:1"),
			{ edge: "followUser", from: "u:ada", to: "u:bob" },
		];
		await importAll(graph, lines);
		const before = dump(graph.folder);
		const { report } = await importAll(graph, lines);
		assert.deepEqual([report.existing, report.bad], [7, 2]);
		assert.deepEqual(dump(graph.folder), before);
	});

	it("leaves an edge that a user removed since as it is", async () => {
		await using graph = await openEmbedded();
		const lines = [ada, board, pin(1), like("u:ada", "p:1")];
		await importAll(graph, lines);
		const mapping = graph.mapping("likePin");
		const user = (await idOf(graph, "u:ada")) as Id;
		const liked = (await idOf(graph, "p:1")) as Id;
		await graph.writes.setEdge(mapping, user, liked, false);
		const { report } = await importAll(graph, lines);
		assert.equal(report.existing, 4);
		const [edge] = await graph.storage.read("edges", [
			{ mapping, from: user, to: liked },
		]);
		assert.ok(edge && !(edge instanceof Error));
		assert.equal(edge.state, REMOVED);
	});

	it("stops between batches when it is aborted, and the next run resumes it", async () => {
		await using graph = await openEmbedded();
		await using whole = await openEmbedded();
		const pins = Array.from({ length: 6_000 }, (_, n) => pin(n));
		const lines = [ada, board, ...pins];
		const aborted = new AbortController();
		const { report } = await importAll(
			graph,
			(function* () {
				for (const [at, line] of lines.entries()) {
					if (at === 5_000) aborted.abort();
					yield line;
				}
			})(),
			{ signal: aborted.signal },
		);
		assert.equal(report.status, "aborted");
		assert.equal(report.lines, 4_000);
		const second = await importAll(graph, lines);
		assert.equal(second.report.existing, 4_000);
		await importAll(whole, lines);
		const tops = await Promise.all(
			[graph, whole].map(async (one) => {
				const { list, edges } = await listOf(one, "placePin", "b:1");
				return [
					list.count,
					edges.map(({ sequence }) => list.lastSequence - sequence),
				];
			}),
		);
		assert.deepEqual(tops[0], tops[1]);
	});

	it("ends in the same graph wherever between two writes it dies", async () => {
		const now = () => START;
		await using whole = await openEmbedded();
		await importAll(whole, LINES, { now });
		const expected = graphInKeys(whole.folder);

		let deaths = 0;
		// Some, drawn at random: runs.slow.test.ts has a death before and after each write.
		for (let nth = 1; ; nth += IS_SLOW_RUN ? 1 : 1 + random.integer(0, 3)) {
			const death = new Death(nth);
			await using graph = await openEmbedded({
				wrap: (storage) => death.of(storage),
			});
			death.isNear = true;
			const dying = importAll(graph, LINES, { now });
			await dying.catch((error) => assert.match(String(error), /died here/));
			if (!death.hasCome) break;
			deaths++;
			death.isNear = false;
			sqlOn(
				graph.folder,
				/^mod/,
				"DELETE FROM lookups WHERE name = 'import state' AND key = 'lease'",
			);
			const { bad } = await importAll({ store: graph.cold() }, LINES, { now });
			assert.deepEqual(bad, []);
			assert.deepEqual(
				graphInKeys(graph.folder),
				expected,
				`after death ${nth}`,
			);
			assert.deepEqual((await verify(graph.cold())).damage, []);
		}
		assert.ok(
			deaths > (IS_SLOW_RUN ? 20 : 6),
			`expected many deaths but got: ${deaths}`,
		);
	});

	it("goes on by itself wherever a shard did not answer once, and ends in the same graph", async () => {
		const now = () => START;
		await using whole = await openEmbedded();
		await importAll(whole, LINES, { now });
		const expected = graphInKeys(whole.folder);

		let repeated = 0;
		// Before and after a write in turn, and not all: that takes long.
		for (let nth = 1; ; nth += 3) {
			const fault = new Fault(nth);
			await using graph = await openEmbedded({
				wrap: (storage) => fault.of(storage),
			});
			fault.isNear = true;
			const retries: string[] = [];
			const importing = importAll(graph, LINES, {
				now,
				retryAfterMs: [0],
				onRetry: ({ message }) => retries.push(message),
			});
			try {
				const { bad } = await importing;
				assert.deepEqual(bad, []);
			} catch (error) {
				// Before the first batch, or after the last one.
				assert.equal((error as CorkboardError).code, "UNAVAILABLE");
				assert.deepEqual(retries, []);
				continue;
			}
			if (!fault.hasCome) break;
			repeated += retries.length;
			// A lease that could not be given back expires.
			const facts = graphInKeys(graph.folder).filter(
				(fact) => !fact.startsWith("lookups import state lease"),
			);
			assert.deepEqual(facts, expected, `fault ${nth}`);
			assert.deepEqual((await verify(graph.cold())).damage, []);
		}
		assert.ok(repeated > 5, `expected many repeats but got: ${repeated}`);
	});

	it("ends in the same graph when it is killed again and again", async () => {
		const folder = mkdtempSync(join(tmpdir(), "corkboard-killed-"));
		try {
			const file = join(folder, "lines.ndjson");
			const lines = [...demoGraph()].map((line) => JSON.stringify(line));
			writeFileSync(file, lines.join("\n"));
			const whole = join(folder, "whole");
			const killed = join(folder, "killed");
			assert.equal(await importing(whole, file), false);
			for (const nth of IS_SLOW_RUN ? [1, 4, 9, 2, 16, 6] : [1, 9, 4]) {
				assert.ok(
					await importing(killed, file, nth),
					`expected a death at write ${nth}`,
				);
				// As if the seconds had passed until the lease of the dead is over.
				sqlOn(
					killed,
					/^mod/,
					"DELETE FROM lookups WHERE name = 'import state' AND key = 'lease'",
				);
			}
			assert.equal(await importing(killed, file), false);
			assert.deepEqual(graphInKeys(killed), graphInKeys(whole));
		} finally {
			rmSync(folder, { recursive: true, force: true });
		}
	});

	it("fails with IN_USE while another import runs", async () => {
		await using graph = await openEmbedded();
		await using lease = await acquireImportLease(graph.storage);
		await assert.rejects(importAll(graph, [bob]), {
			code: "IN_USE",
			message: "Another import is running on this graph. Run one at a time.",
		});
		await lease.assertHeld();
	});

	it("takes over the lease of a killed import when it expires", async () => {
		await using graph = await openEmbedded();
		await leave(graph.storage, 400);
		const began = Date.now();
		const waiting: string[] = [];
		const { report } = await importAll(graph, [ada], {
			onWaiting: (what) => waiting.push(what),
		});
		assert.deepEqual(report.objects, { User: 1 });
		assert.ok(Date.now() - began >= 390);
		assert.deepEqual(waiting, []);
	});

	it("reports once what it waits for, after a second", async () => {
		await using graph = await openEmbedded();
		await leave(graph.storage, 3_000);
		const began = Date.now();
		const reports: number[] = [];
		await importAll(graph, [ada], {
			onWaiting(what) {
				assert.equal(
					what,
					"the lease of an interrupted import, at most 5 seconds",
				);
				reports.push(Date.now() - began);
			},
		});
		assert.equal(reports.length, 1);
		assert.ok(
			(reports[0] ?? 0) >= 990,
			`expected a second but got: ${reports}`,
		);
	});

	it("stops when another import gives its import key to another object", async () => {
		let isRacing = true;
		await using graph = await openEmbedded({
			wrap: (storage) =>
				new Proxy(storage, {
					get(target, name) {
						const value: unknown = Reflect.get(target, name, target);
						if (typeof value !== "function") return value;
						if (name !== "compareAndSetLookups") return value.bind(target);
						return async (changes: readonly LookupChange[]) => {
							const own = changes.find((change) => change.name === "import");
							if (own !== undefined && isRacing) {
								isRacing = false;
								const next = { id: "1" as Id, token: "" };
								await target.compareAndSetLookups([{ ...own, next }]);
							}
							return target.compareAndSetLookups(changes);
						};
					},
				}),
		});
		await assert.rejects(importAll(graph, [ada]), {
			code: "BAD_DATA",
			message:
				/^Import key u:ada of the new User \d+ was given to another object by another import\.$/,
		});
	});

	it("stops when another process takes its lease", async () => {
		await using graph = await openEmbedded();
		const lease = await acquireImportLease(graph.storage);
		sqlOn(
			graph.folder,
			/^mod/,
			"UPDATE lookups SET token = '9999999999999 other' WHERE name = 'import state'",
		);
		await until("a try to renew it", async () => {
			try {
				await lease.assertHeld();
				return false;
			} catch (error) {
				assert.equal((error as CorkboardError).code, "IN_USE");
				return true;
			}
		});
		await lease[Symbol.asyncDispose]();
	});

	it("reports its progress, and the time left when it knows the size", async () => {
		await using graph = await openEmbedded();
		const pins = Array.from({ length: 5_000 }, (_, n) => pin(n));
		const bytes = Buffer.from(
			[ada, board, ...pins].map((line) => `${JSON.stringify(line)}\n`).join(""),
		);
		const middle = bytes.indexOf("\n", bytes.length / 2) + 1;
		async function* inTwoParts() {
			yield bytes.subarray(0, middle);
			await sleep(1_000);
			yield bytes.subarray(middle);
		}
		const reports: ImportProgress[] = [];
		await importLines(graph.store, Readable.from(inTwoParts()), {
			fields: theFieldReaders(),
			totalBytes: bytes.length,
			onProgress: (progress) => reports.push(progress),
		});
		const [first] = reports;
		assert.ok(first !== undefined);
		assert.ok(first.lines > 0 && first.lines < 5_002);
		assert.ok(first.perSecond > 0);
		assert.equal(first.totalBytes, bytes.length);
		assert.ok((first.secondsLeft ?? -1) >= 0);
	});
});

/** The lease of an import that was killed, good for so many milliseconds more. */
async function leave(storage: Storage, ms: number): Promise<void> {
	const next = { id: "0" as Id, token: `${Date.now() + ms} gone` };
	const row = { name: "import state", key: "lease", expect: null, next };
	await storage.compareAndSetLookups([row]);
}

/** Imports in a process of its own, which kills itself at its n-th write. Answers whether it came to that. */
async function importing(
	folder: string,
	file: string,
	dieAt = 0,
): Promise<boolean> {
	const child = spawn(
		process.execPath,
		[
			new URL("../../helpers/importing.ts", import.meta.url).pathname,
			folder,
			file,
			"4",
			String(dieAt),
		],
		{ stdio: ["ignore", "ignore", "inherit"] },
	);
	const [code, signal] = await once(child, "exit");
	if (signal === null) assert.equal(code, 0);
	else assert.equal(signal, "SIGKILL");
	return signal !== null;
}
