import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { densityTable } from "../../bench/density/main.ts";
import type { QueueResults } from "../../bench/queue/report.ts";
import type { Results } from "../../bench/results.ts";
import { shareOfCollector } from "../../bench/signed/garbage.ts";
import type { SignedResults } from "../../bench/signed/main.ts";
import { cpuTable } from "../../bench/signed/report.ts";
import { Taken } from "../../bench/signed/taken.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

const MAIN = join(import.meta.dirname, "../../bench/main.ts");
const LIMIT_MS = 240_000;

describe("the benchmark", () => {
	it("measures the embedded store beside canned bytes, and writes results, report and chart", async () => {
		using folder = temporaryFolder();
		const { stdout } = await promisify(execFile)(
			process.execPath,
			[
				MAIN,
				...["--only", "reads,writes,sqlite,canned"],
				...["--scale", "0.001", "--seconds", "0.2", "--warm", "0.01"],
				...["--rounds", "1", "--out", folder.path, "--json"],
			],
			{ timeout: LIMIT_MS, maxBuffer: 1 << 26 },
		);
		const read = (name: string) =>
			readFileSync(join(folder.path, name), "utf8");
		const results = JSON.parse(read("results.json")) as Results;
		assert.deepEqual(JSON.parse(stdout), results);
		const reads = results.cells.filter(({ section }) => section === "reads");
		assert.deepEqual(
			reads.map(({ variant, question }) => `${variant} ${question}`),
			["q1", "q2", "q3", "q4"].flatMap((query) => [
				`sqlite ${query}`,
				`canned ${query}`,
			]),
		);
		const writes = results.cells.filter(({ section }) => section === "writes");
		assert.equal(writes.length, 6);
		for (const cell of results.cells) {
			assert.equal(cell.errors, 0, cell.firstError);
			assert.ok(cell.requests > 0 && cell.cpuMs > 0 && cell.residentMb > 10);
			assert.ok(cell.p50 <= cell.p99 && cell.p99 <= cell.most);
		}
		const report = read("report.md");
		for (const row of [
			"embedded SQLite",
			"node:http, canned bytes",
			"createPin",
		]) {
			assert.ok(report.includes(row), `no ${row} in the report`);
		}
		assert.match(read("cells.jsonl"), /^(?:\{.*\}\n){14}$/);
	});

	it("measures misses, commits on disk and a board that is read and written at once, on a fleet", async () => {
		using folder = temporaryFolder();
		const { stdout } = await promisify(execFile)(
			process.execPath,
			[
				MAIN,
				...["--only", "misses,durable,hotBoard,missed,text,known"],
				...["--scale", "0.002", "--shards", "2", "--seconds", "0.3"],
				...["--warm", "0", "--rounds", "1", "--out", folder.path, "--json"],
			],
			{ timeout: LIMIT_MS, maxBuffer: 1 << 26 },
		);
		const { cells, notes } = JSON.parse(stdout) as Results;
		assert.deepEqual(notes, []);
		assert.deepEqual(
			cells.map(
				({ section, variant, question }) => `${section} ${variant} ${question}`,
			),
			[
				...["q1", "q2", "q3", "q4"].map((query) => `misses missed ${query}`),
				...["createPin", "followUser", "likePin"].flatMap((kind) => [
					`durable text ${kind}`,
					`durable text ${kind}`,
				]),
				...["hotBoard known 0 writes/s", "hotBoard known 20 writes/s"],
			],
		);
		for (const { errors, firstError, requests, p50, p99 } of cells) {
			assert.equal(errors, 0, firstError);
			assert.ok(requests > 0 && p50 > 0 && p50 <= p99);
		}
		const figure = (n: number, name: string) => cells.at(n)?.figures?.[name];
		// createPin, one after the other and sixteen at a time.
		const [alone = 0, together = 0] = [4, 5].map((n) =>
			figure(n, "transactions a write"),
		);
		assert.ok(alone > 0.5 && together < alone, `${alone}, ${together}`);
		assert.ok((figure(4, "statements a write") ?? 0) > 2);
		assert.equal(figure(-1, "stale"), 0);
		assert.equal(figure(-1, "writes"), 24);
		assert.equal(figure(-2, "writes"), 0);
		const report = readFileSync(join(folder.path, "report.md"), "utf8");
		assert.match(report, /\| memcached hits a request \|/);
	});

	it("refuses names and options that it does not know, with its usage", async () => {
		for (const args of [
			["--only", "nobody"],
			["feed", "--parts", "nobody"],
			["queue", "--systems", "nobody"],
			["signed", "--peers", "nobody"],
		]) {
			await assert.rejects(
				promisify(execFile)(process.execPath, [MAIN, ...args], {
					timeout: LIMIT_MS,
				}),
				({ code, stderr }: { code: number; stderr: string }) =>
					code === 2 && /knows no nobody/.test(stderr) && /usage:/.test(stderr),
			);
		}
	});
});

