import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { makeOnce } from "../helpers/makeOnce.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { cacheFolder } from "./cache.ts";

const MODULE = join(import.meta.dirname, "../helpers/makeOnce.ts");
const CLONE = join(import.meta.dirname, "../../.cache/services");

describe("the cache's folder", () => {
	test("is in the clone unless the user has created one for all clones", () => {
		using home = temporaryFolder();
		assert.equal(cacheFolder({ XDG_CACHE_HOME: home.path }), CLONE);
		mkdirSync(join(home.path, "corkboard"));
		assert.equal(
			cacheFolder({ XDG_CACHE_HOME: home.path }),
			join(home.path, "corkboard/services"),
		);
	});

	test("is below the home folder's .cache where XDG_CACHE_HOME is not set", () => {
		const users = join(homedir(), ".cache/corkboard");
		assert.equal(
			cacheFolder({}),
			existsSync(users) ? join(users, "services") : CLONE,
		);
	});

	test("is TEST_SERVICES_CACHE if that is set", () => {
		assert.equal(
			cacheFolder({ TEST_SERVICES_CACHE: "/some/where" }),
			"/some/where",
		);
	});
});

describe("a folder that is made once", () => {
	test("is made by one of several concurrent processes, and used by all", async () => {
		using cache = temporaryFolder();
		const folder = join(cache.path, "thing");
		let times = 0;
		await Promise.all(
			Array.from({ length: 4 }, async () => {
				await makeOnce(folder, async (building) => {
					times++;
					await sleep(50);
					await writeFile(join(building, "file"), "whole");
				});
				assert.equal(await readFile(join(folder, "file"), "utf8"), "whole");
			}),
		);
		assert.equal(times, 1);
		assert.deepEqual(readdirSync(cache.path).toSorted(), [
			"thing",
			"thing.lock",
		]);
	});

	test("does not exist after a failure, and can be made later", async () => {
		using cache = temporaryFolder();
		const folder = join(cache.path, "thing");
		await assert.rejects(
			makeOnce(folder, async (building) => {
				await writeFile(join(building, "file"), "half");
				throw new Error("no more bytes");
			}),
			/^Error: no more bytes$/,
		);
		assert.deepEqual(readdirSync(cache.path), ["thing.lock"]);
		await makeOnce(folder, async (building) => {
			assert.deepEqual(readdirSync(building), []);
		});
		assert.ok(existsSync(folder));
	});

	test("is made by the next process when the first was killed midway, and no partial folder is left", async () => {
		using cache = temporaryFolder();
		const folder = join(cache.path, "thing");
		const child = spawn(
			process.execPath,
			[
				"--input-type=module",
				"--eval",
				`import { writeFileSync } from "node:fs";
				const { makeOnce } = await import(${JSON.stringify(MODULE)});
				await makeOnce(${JSON.stringify(folder)}, (building) => {
					writeFileSync(building + "/file", "half");
					console.log("half");
					setInterval(() => {}, 60_000);
					return new Promise(() => {});
				});`,
			],
			{ stdio: ["ignore", "pipe", "inherit"] },
		);
		await once(child.stdout, "data");
		let waited = true;
		const second = makeOnce(folder, async (building) => {
			waited = child.signalCode === "SIGKILL";
			writeFileSync(join(building, "other"), "");
		});
		await sleep(100);
		child.kill("SIGKILL");
		await second;
		assert.ok(waited, "the second did not wait for the first");
		assert.deepEqual(readdirSync(folder), ["other"]);
		assert.deepEqual(readdirSync(cache.path).toSorted(), [
			"thing",
			"thing.lock",
		]);
	});
});
