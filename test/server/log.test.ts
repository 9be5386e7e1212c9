import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { suite, test } from "node:test";
import { createLog } from "../../src/server/log.ts";

function logged(format: "json" | "text"): {
	log: ReturnType<typeof createLog>;
	written: string[];
} {
	const written: string[] = [];
	const log = createLog({
		level: "info",
		format,
		destination: { write: (line) => written.push(line) },
	});
	return { log, written };
}

suite("the log", () => {
	test("loses lines on a full disk, and the process goes on", () => {
		const full = openSync("/dev/full", "w");
		const script = `
			import { createLog } from ${JSON.stringify(import.meta.resolve("../../src/server/log.ts"))};
			const log = createLog({ level: "info", format: "json" });
			for (let at = 0; at < 100; at++) log.error({ at }, "a line");
			for (let at = 0; at < 20_000; at++) log.info({ at }, "a".repeat(100));
			setTimeout(() => process.stderr.write("alive"), 50);`;
		const { status, stderr } = spawnSync(
			process.execPath,
			["--input-type=module", "-e", script],
			{ stdio: ["ignore", full, "pipe"], encoding: "utf8" },
		);
		closeSync(full);
		assert.deepEqual([status, stderr], [0, "alive"]);
	});

	test("prints a readable line as text", () => {
		const { log, written } = logged("text");
		log.info({ method: "GET", status: 200 }, "request");
		assert.match(
			written.join(""),
			/^\d\d:\d\d:\d\d\.\d{3} info {2}request method="GET" status=200\n$/,
		);
	});

	for (const format of ["json", "text"] as const) {
		test(`as ${format} prints one line for any text`, () => {
			const { log, written } = logged(format);
			log.info({ path: "a\nb\u001b[2J" }, "first\n12:00 info second");
			log.error({ err: new Error("x\ny") }, "third");
			assert.equal(written.length, 2);
			for (const line of written) {
				assert.equal(line.indexOf("\n"), line.length - 1);
				assert.ok(!line.includes("\u001b"));
			}
		});

		test(`as ${format} redacts credentials and variables`, () => {
			const { log, written } = logged(format);
			log.info({
				headers: { authorization: "sesame" },
				authorization: "sesame",
				token: "sesame",
				variables: { a: "sesame" },
			});
			assert.match(written.join(""), /\[Redacted\]/);
			assert.doesNotMatch(written.join(""), /sesame/);
		});
	}

	test("omits events below its level", () => {
		const { log, written } = logged("text");
		log.debug("quiet");
		assert.deepEqual(written, []);
	});
});
