import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { groupsOf } from "./groups.ts";

const root = mkdtempSync(join(tmpdir(), "groups-"));
after(() => rmSync(root, { recursive: true }));
for (const folder of ["helpers", "services"]) {
	mkdirSync(join(root, "test", folder), { recursive: true });
}

/** The path of a file with this text. */
function file(name: string, text = ""): string {
	const path = `test/${name}`;
	writeFileSync(join(root, path), text);
	return path;
}

test("files that start servers share processes, and those that start none; not those that are slow, wait before they declare tests, or say why not", () => {
	// This file itself imports neither.
	const services = "../services/mysql.ts";
	const helper = "./helpers/world.ts";
	file("services/mysql.ts");
	file("helpers/world.ts", `import { startMysql } from "${services}";`);
	const [a, c, e] = [file("a.test.ts"), file("c.test.ts"), file("e.test.ts")];
	const [b, g] = [
		file("b.test.ts", `import { world } from "${helper}";`),
		file("g.test.ts", `import "${helper}";`),
	];
	const slow = file("c.slow.test.ts");
	const waits = file("d.test.ts", "const [a] = await Promise.all([\n\tb,\n]);");
	const measures = file(
		"f.test.ts",
		"// Runs in a process of its own: it measures the heap.\n",
	);
	assert.deepEqual(groupsOf(root, [a, b, c, slow, waits, e, measures, g]), [
		[b, g],
		[a, c, e],
		[slow],
		[waits],
		[measures],
	]);
});

test("a process gets files until they are guessed to take too long together", () => {
	const files = Array.from({ length: 100 }, (_, n) =>
		file(`many-${n}.test.ts`, "x".repeat(8_000)),
	);
	const groups = groupsOf(root, files);
	assert.deepEqual(groups.flat(), files);
	assert.deepEqual(
		groups.map(({ length }) => length),
		[15, 15, 15, 15, 15, 15, 10],
	);
});
