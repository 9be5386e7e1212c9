import assert from "node:assert/strict";
import {
	mkdtemp,
	readdir,
	readFile,
	rm,
	stat,
	writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { embeddedSecrets } from "../../src/config/embeddedSecrets.ts";

describe("embeddedSecrets", () => {
	async function inFolder(use: (folder: string) => Promise<void>) {
		const folder = await mkdtemp(join(tmpdir(), "corkboard-secret-"));
		try {
			await use(folder);
		} finally {
			await rm(folder, { recursive: true });
		}
	}

	test("creates a secret readable by its owner only, and returns it again later", () =>
		inFolder(async (parent) => {
			const folder = join(parent, "data");
			const secrets = await embeddedSecrets(folder);
			assert.ok(secrets[0].length >= 32);
			const { mode } = await stat(join(folder, "secret"));
			assert.equal((mode & 0o777).toString(8), "600");
			assert.deepEqual(await embeddedSecrets(folder), secrets);
			assert.equal(
				await readFile(join(folder, "secret"), "utf8"),
				`${Buffer.from(secrets[0])}\n`,
			);
		}));

	test("concurrent calls return the same secret and leave no temporary files", () =>
		inFolder(async (folder) => {
			const secrets = await Promise.all(
				Array.from({ length: 20 }, () => embeddedSecrets(folder)),
			);
			const distinct = new Set(
				secrets.map(([secret]) => Buffer.from(secret).toString()),
			);
			assert.equal(distinct.size, 1);
			assert.deepEqual(await readdir(folder), ["secret"]);
		}));

	test("creates a different secret in each folder", () =>
		inFolder(async (folder) => {
			const first = await embeddedSecrets(join(folder, "a"));
			assert.notDeepEqual(await embeddedSecrets(join(folder, "b")), first);
		}));

	test("rejects a file with a secret shorter than 32 bytes", () =>
		inFolder(async (folder) => {
			await writeFile(join(folder, "secret"), "");
			await assert.rejects(embeddedSecrets(folder), {
				code: "BAD_CONFIG",
				message: /secret must have at least 32 bytes, got 0\. Correct it, or/,
			});
		}));

	test("takes several secrets of a file, each on its own line", () =>
		inFolder(async (folder) => {
			const [current, former] = ["n".repeat(32), "f".repeat(40)];
			await writeFile(join(folder, "secret"), `${current}\n${former}\n`);
			assert.deepEqual(await embeddedSecrets(folder), [
				Buffer.from(current),
				Buffer.from(former),
			]);
			await writeFile(join(folder, "secret"), `${current}\nhunter2\n`);
			await assert.rejects(embeddedSecrets(folder), {
				code: "BAD_CONFIG",
				message: /at least 32 bytes in each value, got 7 in value 2 of 2/,
			});
		}));
});
