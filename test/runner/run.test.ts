import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { startProgram } from "../helpers/program.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";

const RUN = join(import.meta.dirname, "../run.ts");

/** `npm test -- ARGUMENT …`, with a temporary folder of its own. */
function start(folder: string, ...args: string[]) {
	return startProgram(args, {
		command: [process.execPath, RUN],
		env: { TMPDIR: folder },
	});
}

/** The processes whose temporary folder is this one, or below it. */
function processesIn(folder: string): readonly string[] {
	return readdirSync("/proc").filter((pid) => {
		try {
			return readFileSync(`/proc/${pid}/environ`, "latin1")
				.split("\0")
				.some((entry) => entry.startsWith(`TMPDIR=${folder}`));
		} catch {
			return false;
		}
	});
}

describe("a test run", () => {
	test("prints how many tests passed and failed, leaves no file, and can run beside another", async () => {
		using folder = temporaryFolder();
		await using one = start(folder.path, "util/boundedMap");
		await using other = start(folder.path, "util/boundedMap");
		for (const run of [one, other]) {
			const { code, out } = await run.ended;
			assert.equal(code, 0, out);
			assert.match(out, /^✓ test\/util\/boundedMap\.test\.ts /);
			assert.match(out, /\n\d+ passed, 0 failed\n$/);
		}
		assert.deepEqual(readdirSync(folder.path), []);
	});

	test("fails for a pattern that matches no file", async () => {
		using folder = temporaryFolder();
		await using run = start(folder.path, "no/such/file");
		const { code, out } = await run.ended;
		assert.equal(code, 1);
		assert.match(out, /but found none\n/);
		assert.match(out, /\n0 passed, 1 failed\n$/);
	});

	test("takes the files of all patterns, and none if one of them matches no file", async () => {
		using folder = temporaryFolder();
		await using both = start(folder.path, "util/boundedMap", "util/quoted");
		await using mistyped = start(folder.path, "util/boundedMap", "util/qouted");
		const { code, out } = await both.ended;
		assert.equal(code, 0, out);
		for (const file of ["boundedMap", "quoted"]) {
			assert.match(out, new RegExp(`^✓ test/util/${file}\\.test\\.ts `, "m"));
		}
		const { code: failed, out: reason } = await mistyped.ended;
		assert.equal(failed, 1);
		assert.match(
			reason,
			/expected a test file like util\/qouted but found none/,
		);
		assert.match(reason, /\n0 passed, 1 failed\n$/);
	});

	test("prints its usage on request, and refuses an unknown option, without running anything", async () => {
		using folder = temporaryFolder();
		await using help = start(folder.path, "--help");
		await using unknown = start(folder.path, "--quick");
		const { code, out } = await help.ended;
		assert.equal(code, 0);
		assert.match(out, /^Usage: npm test -- /);
		assert.doesNotMatch(out, /\d passed/);
		const { code: refused, out: nothing, err } = await unknown.ended;
		assert.equal(refused, 2);
		assert.equal(nothing, "");
		assert.match(err, /^test: .*'--quick'/);
		assert.deepEqual(readdirSync(folder.path), []);
	});

	test("reports that it was stopped, ends every process it started, and prints its result", async () => {
		using folder = temporaryFolder();
		await using run = start(folder.path, "topology/lastGood");
		await until(
			"the file to run",
			() => processesIn(join(folder.path, "corkboard-test-")).length > 0,
		);
		run.send("SIGTERM");
		const { code, out } = await run.ended;
		assert.equal(code, 1);
		assert.match(out, /^✗ the run\n {4}Error: stopped by SIGTERM$/m);
		assert.match(
			out,
			/^✗ test\/topology\/lastGood\.test\.ts\n {4}was stopped$/m,
		);
		assert.match(out, /\n\d+ passed, [1-9]\d* failed\n$/);
		assert.deepEqual(processesIn(folder.path), []);
	});
});
