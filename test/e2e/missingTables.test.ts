import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ask } from "../helpers/mysqlStorage.ts";
import { runProgram, serve } from "../helpers/program.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { startMysql } from "../services/mysql.ts";
import { reservePort } from "../services/port.ts";

test("a server on shards that lack a table of its version serves, and logs at its start which table it is and what creates it", async () => {
	using folder = temporaryFolder();
	await using mysql = await startMysql();
	const file = join(folder.path, "topology.json");
	const writeTopology = (primary: string, to = file) =>
		writeFileSync(
			to,
			JSON.stringify({
				version: 1,
				shards: [{ range: [0, 1], primary, open: true }],
				lookups: [{ range: [0, 0], primary }],
			}),
		);
	writeTopology(mysql.url);
	const env = {
		CORKBOARD_TOPOLOGY: file,
		CORKBOARD_SECRET: "of the tests of tables, 32 bytes or more",
		CORKBOARD_LOG: "info,json",
		HOST: "127.0.0.1",
	};
	const init = await runProgram(["init"], { env });
	assert.equal(init.code, 0, init.err);
	await ask(mysql, "DROP TABLE db00001.renumberings");
	{
		await using server = await serve(env);
		const [line] = await server.printed("out", /^.*"tables missing".*$/m);
		const { level, missing, tables, create } = JSON.parse(line);
		assert.deepEqual(
			{ level, missing, tables, create },
			{
				level: 50,
				missing: 1,
				tables: ["db00001.renumberings"],
				create: "npm run -s corkboard -- init",
			},
		);
		const response = await fetch(`${server.url}/health/ready`);
		assert.equal(response.status, 200);
	}
	const repaired = await runProgram(["init"], { env });
	assert.equal(repaired.code, 0, repaired.err);
	const check = await runProgram(["serve", "--check"], { env });
	assert.equal(check.code, 0, check.err);

	// A primary that takes no writes, caches that do not answer, a wrong password.
	await ask(mysql, "SET GLOBAL read_only = ON");
	await using reserved = await reservePort();
	const nobody = `127.0.0.1:${reserved.port}`;
	const broken = await runProgram(["serve", "--check"], {
		env: {
			...env,
			CORKBOARD_MEMCACHED: nobody,
			CORKBOARD_REDIS: `redis://${nobody}`,
		},
	});
	assert.equal(broken.code, 1);
	const host = new URL(mysql.url).host;
	assert.match(
		broken.err,
		new RegExp(`memcached ${nobody} does not answer: .*ECONNREFUSED`),
	);
	assert.match(
		broken.err,
		new RegExp(`redis ${nobody} does not answer: .*ECONNREFUSED`),
	);
	assert.match(
		broken.err,
		new RegExp(`${host} is the primary of a range, but takes no writes`),
	);
	const url = new URL(mysql.url);
	url.password = "not the password";
	const other = join(folder.path, "other.json");
	writeTopology(url.href, other);
	const refused = await runProgram(["serve", "--check"], {
		env: { ...env, CORKBOARD_TOPOLOGY: other },
	});
	assert.equal(refused.code, 1);
	assert.match(
		refused.err,
		new RegExp(`${host} cannot be used: .*Access denied`),
	);
	assert.doesNotMatch(refused.err, /tables|not the password/);
});
