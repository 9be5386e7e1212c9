import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
	checkDeadPromotion,
	type DeadOptions,
} from "../../../src/fleet/operations/promoteDead.ts";
import { answerAsks } from "../../../src/topology/asks.ts";
import { openFileStore } from "../../../src/topology/file/fileStore.ts";
import { Membership } from "../../../src/topology/members.ts";
import { follow } from "../../attack/promote/namedFleet.ts";
import { ask } from "../../helpers/mysqlStorage.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { until } from "../../helpers/until.ts";
import { caughtUp, startMysql, startMysqlPair } from "../../services/mysql.ts";

test("a replica that follows a delayed replica of a dead primary is promoted without --force only if somebody knows what it lacks, and gets what the one between has once that passes it on", async () => {
	await using stack = new AsyncDisposableStack();
	const [pair, between] = await Promise.all([startMysqlPair(), startMysql()]);
	stack.use(pair);
	stack.defer(() => between.stop());
	const { primary, replica } = pair;
	using folder = temporaryFolder();
	const file = join(folder.path, "topology.json");
	const hosts = { primary: primary.url, replica: replica.url };
	const range = [0, 0];
	writeFileSync(
		file,
		JSON.stringify({
			version: 1,
			shards: [{ range, ...hosts, open: true }],
			lookups: [{ range, ...hosts }],
		}),
	);
	await ask(
		primary,
		"CREATE DATABASE db00000",
		"CREATE TABLE db00000.pins (local_id BIGINT PRIMARY KEY AUTO_INCREMENT, data TEXT NOT NULL)",
	);
	await ask(between, "RESET BINARY LOGS AND GTIDS");
	await follow(between, primary);
	await ask(replica, "STOP REPLICA", "RESET REPLICA ALL");
	await follow(replica, between);
	await caughtUp({ primary, replica });
	await ask(between, "STOP REPLICA");
	await follow(between, primary, 3_600);
	const [kept] = await ask(primary, "SELECT @@global.gtid_executed AS gtids");
	await ask(primary, "INSERT INTO db00000.pins VALUES (1, ''), (2, '')");
	const [all] = await ask(primary, "SELECT @@global.gtid_executed AS gtids");
	// It receives them, and passes them on in an hour.
	await until("the one between has received all", async () => {
		const [row] = await ask(
			between,
			`SELECT GTID_SUBSET('${String(all?.gtids)}', CONCAT(received_transaction_set, ',', @@global.gtid_executed)) AS isThere FROM performance_schema.replication_connection_status`,
		);
		return row?.isThere === 1;
	});
	await primary.stop();

	await using store = openFileStore(file);
	const options: DeadOptions = {
		store,
		environment: {},
		askMs: 60_000,
		tryMs: 300,
	};
	const { address } = primary;
	const blind = await checkDeadPromotion(options, address);
	assert.match(
		blind.faults.join(" "),
		/follows another server than .*so what .* lacks is not known/,
	);
	const forced = await checkDeadPromotion({ ...options, force: true }, address);
	assert.deepEqual(forced.faults, []);
	assert.match(forced.notes.join(" "), /follows another server than/);

	await using member = new Membership(store, { role: "serve", model: "" });
	await member.say(1, 1);
	await using _answers = answerAsks(store, member.id, () => ({
		acknowledged: String(all?.gtids),
		state: "lost" as const,
		writes: [],
	}));
	const known = await checkDeadPromotion(options, address);
	assert.deepEqual(known.faults, []);
	assert.match(known.notes.join(" "), /follows another server than/);
	assert.equal(known.loss?.transactions, 1);
	assert.notEqual(kept?.gtids, all?.gtids);

	await ask(between, "STOP REPLICA SQL_THREAD");
	await ask(between, "CHANGE REPLICATION SOURCE TO SOURCE_DELAY = 0");
	await ask(between, "START REPLICA SQL_THREAD");
	await ask(
		replica,
		`SELECT WAIT_FOR_EXECUTED_GTID_SET('${String(all?.gtids)}')`,
	);
	const whole = await checkDeadPromotion(options, address);
	assert.deepEqual(whole.faults, []);
	assert.equal(whole.loss?.transactions, 0);
});
