import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { densityTable } from "../../bench/density/main.ts";
import type { QueueResults } from "../../bench/queue/report.ts";
import type { Results } from "../../bench/results.ts";
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

describe("the benchmark of density", () => {
	it("shows each fleet's figures, and how the last differs from the one with 32 shards", () => {
		const figures = { "init, s": 2 };
		const measured = [8, 32, 512].map((shards) => ({
			...{ shards, code: "this", minutes: 1 },
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