describe("the benchmark of signed-in viewers", () => {
	it("measures reads beside writes, at half of the load too, garbage, and the shapes", async () => {
		using folder = temporaryFolder();
		const out = join(folder.path, "results", "signed.json");
		const { stdout } = await promisify(execFile)(
			process.execPath,
			[
				MAIN,
				"signed",
				...["--peers", "none", "--scale", "0.005", "--viewers", "20"],
				...["--writes", "0,50", "--readers", "signed", "--rounds", "1"],
				...["--seconds", "0.3", "--warm", "0.4", "--seed", "77", "--out", out],
			],
			{ timeout: LIMIT_MS, maxBuffer: 1 << 26 },
		);
		const { seed, blend, half, shapes, garbage } = JSON.parse(
			readFileSync(out, "utf8"),
		) as SignedResults;
		assert.equal(seed, 77);
		const names = ["Corkboard, any document", "Corkboard, known documents"];
		assert.deepEqual(
			blend.map(({ row, title }) => `${row}: ${title}`),
			["signed, 0 % writes", "signed, 50 % writes"].flatMap((row) =>
				names.map((name) => `${row}: ${name}`),
			),
		);
		assert.equal(shapes.length, 5 * names.length);
		assert.equal(half.length, names.length);
		for (const cell of [...blend, ...half, ...shapes]) {
			assert.equal(cell.failed, 0, `${cell.row}: ${cell.firstError}`);
			assert.ok(cell.perSecond > 0 && cell.cpu > 0 && cell.residentMb > 10);
			assert.ok(cell.reads.p50 > 0 && cell.reads.p50 <= cell.reads.p99);
		}
		assert.deepEqual(
			blend.map(({ writes }) => writes.p50 > 0 && writes.p50 <= writes.p99),
			[false, false, true, true],
		);
		assert.deepEqual(Object.keys(garbage), names);
		for (const { profiled, paused } of Object.values(garbage)) {
			assert.ok(profiled < 1 && paused < 1);
		}
		assert.match(stdout, /^\| signed: two levels of follows \| \d/m);
	});

	it("compares with the best peer of each round", () => {
		const cell = (round: number, title: string, cpu: number) => ({
			row: "signed",
			round,
			title,
			cpu,
			databaseCpu: 0,
			perSecond: 1,
			reads: { p50: 1, p99: 1 },
			writes: { p50: 0, p99: 0 },
			residentMb: 1,
			refused: 0,
			failed: 0,
			firstError: null,
		});
		const cells = [
			...[cell(0, "ours", 1), cell(0, "a", 3), cell(0, "b", 2)],
			...[cell(1, "ours", 2), cell(1, "a", 3), cell(1, "b", 9)],
		];
		assert.equal(
			cpuTable("ms", cells, [
				{ title: "ours", isOurs: true },
				{ title: "a", isOurs: false },
				{ title: "b", isOurs: false },
			]),
			[
				"| ms | ours | a | b | best peer ÷ ours |",
				"| --- | ---: | ---: | ---: | ---: |",
				"| signed | 1.500 [1.000–2.000] | 3.000 [3.000–3.000] | 5.500 [2.000–9.000] | 1.75 [1.50–2.00] |",
			].join("\n"),
		);
	});

	it("counts the collector's part of the time in which the main thread did something", () => {
		const node = (id: number, functionName: string) => ({
			id,
			callFrame: { functionName },
		});
		assert.equal(
			shareOfCollector({
				nodes: [
					node(1, "(idle)"),
					node(2, "(garbage collector)"),
					node(3, "a"),
				],
				samples: [1, 2, 3, 1],
				timeDeltas: [0, 50, 10, 30],
			}),
			0.25,
		);
	});

	it("draws each like and each follow once, and none that is in the graph", () => {
		const taken = new Taken({
			users: [],
			boards: [],
			pins: [],
			likes: [{ user: 0, pin: 4 }],
			follows: [{ from: 0, to: 1 }],
		});
		assert.deepEqual(
			[taken.like(1, 5), taken.like(2, 5), taken.like(2, 5)],
			[false, true, false],
		);
		assert.deepEqual(
			[taken.follow(1, 2), taken.follow(2, 1), taken.follow(3, 3)],
			[false, true, false],
		);
	});
});

describe("the benchmark of density", () => {
	it("shows each fleet's figures, and how the last differs from the one with 32 shards", () => {
		const figures = { "init, s": 2 };
		const measured = [8, 32, 512].map((shards) => ({
			shards,
			code: "this",
			minutes: 1,
			figures: shards === 512 ? { "init, s": 6 } : figures,
		}));
		assert.equal(
			densityTable(measured),
			"| | 8 | 32 | 512 | 512 ÷ 32 |\n|---|---:|---:|---:|---:|\n| init, s | 2 | 2 | 6 | 3 |",
		);
	});

	it("refuses a number of shards that is not even", async () => {
		await assert.rejects(
			promisify(execFile)(process.execPath, [MAIN, "density", "--shards", "3"]),
			({ code, stderr }: { code: number; stderr: string }) =>
				code === 2 && /--shards must be even numbers/.test(stderr),
		);
	});
});

describe("the benchmark of the queue", () => {
	it("runs each job once on MySQL, and writes results and report", async () => {
		using folder = temporaryFolder();
		const { stdout } = await promisify(execFile)(
			process.execPath,
			[
				MAIN,
				"queue",
				...["--systems", "corkboard", "--loads", "burn", "--jobs", "300"],
				...["--rounds", "1", "--out", folder.path, "--json"],
			],
			{ timeout: LIMIT_MS, maxBuffer: 1 << 26 },
		);
		const results = JSON.parse(stdout) as QueueResults;
		const [cell] = results.cells;
		assert.equal(cell?.error, undefined);
		const {
			jobs,
			lost,
			repeats,
			perSecond = 0,
			workerMs = 0,
		} = cell?.values ?? {};
		assert.deepEqual(
			{ jobs, lost, repeats },
			{ jobs: 300, lost: 0, repeats: 0 },
		);
		assert.ok(perSecond > 0 && workerMs > 0);
		const report = readFileSync(join(folder.path, "report.md"), "utf8");
		assert.match(report, /\n\| Corkboard \| /);
	});
});
