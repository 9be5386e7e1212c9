import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import pinsApp from "../../pins/app.ts";
import { openCorkboard } from "../../src/app/openCorkboard.ts";
import { readConfig } from "../../src/config/config.ts";
import { fleetStatus } from "../../src/fleet/fleetStatus.ts";
import { openMetrics } from "../../src/metrics/metrics.ts";
import { createLog } from "../../src/server/log.ts";
import { logEvents } from "../../src/server/logEvents.ts";
import { openFileStore } from "../../src/topology/file/fileStore.ts";
import { readMembers } from "../../src/topology/members.ts";
import { theModel } from "../helpers/model.ts";
import { ask } from "../helpers/mysqlStorage.ts";
import { command } from "../helpers/runCommand.ts";
import { TcpProxy } from "../helpers/tcpProxy.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";
import { startMysql } from "../services/mysql.ts";

const SECRET = "of the tests of status 32 bytes or more";

describe("the status of a fleet", () => {
	const folder = temporaryFolder();
	let mysql: Awaited<ReturnType<typeof startMysql>>;
	before(async () => {
		mysql = await startMysql();
		const init = await command(["init"], {
			env: environment(mysql.url),
			open: openCorkboard,
		});
		assert.equal(init.code, 0, init.err);
	});
	after(async () => {
		await mysql[Symbol.asyncDispose]();
		folder[Symbol.dispose]();
	});

	function environment(primary: string, name = "topology.json") {
		const file = join(folder.path, name);
		const range = { range: [0, 0], primary };
		writeFileSync(
			file,
			JSON.stringify({
				version: 1,
				shards: [{ ...range, open: true }],
				lookups: [range],
				queues: [range],
				pools: [range],
			}),
		);
		return { CORKBOARD_TOPOLOGY: file, CORKBOARD_SECRET: SECRET };
	}

	test("calls a host that says nothing unknown, and one that refuses down", async () => {
		await using link = await TcpProxy.to(mysql.port);
		const url = new URL(mysql.url);
		url.port = String(link.port);
		const env = environment(url.href, "linked.json");
		link.hold();
		const silent = await command(["status", "--json"], { env });
		assert.equal(silent.code, 1);
		const { hosts, problems } = JSON.parse(silent.out);
		assert.deepEqual([hosts[0].up, hosts[0].shards], [null, 1]);
		assert.match(problems[0], /has not answered in time: it is down, or/);
		const shown = await command(["status"], { env });
		assert.match(shown.out, /primary +unknown +–/);
		link.cut();
		const refused = await command(["status"], { env });
		assert.match(refused.out, /primary +down +–/);
	});

	test("does not take from the hosts' time what it waits for the store of the topology", async () => {
		await using nobody = await TcpProxy.to(mysql.port);
		nobody.hold();
		const kept = join(folder.path, "kept.json");
		environment(mysql.url, "kept.json");
		const config = readConfig({
			CORKBOARD_TOPOLOGY: `zk://127.0.0.1:${nobody.port}/corkboard`,
			CORKBOARD_TOPOLOGY_COPY: kept,
			CORKBOARD_SECRET: SECRET,
		});
		// The hosts have less than the store takes.
		const status = await fleetStatus(theModel(), config, {
			storeMs: 4_000,
			askMs: 3_500,
		});
		assert.equal(status.topology.store, "down");
		assert.deepEqual(
			status.hosts.map(({ error }) => error),
			[null],
		);
	});

	test("names an operation that stands half-way, with the server that it has locked", async () => {
		const env = environment(mysql.url, "operated.json");
		await using store = openFileStore(env.CORKBOARD_TOPOLOGY);
		const id = "promote-20261123023500-2a3b";
		const record = { id, kind: "promote", from: "a:3306", to: "b:3306" };
		const text = JSON.stringify({
			...record,
			format: 1,
			by: "somebody",
			began: "2026-11-23T02:35:00.000Z",
			step: "fencing",
			holder: "somebody/1-abcdef",
			version: null,
			loss: null,
			log: [],
		});
		await store.write([{ path: `operations/${id}`, revision: null, text }]);
		const { code, out } = await command(["status"], { env });
		assert.equal(code, 1);
		assert.match(
			out,
			/promote-\S+ stands at "fencing" and nobody runs it, so a:3306 is locked .*operations resume/,
		);
		const json = await command(["status", "--json"], { env });
		assert.deepEqual(JSON.parse(json.out).operations, [
			{
				id,
				step: "fencing",
				from: "a:3306",
				to: "b:3306",
				unknown: null,
				isHeld: false,
			},
		]);
	});

	test("counts missing tables of queues and pools at their host", async () => {
		const env = environment(mysql.url);
		await ask(mysql, "DROP DATABASE pool00000", "DROP DATABASE queue00000");
		const { code, out } = await command(["status"], { env });
		assert.equal(code, 1);
		const [, column] = /primary +up .* (\d+)$/m.exec(out) ?? [];
		assert.ok(Number(column) > 2, out);
		assert.match(out, new RegExp(`columns missing: ${column}\\.`));
		const init = await command(["init"], { env, open: openCorkboard });
		assert.equal(init.code, 0, init.err);
	});

	test("names a server whose clock is an hour before this machine's", async () => {
		const url = new URL(mysql.url);
		url.username = "plain";
		url.password = "plain";
		await ask(
			mysql,
			"CREATE USER plain@'%' IDENTIFIED BY 'plain'",
			"GRANT SELECT, INSERT, UPDATE, DELETE ON *.* TO plain@'%'",
			"GRANT REPLICATION CLIENT ON *.* TO plain@'%'",
			// It applies to all sessions but an administrator's: their time is fixed from their start.
			"SET GLOBAL init_connect = 'SET timestamp = UNIX_TIMESTAMP() + 3600'",
		);
		const env = environment(url.href, "clock.json");
		const lines: Record<string, unknown>[] = [];
		using _events = logEvents(
			createLog({
				level: "info",
				format: "json",
				destination: { write: (line) => lines.push(JSON.parse(line)) },
			}),
		);
		using metrics = openMetrics({ documents: 1 });
		try {
			const { code, out } = await command(["status"], { env });
			assert.equal(code, 1);
			assert.match(out, /its clock is 3[56]\d\d\.\d s before that of this/);
			const store = openFileStore(env.CORKBOARD_TOPOLOGY);
			{
				await using _store = store;
				await using _server = await openCorkboard(
					pinsApp,
					readConfig(env),
					"readWrite",
					"serve",
				);
				await until("the member to have compared its clock", async () =>
					(await readMembers(store)).some(({ clock }) => clock < -3_500),
				);
				const served = await command(["status"], { env });
				assert.match(
					served.out,
					/-\d+-\w+: its clock is 3[56]\d\d s behind those of the data/,
				);
				const text = await metrics.registry.metrics();
				assert.match(text, /clock_difference_seconds\{host=\S+\} 3[56]\d\d/);
			}
			const logged = lines.filter(
				({ msg }) => msg === "database clock differs",
			);
			assert.equal(logged.length, 1);
			assert.ok(Number(logged[0]?.seconds) > 3_500);
			const checked = await command(["hosts", "check"], { env });
			assert.equal(checked.out.match(/its clock is/g)?.length, 1, checked.out);
		} finally {
			await ask(mysql, "SET GLOBAL init_connect = ''");
			rmSync(join(folder.path, "clock.json"));
		}
	});
});
