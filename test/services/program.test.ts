import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { mirrorOf } from "./debian.ts";
import { atLeast, searchProgram } from "./program.ts";

/** A folder with a program that only prints its version. */
function withProgram(name: string, version: string) {
	const folder = temporaryFolder();
	writeFileSync(join(folder.path, name), `#!/bin/sh\necho "${version}"\n`, {
		mode: 0o755,
	});
	// Below a file no folder can be made: nothing is downloaded.
	const file = join(folder.path, "file");
	writeFileSync(file, "");
	return { ...folder, cache: join(file, "cache") };
}

describe("a server program", () => {
	test("is found on the PATH with its version", async () => {
		using folder = withProgram("memcached", "memcached 1.6.18");
		const path = ["/nowhere", folder.path];
		assert.deepEqual(
			await searchProgram("memcached", { path, cache: folder.cache }),
			{
				name: "memcached",
				command: [join(folder.path, "memcached")],
				version: "1.6.18",
				root: null,
			},
		);
	});

	const refused = [
		["mysqld", "mysqld  Ver 8.0.44 for Linux on x86_64", "8.0.44", "MySQL 8.4"],
		[
			"mysqld",
			"mysqld  Ver 11.8.9-MariaDB-4 for debian-linux-gnu on x86_64",
			"no MySQL",
			"MySQL 8.4",
		],
		[
			"mariadbd",
			"mariadbd  Ver 10.6.1-MariaDB for Linux",
			"10.6.1",
			"MariaDB 10.11",
		],
		["redis-server", "Redis server v=6.2.7 sha=0", "6.2.7", "Redis 7.0"],
		["memcached", "memcached 1.5.22", "1.5.22", "memcached 1.6"],
	] as const;
	for (const [name, printed, found, wanted] of refused) {
		test(`that prints "${printed}" is rejected as ${name} with a message that says what to install`, async () => {
			using folder = withProgram(name, printed);
			const file = join(folder.path, name);
			await assert.rejects(
				searchProgram(name, { path: [folder.path], cache: folder.cache }),
				({ message }: Error) => {
					assert.ok(
						message.startsWith(
							`expected a ${name} to run but got none. Install ${wanted} or later so that ${name} is on the PATH, or give addresses with TEST_`,
						),
						message,
					);
					assert.ok(message.includes(`(${file} is ${found}; `), message);
					return true;
				},
			);
		});
	}

	test("has a version that is compared number by number", () => {
		assert.equal(atLeast("10.11.6", "10.11"), true);
		assert.equal(atLeast("10.9.6", "10.11"), false);
		assert.equal(atLeast("9.7.4", "8.4"), true);
		assert.equal(atLeast("8.4.0", "8.4"), true);
		assert.equal(atLeast("8.0.44", "8.4"), false);
	});
});

describe("the Debian mirror", () => {
	async function mirrorIn(name: string, text: string): Promise<string> {
		using folder = temporaryFolder();
		const file = join(folder.path, name);
		writeFileSync(file, text);
		return await mirrorOf([join(folder.path, "missing.sources"), file]);
	}

	test("is the first binary source of deb822 stanzas that is not for security", async () => {
		const text = `# ours
Types: deb-src
URIs: http://source.example/debian
Suites: bookworm

Types: deb
URIs: http://security.example/debian-security
Suites: bookworm-security

Types: deb deb-src
URIs: http://first.example/debian http://second.example/debian
Suites: bookworm bookworm-updates
`;
		assert.equal(
			await mirrorIn("debian.sources", text),
			"http://first.example/debian",
		);
	});

	test("is the first binary source of one-line entries that is not for security", async () => {
		const text = `# deb http://comment.example/debian bookworm main
deb-src http://source.example/debian bookworm main
deb http://security.example/debian-security bookworm-security main
deb [arch=amd64 signed-by=/a/b.gpg] http://first.example/debian bookworm main
deb http://second.example/debian bookworm main
`;
		assert.equal(
			await mirrorIn("sources.list", text),
			"http://first.example/debian",
		);
	});

	test("is named in the error when there is none", async () => {
		await assert.rejects(
			mirrorIn("sources.list", "# empty\n"),
			/expected Debian's address in .*sources\.list but got: none$/,
		);
	});
});
