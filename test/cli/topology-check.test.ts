import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { command } from "./captured.ts";

const folder = mkdtempSync(join(tmpdir(), "topology-"));
after(() => rmSync(folder, { recursive: true }));

function file(name: string, content: unknown): Record<string, string> {
	const path = join(folder, name);
	writeFileSync(path, JSON.stringify(content));
	return { CORKBOARD_TOPOLOGY: path };
}

describe("corkboard topology check", () => {
	test("tells what is in a good map, and needs no secret for it", async () => {
		const env = file("good.json", {
			version: 3,
			shards: [
				{ range: [0, 9], primary: "sqlite:a", open: false },
				{ range: [10, 10], primary: "sqlite:b", open: true },
			],
			lookups: [{ range: [0, 3], primary: "sqlite:a" }],
		});
		assert.deepEqual(await command(["topology", "check"], { env }), {
			code: 0,
			out: [
				`version 3 of ${env.CORKBOARD_TOPOLOGY}: good`,
				"11 shards, 1 of them open for new users; lookups on 4",
				"  shards 0 to 9   sqlite:a",
				"  shards 10       sqlite:b  open",
				"  lookups 0 to 3  sqlite:a",
				"",
			].join("\n"),
			err: "",
		});
	});

	test("names MySQL hosts without user and password", async () => {
		const env = file("mysql.json", {
			version: 3,
			shards: [
				{ range: [0, 9], primary: "mysql://me:secret@a:33", open: true },
			],
			lookups: [{ range: [0, 3], primary: "mysql://me:secret@b" }],
		});
		const { code, out } = await command(["topology", "check"], { env });
		assert.equal(code, 0);
		assert.match(out, /shards 0 to 9 +mysql:\/\/a:33 {2}open\n/);
		assert.match(out, /lookups 0 to 3 +mysql:\/\/b:3306/);
		assert.doesNotMatch(out, /secret|me@|me:/);
	});

	test("refuses hosts it has no driver for, and every other fault with them", async () => {
		const env = file("bad.json", {
			version: 0,
			shards: [{ range: [0, 9], primary: "postgres://a", open: true }],
			lookups: [{ range: [0, 3], primary: "sqlite:a" }],
		});
		const { code, err } = await command(["topology", "check"], { env });
		assert.equal(code, 1);
		assert.match(
			err,
			/shards\[0\]\.primary: expected sqlite:FOLDER.* but got: postgres:/,
		);
		assert.match(err, /version: expected a positive integer but got: 0/);
	});

	test("refuses a file that is not there", async () => {
		const env = { CORKBOARD_TOPOLOGY: join(folder, "none.json") };
		const { code, err } = await command(["topology", "check"], { env });
		assert.equal(code, 1);
		assert.match(err, /none\.json: ENOENT/);
	});
});
