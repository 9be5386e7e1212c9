import assert from "node:assert/strict";
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
