import assert from "node:assert/strict";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Id, unpackId } from "../../src/id/ids.ts";
import { ask } from "../helpers/mysqlStorage.ts";
import { runProgram, serve } from "../helpers/program.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { startMysql } from "../services/mysql.ts";
import { reservePort } from "../services/port.ts";

test("a server on shards that lack a table of its version serves, and logs at its start which table it is and what creates it", async () => {
	using folder = temporaryFolder();
	await using mysql = await startMysql();
	const file = join(folder.path, "topology.json");
	const writeTopology = (
		primary: string,
		to = file,
		version = 1,
		added?: readonly [number, number],
	) =>
		writeFileSync(
			to,
			JSON.stringify({
				version,
				shards: [
					{ range: [0, 1], primary, open: true },
					...(added ? [{ range: added, primary, open: true }] : []),
				],
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
	// A range is opened while a server runs, before `init`.
	const next = join(folder.path, "next.json");
	{
		await using server = await serve({ ...env, CORKBOARD_MODE: "development" });
		writeTopology(mysql.url, next, 2, [2, 9]);
		renameSync(next, file);
		const [line] = await server.printed("out", /^.*"shards held".*$/m);
		const { level, shards, missing, create } = JSON.parse(line);
		assert.deepEqual(
			{ level, shards, create, isMissing: missing > 100 },
			{
				level: 50,
				shards: [2, 3, 4, 5, 6, 7, 8, 9],
				create: "npm run -s corkboard -- init",
				isMissing: true,
			},
		);
		for (let n = 0; n < 8; n++) {
			const shard = await shardOfNewUser(server.url, `held_${n}`);
			assert.ok(shard <= 1, `a user on shard ${shard}`);
		}
		const init = await runProgram(["init"], { env });
		assert.equal(init.code, 0, init.err);
		await server.printed("out", /^.*"shards open".*$/m);
		const shards2 = new Set<number>();
		for (let n = 0; n < 100 && Math.max(...shards2) < 2; n++) {
			shards2.add(await shardOfNewUser(server.url, `open_${n}`));
		}
		assert.ok(Math.max(...shards2) >= 2, "no user on the new shards");
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

/** Where a new user was stored. */
async function shardOfNewUser(url: string, username: string): Promise<number> {
	const response = await fetch(`${url}/graphql`, {
		method: "POST",
		headers: { "content-type": "application/json" },
		body: JSON.stringify({
			query: `mutation { createUser(input: {username: "${username}", name: "N"}) { user { id } } }`,
		}),
	});
	const { data, errors } = (await response.json()) as {
		data?: { createUser?: { user: { id: Id } } };
		errors?: unknown;
	};
	const id = data?.createUser?.user.id;
	assert.ok(id, JSON.stringify(errors));
	return unpackId(id).shard;
}
