import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { startProgram } from "../helpers/program.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";

const RUN = join(import.meta.dirname, "../run.ts");

/** `npm test -- PATTERN`, with a temporary folder of its own. */
function start(pattern: string, folder: string) {
	return startProgram([pattern], {
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
		await using one = start("util/boundedMap", folder.path);
		await using other = start("util/boundedMap", folder.path);
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
		await using run = start("no/such/file", folder.path);
		const { code, out } = await run.ended;
		assert.equal(code, 1);
		assert.match(out, /but found none\n/);
		assert.match(out, /\n0 passed, 1 failed\n$/);
	});

	test("reports that it was stopped, ends every process it started, and prints its result", async () => {
		using folder = temporaryFolder();
		await using run = start("topology/topologyFile", folder.path);
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
			/^✗ test\/topology\/topologyFile\.test\.ts\n {4}was stopped$/m,
		);
		assert.match(out, /\n\d+ passed, [1-9]\d* failed\n$/);
		assert.deepEqual(processesIn(folder.path), []);
	});
});
