import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { command } from "../../helpers/runCommand.ts";

const folder = mkdtempSync(join(tmpdir(), "topology-"));
after(() => rmSync(folder, { recursive: true }));

function file(name: string, content: unknown): Record<string, string> {
	const path = join(folder, name);
	writeFileSync(path, JSON.stringify(content));
	return { CORKBOARD_TOPOLOGY: path };
}

describe("corkboard map check", () => {
	test("prints a valid topology and needs no secret", async () => {
		const env = file("good.json", {
			version: 3,
			shards: [
				{ range: [0, 9], primary: "sqlite:a", open: false },
				{ range: [10, 10], primary: "sqlite:b", open: true },
			],
			lookups: [{ range: [0, 3], primary: "sqlite:a" }],
		});
		assert.deepEqual(await command(["map", "check"], { env }), {
			code: 0,
			out: [
				`version 3 of ${env.CORKBOARD_TOPOLOGY}: good`,
				"11 shards, 1 open for new users; lookups on 4 mod shards",
				"  shards 0 to 9   sqlite:a",
				"  shards 10       sqlite:b  open",
				"  lookups 0 to 3  sqlite:a",
				"",
			].join("\n"),
			err: "",
		});
	});

	test("prints MySQL hosts without user and password", async () => {
		const env = file("mysql.json", {
			version: 3,
			shards: [
				{ range: [0, 9], primary: "mysql://me:secret@a:33", open: true },
			],
			lookups: [{ range: [0, 3], primary: "mysql://me:secret@b" }],
		});
		const { code, out } = await command(["map", "check", "--offline"], {
			env,
		});
		assert.equal(code, 0);
		assert.match(out, /shards 0 to 9 +mysql:\/\/a:33 {2}open\n/);
		assert.match(out, /lookups 0 to 3 +mysql:\/\/b:3306/);
		assert.doesNotMatch(out, /secret|me@|me:/);
	});

	const primary = "mysql://app:hunter2@db1:3306";
	const replica = "mysql://app:hunter2@db2";
	const fleet = (version: number, range: object = {}) => ({
		version,
		shards: [{ range: [0, 9], primary, replica, open: true, ...range }],
		lookups: [{ range: [0, 3], primary, replica }],
	});

	test("prints replicas and generations without user and password", async () => {
		const env = file("fleet.json", fleet(3, { generation: 2 }));
		const { code, out } = await command(["map", "check", "--offline"], {
			env,
		});
		assert.equal(code, 0);
		assert.equal(
			out,
			[
				`version 3 of ${env.CORKBOARD_TOPOLOGY}: good`,
				"10 shards, 10 open for new users; lookups on 4 mod shards",
				"  shards 0 to 9   mysql://db1:3306, replica mysql://db2:3306  open  generation 2",
				"  lookups 0 to 3  mysql://db1:3306, replica mysql://db2:3306",
				"",
			].join("\n"),
		);
	});

	test("reports that the second of two files is a valid change of the first, or equal to it", async () => {
		const old = file("old.json", fleet(3)).CORKBOARD_TOPOLOGY as string;
		const next = file("new.json", fleet(4, { primary: replica, generation: 1 }))
			.CORKBOARD_TOPOLOGY as string;
		const { code, out } = await command([
			"map",
			"check",
			"--offline",
			old,
			next,
		]);
		assert.equal(code, 0);
		assert.match(out, new RegExp(`^version 4 of ${next}: good\\n`));
		assert.match(out, new RegExp(`\\nmay follow version 3 of ${old}\\n$`));
		assert.match(
			(await command(["map", "check", "--offline", old, old])).out,
			new RegExp(`\\nthe same as ${old}\\n$`),
		);
	});

	test("rejects a second file that is not a valid change of the first, with every reason", async () => {
		const old = file("old.json", fleet(3)).CORKBOARD_TOPOLOGY as string;
		const next = file("new.json", fleet(2, { range: [0, 8], primary: replica }))
			.CORKBOARD_TOPOLOGY as string;
		assert.deepEqual(await command(["map", "check", old, next]), {
			code: 1,
			out: "",
			err: [
				`corkboard: ${next}: version: expected 3 or later but got: 2`,
				`corkboard: ${next}: shards: expected all shards that were there but got: none of 9`,
				`corkboard: ${next}: shards: expected a higher generation with another primary but got: the same one for 0 to 8`,
				"",
			].join("\n"),
		});
	});

	test("rejects a single file argument with its usage", async () => {
		const { code, err } = await command(["map", "check", "one.json"]);
		assert.equal(code, 2);
		assert.match(err, /Missing argument NEW\. Usage: map check \[OLD NEW\]/);
	});

	test("reports an unsupported host URL together with all other problems", async () => {
		const env = file("bad.json", {
			version: 0,
			shards: [{ range: [0, 9], primary: "postgres://a", open: true }],
			lookups: [{ range: [0, 3], primary: "sqlite:a" }],
		});
		const { code, err } = await command(["map", "check"], { env });
		assert.equal(code, 1);
		assert.match(
			err,
			/shards\[0\]\.primary: expected sqlite:FOLDER.* but got: postgres:/,
		);
		assert.match(err, /version: expected a positive integer but got: 0/);
	});

	test("rejects a missing file", async () => {
		const env = { CORKBOARD_TOPOLOGY: join(folder, "none.json") };
		const { code, err } = await command(["map", "check"], { env });
		assert.equal(code, 1);
		assert.match(err, /none\.json: expected a topology but got: nothing/);
	});
});
