import assert from "node:assert/strict";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readConfig } from "../../src/config/config.ts";
import { fleetStatus } from "../../src/fleet/fleetStatus.ts";
import { type Id, unpackId } from "../../src/id/ids.ts";
import { theModel } from "../helpers/model.ts";
import { ask } from "../helpers/mysqlStorage.ts";
import { serve } from "../helpers/program.ts";
import { command, runHere } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { timed } from "../helpers/timing.ts";
import { until } from "../helpers/until.ts";
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
		CORKBOARD_SECRET: "of the tests of tables 32 bytes or more",
		CORKBOARD_LOG: "info,json",
		HOST: "127.0.0.1",
	};
	const init = await runHere(["init"], { env });
	assert.equal(init.code, 0, init.err);
	// As an earlier version left them: without the table on any shard, and without remembering what it made.
	rmSync(`${file}.d`, { recursive: true });
	await ask(
		mysql,
		"DROP TABLE db00000.renumberings",
		"DROP TABLE db00001.renumberings",
	);
	{
		await using server = await serve(env);
		const [line] = await server.printed("out", /^.*"tables missing".*$/m);
		const { level, missing, tables, create } = JSON.parse(line);
		assert.deepEqual(
			{ level, missing, tables, create },
			{
				level: 50,
				missing: 2,
				tables: ["db00000.renumberings", "db00001.renumberings"],
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
		writeTopology(mysql.url, next, 2, [2, 3]);
		renameSync(next, file);
		const [line] = await server.printed("out", /^.*"shards held".*$/m);
		const { level, shards, missing, create } = JSON.parse(line);
		assert.deepEqual(
			{ level, shards, create, isMissing: missing > 20 },
			{
				level: 50,
				shards: [2, 3],
				create: "npm run -s corkboard -- init",
				isMissing: true,
			},
		);
		for (let n = 0; n < 8; n++) {
			const shard = await shardOfNewUser(server.url, `held_${n}`);
			assert.ok(shard <= 1, `a user on shard ${shard}`);
		}
		const init = await runHere(["init"], { env });
		assert.equal(init.code, 0, init.err);
		await server.printed("out", /^.*"shards open".*$/m);
		const shards2 = new Set<number>();
		for (let n = 0; n < 100 && Math.max(...shards2) < 2; n++) {
			shards2.add(await shardOfNewUser(server.url, `open_${n}`));
		}
		assert.ok(Math.max(...shards2) >= 2, "no user on the new shards");
	}
	const repaired = await runHere(["init"], { env });
	assert.equal(repaired.code, 0, repaired.err);
	const check = await runHere(["serve", "--check"], { env });
	assert.equal(check.code, 0, check.err);
	{
		let out = "";
		// A server that was just stopped is listed for some seconds.
		await until("a status with one member at most", async () => {
			const shown = await command(["status", "--json"], { env });
			assert.equal(shown.code, 0, shown.err);
			out = shown.out;
			return JSON.parse(out).members.length <= 1;
		});
		const { eventLoopDelayMs, members: _, ...status } = JSON.parse(out);
		assert.ok(eventLoopDelayMs >= 0);
		const name = new URL(mysql.url).host;
		assert.deepEqual(
			{ ...status, hosts: status.hosts.map(withoutMeasures) },
			{
				healthy: true,
				problems: [],
				operations: [],
				topology: {
					source: file,
					version: 2,
					shards: 4,
					openShards: 4,
					heldShards: [],
					store: null,
					modShards: 1,
				},
				hosts: [
					{
						host: name,
						role: "primary",
						up: true,
						error: null,
						readOnly: false,
						shards: 4,
						modShards: 1,
						feeds: 0,
						missingTables: 0,
						replication: null,
					},
				],
				caches: [],
			},
		);
	}

	// An edit that opens shards without tables, and a row that nobody delivers.
	await ask(
		mysql,
		// What a server that was killed left is younger, and comes first.
		"DELETE FROM corkboard.outbox",
		`INSERT INTO corkboard.outbox (shard, entry, ts) VALUES (1, '{}', ${(Date.now() - 300_000) * 1_000})`,
	);
	writeTopology(mysql.url, next, 3, [2, 5]);
	const edit = await command(["map", "check", file, next], { env });
	assert.equal(edit.code, 1);
	assert.match(edit.out, /may follow version 2/);
	assert.match(
		edit.err,
		/db00004\.\S+ is missing\.[\s\S]*Create them with npm run/,
	);
	const offline = await command(["map", "check", file, next, "--offline"], {
		env,
	});
	assert.equal(offline.code, 0, offline.err);
	const unwell = await command(["status"], {
		env: { ...env, CORKBOARD_TOPOLOGY: next },
	});
	assert.equal(unwell.code, 1);
	assert.match(unwell.out, /^not healthy: \d+ problems\n/);
	assert.match(unwell.out, /6 shards, 6 open, 2 of them held; 1 mod shards/);
	assert.match(unwell.out, /Tables and columns missing: \d+\./);

	// A primary that takes no writes, caches that do not answer, a wrong password.
	await ask(mysql, "SET GLOBAL read_only = ON");
	await using reserved = await reservePort();
	const nobody = `127.0.0.1:${reserved.port}`;
	const withoutCaches = {
		...env,
		CORKBOARD_MEMCACHED: nobody,
		CORKBOARD_REDIS: `redis://${nobody}`,
	};
	const status = await command(["status"], { env: withoutCaches });
	assert.equal(status.code, 1);
	assert.match(status.out, /^not healthy: 4 problems\n/);
	assert.match(status.out, /but takes no writes: it is read-only/);
	assert.match(status.out, /\d outbox entries that wait for delivery/);
	assert.match(status.out, new RegExp(`${nobody} +memcached +down\n`));
	assert.match(status.out, new RegExp(`${nobody} +redis +down\n`));

	// Hosts and caches that accept connections and answer nothing share one deadline.
	mysql.pause();
	const config = readConfig({
		...env,
		CORKBOARD_MEMCACHED: `127.0.0.1:${mysql.port}`,
		CORKBOARD_REDIS: `redis://127.0.0.1:${mysql.port}`,
	});
	const { result, ownMs } = await timed(() =>
		fleetStatus(theModel(), config, { askMs: 500 }),
	);
	assert.ok(ownMs < 1_500, `${ownMs} ms`);
	assert.deepEqual(
		[...result.hosts, ...result.caches].map(({ isSilent }) => isSilent),
		[true, true, true],
	);
	mysql.resume();

	const broken = await runHere(["serve", "--check"], { env: withoutCaches });
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
	const refused = await runHere(["serve", "--check"], {
		env: { ...env, CORKBOARD_TOPOLOGY: other },
	});
	assert.equal(refused.code, 1);
	assert.match(
		refused.err,
		new RegExp(`${host} cannot be used: .*Access denied`),
	);
	assert.doesNotMatch(refused.err, /tables|not the password/);
});

/** A host of `status --json` without what differs from run to run. */
function withoutMeasures({
	ms,
	version,
	outbox,
	clockSeconds,
	server,
	settings,
	...rest
}: Readonly<Record<string, unknown>>): object {
	// The server may have been killed before it delivered the last entry.
	assert.deepEqual(Object.keys(outbox as object), ["pending", "oldestSeconds"]);
	const of = (settings as readonly { readonly name: string }[]).map(
		({ name }) => name,
	);
	assert.ok(of.includes("table_open_cache"), String(of));
	assert.equal(typeof ms, "number");
	assert.equal(typeof clockSeconds, "number");
	assert.equal(typeof server, "string");
	assert.equal(typeof version, "string");
	return rest;
}

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
