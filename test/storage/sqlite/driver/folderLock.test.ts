import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { lockFolder } from "../../../../src/storage/sqlite/driver/folderLock.ts";
import { temporaryFolder } from "../../../helpers/temporaryFolder.ts";

const MODULE = pathToFileURL(
	join(
		import.meta.dirname,
		"../../../../src/storage/sqlite/driver/folderLock.ts",
	),
).href;

/** Another process that locks the folder until it is killed or its stdin is closed. */
async function ownElsewhere(folder: string): Promise<ChildProcess> {
	const child = spawn(
		process.execPath,
		[
			"--input-type=module",
			"--eval",
			`import { lockFolder } from ${JSON.stringify(MODULE)};
			const owned = lockFolder(process.argv[1]);
			process.stdin.resume().on("end", () => owned[Symbol.dispose]());
			process.stdout.write("owned");`,
			folder,
		],
		{ stdio: ["pipe", "pipe", "inherit"] },
	);
	await once(child.stdout, "data");
	return child;
}

test("lockFolder rejects a folder locked by another process, and reports its pid", async () => {
	using folder = temporaryFolder();
	const owner = await ownElsewhere(folder.path);
	const ended = once(owner, "exit");
	assert.throws(() => lockFolder(folder.path), {
		code: "IN_USE",
		message: `The data folder ${folder.path} is in use by process ${owner.pid}.`,
	});
	owner.stdin?.end();
	await ended;
	using _ = lockFolder(folder.path);
});

test("lockFolder locks the folder of a killed process, despite its leftover owner.pid", async () => {
	using folder = temporaryFolder();
	const owner = await ownElsewhere(folder.path);
	const ended = once(owner, "exit");
	owner.kill("SIGKILL");
	await ended;
	assert.ok(readdirSync(folder.path).includes("owner.pid"));
	using _ = lockFolder(folder.path);
	assert.throws(() => lockFolder(folder.path), {
		code: "IN_USE",
		message: `The data folder ${folder.path} is in use by process ${process.pid}.`,
	});
});

test("lockFolder does not report the pid of an ended process", async () => {
	using folder = temporaryFolder();
	using _ = lockFolder(folder.path);
	for (const stale of ["", "no number", "4194305"]) {
		writeFileSync(join(folder.path, "owner.pid"), stale);
		assert.throws(() => lockFolder(folder.path), {
			code: "IN_USE",
			message: `The data folder ${folder.path} is in use by another process.`,
		});
	}
});

test("lockFolder creates a missing folder; releasing the lock twice is harmless", () => {
	using folder = temporaryFolder();
	const data = join(folder.path, "deep", "data");
	const owned = lockFolder(data);
	owned[Symbol.dispose]();
	const again = lockFolder(data);
	owned[Symbol.dispose]();
	assert.throws(() => lockFolder(data), { code: "IN_USE" });
	again[Symbol.dispose]();
	assert.deepEqual(readdirSync(data), ["lock.sqlite"]);
});
