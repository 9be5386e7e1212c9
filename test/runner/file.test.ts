import assert from "node:assert/strict";
import {
	mkdirSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { until } from "../helpers/until.ts";
import { type ProcessResult, runFiles } from "./file.ts";

const root = mkdtempSync(join(tmpdir(), "runner-"));
after(() => rmSync(root, { recursive: true }));

const HEAD = `import { test } from "node:test";\n`;
let runs = 0;

/** The runner's result for a test file with this text. */
async function run(text: string, { stallMs = 120_000 } = {}) {
	const { files, ...whole } = await runTogether([text], { stallMs });
	return { ...whole, ...(files[0] ?? assert.fail()) };
}

/** The runner's result for files with these texts, which share a process if there are several. */
function runTogether(
	texts: readonly string[],
	{ stallMs = 120_000 } = {},
): Promise<ProcessResult> {
	const { signal } = new AbortController();
	const onProgress = () => {};
	const folder = join(root, `run-${++runs}`);
	mkdirSync(folder);
	const [first = assert.fail(), ...others] = texts.map((text, n) => {
		const file = `made-up-${runs}-${n}.test.mjs`;
		writeFileSync(join(root, file), HEAD + text);
		return file;
	});
	const options = { root, folder, stallMs, signal, onProgress };
	return runFiles([first, ...others], options);
}

/** Whether the process has ended, or is a zombie. */
function hasEnded(pid: number): boolean {
	try {
		return / Z /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
	} catch {
		return true;
	}
}

describe("the runner of one test file", { concurrency: true }, () => {
	test("counts tests that pass and shows the seeds they print", async () => {
		const result = await run(
			`test("a", (t) => t.test("b", () => {})); console.log("seed 42, 10 runs");`,
		);
		assert.equal(result.passed, 2);
		assert.deepEqual(result.failures, []);
		assert.deepEqual(result.seeds, ["seed 42, 10 runs"]);
	});

	test("reports a failed test with its path and its error", async () => {
		const result = await run(
			`import { describe } from "node:test"; describe("outer", () => { test("inner", () => { throw new Error("broken on purpose"); }); test("fine", () => {}); });`,
		);
		assert.equal(result.passed, 1);
		assert.equal(result.failures.length, 1);
		assert.match(
			result.failures[0] ?? "",
			/^outer › inner\nError: broken on purpose/,
		);
	});

	test("fails skipped and todo tests", async () => {
		const result = await run(
			`import { describe } from "node:test"; test("a", { skip: true }, () => {}); test("b", (t) => t.skip("later")); test("c", { todo: true }, () => { throw 1; }); describe.skip("d", () => {}); test("e", () => {});`,
		);
		assert.equal(result.passed, 1);
		assert.deepEqual(result.failures, [
			"a: is skipped",
			"b: is skipped",
			"c: is todo",
			"d: is skipped",
		]);
	});

	test("fails a file that runs one test only", async () => {
		const alone = `{ ${"only"}: true }`;
		const result = await run(
			`test("a", () => {});\ntest("b", ${alone}, () => {});`,
		);
		assert.deepEqual(result.failures, [
			`line 3 runs one test only: test("b", ${alone}, () => {});`,
		]);
	});

	test("fails a suite without tests, as a loop over nothing makes it", async () => {
		const result = await run(
			`import { describe } from "node:test"; describe("outer", () => { describe("none", () => {}); test("a", () => {}); });`,
		);
		assert.equal(result.passed, 1);
		assert.deepEqual(result.failures, ["outer › none: is empty"]);
	});

	test("fails a file with an async suite, and has `node:test` follow no promises", async () => {
		const result = await run(
			`import { describe } from "node:test"; import { executionAsyncId as id } from "node:async_hooks"; test("a", async () => { await null; const before = id(); await null; if (id() !== before) throw new Error("follows"); });\n${"describe"}("b", async () => { test("c", () => {}); });`,
		);
		assert.equal(result.passed, 2);
		assert.deepEqual(result.failures, [
			`a suite is async, so its tests may not be in it: ${"describe"}("b", async () => { test("c", () => {}); });`,
		]);
	});

	test("fails a file with a test that does not run", async () => {
		const result = await run(
			`function uncalled() {\n\ttest("left out", () => {});\n}\ntest("a", () => {});`,
		);
		assert.deepEqual(result.failures, ["left out: did not run"]);
	});

	test("fails on an unhandled rejection during the tests and after them", async () => {
		const during = await run(
			`test("a", () => { setTimeout(() => Promise.reject(new Error("late")), 10); }); test("b", () => new Promise((done) => setTimeout(done, 100)));`,
		);
		assert.equal(during.failures.length, 1);
		assert.match(during.failures[0] ?? "", /"Error: late"/);
		assert.match(during.output, /uncaught: Error: late\n +at .*made-up/);
		const after = await run(
			`test("a", () => { setTimeout(() => Promise.reject(new Error("late")), 200).ref(); });`,
		);
		assert.ok(after.failures.length >= 1, "no failure reported");
	});

	test("fails a file without tests, and one that exits before its tests end", async () => {
		const empty = await run("");
		assert.deepEqual(empty.failures, [
			"has no tests, or ended before they did: exit code 0",
		]);
		const left = await run(
			`test("a", () => {}); test("b", async () => { process.exit(0); });`,
		);
		assert.deepEqual(left.failures, empty.failures);
	});

	test("fails a file that does not load", async () => {
		const result = await run(`import "./there-is-no-such-file.mjs";`);
		assert.equal(result.passed, 0);
		assert.equal(result.failures.length, 1);
		assert.match(result.output, /ERR_MODULE_NOT_FOUND/);
	});

	test("lets a test go on that prints how far it is", async () => {
		const result = await run(
			`test("a", async () => { for (let at = 0; at < 20; at++) { console.log(at); await new Promise((done) => setTimeout(done, 500)); } });`,
			{ stallMs: 6_000 },
		);
		assert.deepEqual(result.failures, []);
	});

	test("stops a file that reports nothing for too long, names the running test, and counts the passed ones", async () => {
		const result = await run(
			`import { describe } from "node:test"; test("a", () => {}); describe("outer", () => { test("inner", () => new Promise(() => { setInterval(() => {}, 1000); })); });`,
			{ stallMs: 6_000 },
		);
		assert.equal(result.passed, 1);
		assert.equal(
			result.failures[0],
			'reported and printed nothing for 6 s while "outer", "inner" ran: too slow, or something is still open',
		);
	});

	test("ends and reports processes left running, also those in their own process group", async () => {
		const result = await run(
			`import { spawn } from "node:child_process";
			for (const detached of [false, true]) spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)", "left-behind"], { detached, stdio: "ignore" }).unref(); test("a", () => {});`,
		);
		assert.equal(result.failures.length, 2);
		for (const failure of result.failures) {
			assert.match(failure, /^left running: [0-9]+ .*left-behind$/);
			const pid = Number(failure.split(" ")[2]);
			// The kernel takes a moment to end what SIGKILL was sent to.
			await until(`${pid} to have ended`, () => hasEnded(pid));
		}
	});

	test("runs several files in one process and judges each by itself", async () => {
		const result = await runTogether([
			`import { after } from "node:test"; globalThis.order = ["first"]; after(() => { globalThis.order.push("after"); }); test("a", () => {}); test("b", (t) => t.skip());`,
			`import assert from "node:assert"; test("a", () => { assert.deepEqual(globalThis.order, ["first", "after"]); });`,
			`import "./there-is-no-such-file.mjs";`,
			"",
			`import { describe } from "node:test"; describe("outer", () => { test("inner", () => { throw new Error("broken on purpose"); }); });`,
			`function uncalled() {\n\ttest("left out", () => {});\n}\ntest("a", () => {});`,
			"await null;",
		]);
		assert.deepEqual(result.failures, []);
		assert.deepEqual(
			result.files.map(({ passed }) => passed),
			[1, 1, 0, 0, 0, 1, 0],
		);
		const [skips, fine, missing, empty, broken, leftOut, awaits] =
			result.files.map(({ failures }) => failures);
		assert.deepEqual(skips, ["b: is skipped"]);
		assert.deepEqual(fine, []);
		assert.match(missing?.[0] ?? "", /there-is-no-such-file/);
		assert.deepEqual(empty, [
			"has no tests, or ended before they did: exit code 1",
		]);
		assert.match(broken?.[0] ?? "", /^outer › inner\nError: broken on purpose/);
		assert.deepEqual(leftOut, ["left out: did not run"]);
		assert.match(awaits?.[0] ?? "", /top-level await/);
	});

	test("fails the files that had not ended when the process of several did", async () => {
		// What the first has reported is written by then.
		const exit = `test("b", () => { setTimeout(() => process.exit(0), 500); return new Promise(() => {}); });`;
		const result = await runTogether([`test("a", () => {});`, exit, exit]);
		const early = "has no tests, or ended before they did: exit code 0";
		assert.deepEqual(
			result.files.map(({ failures }) => failures),
			[[], [early], [early]],
		);
	});

	test("names the file and its test in which the process of several is stuck", async () => {
		const result = await runTogether(
			[
				`test("a", () => {});`,
				`test("b", () => new Promise(() => { setInterval(() => {}, 1000); }));`,
				`test("c", () => {});`,
			],
			{ stallMs: 6_000 },
		);
		const [, stuck] = result.files;
		assert.deepEqual(result.failures, [
			`reported and printed nothing for 6 s while "${stuck?.file}", "b" ran: too slow, or something is still open`,
		]);
		assert.deepEqual(
			result.files.map(({ failures }) => failures),
			[[], ["did not end"], ["did not end"]],
		);
	});

	test("fails the process of several files for what came after a test's end, and for what is left running", async () => {
		const result = await runTogether([
			`test("a", () => { setTimeout(() => Promise.reject(new Error("late")), 10); });`,
			`import { spawn } from "node:child_process"; spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)", "left-behind"], { stdio: "ignore" }).unref(); test("b", () => new Promise((done) => setTimeout(done, 200)));`,
		]);
		assert.deepEqual(
			result.files.map(({ failures }) => failures),
			[[], []],
		);
		assert.match(
			result.failures[0] ?? "",
			/^left running: [0-9]+ .*left-behind$/,
		);
		assert.match(result.failures[1] ?? "", /"Error: late"/);
		assert.equal(result.failures.length, 2);
	});
});
