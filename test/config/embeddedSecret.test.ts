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
import { embeddedSecret } from "../../src/config/embeddedSecret.ts";

describe("embeddedSecret", () => {
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
			const secret = await embeddedSecret(folder);
			assert.ok(secret.length >= 32);
			const { mode } = await stat(join(folder, "secret"));
			assert.equal((mode & 0o777).toString(8), "600");
			assert.deepEqual(await embeddedSecret(folder), secret);
			assert.equal(
				await readFile(join(folder, "secret"), "utf8"),
				`${Buffer.from(secret)}\n`,
			);
		}));

	test("concurrent calls return the same secret and leave no temporary files", () =>
		inFolder(async (folder) => {
			const secrets = await Promise.all(
				Array.from({ length: 20 }, () => embeddedSecret(folder)),
			);
			const distinct = new Set(
				secrets.map((secret) => Buffer.from(secret).toString()),
			);
			assert.equal(distinct.size, 1);
			assert.deepEqual(await readdir(folder), ["secret"]);
		}));

	test("creates a different secret in each folder", () =>
		inFolder(async (folder) => {
			const first = await embeddedSecret(join(folder, "a"));
			assert.notDeepEqual(await embeddedSecret(join(folder, "b")), first);
		}));

	test("rejects a file with a secret shorter than 32 bytes", () =>
		inFolder(async (folder) => {
			await writeFile(join(folder, "secret"), "");
			await assert.rejects(embeddedSecret(folder), {
				code: "BAD_CONFIG",
				message: /must hold a secret of at least 32 bytes but got: 0/,
			});
		}));
});
