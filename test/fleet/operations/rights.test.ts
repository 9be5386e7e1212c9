import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import pinsApp from "../../../pins/app.ts";
import { openCorkboard } from "../../../src/app/openCorkboard.ts";
import { readConfig } from "../../../src/config/config.ts";
import {
	listOperations,
	Operation,
} from "../../../src/fleet/operations/operations.ts";
import { openFileStore } from "../../../src/topology/file/fileStore.ts";
import { ask } from "../../helpers/mysqlStorage.ts";
import { command } from "../../helpers/runCommand.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { caughtUp, startMysqlPair } from "../../services/mysql.ts";

/** What a provider's master user has, which is not an administrator. */
const RENTED =
	"SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, RELOAD, PROCESS, ALTER, SHOW DATABASES, LOCK TABLES, REPLICATION SLAVE, REPLICATION CLIENT";

test("a command on a fleet says before it begins which rights it lacks, on which server; one that stands half-way for want of them can be ended, and says what it could not undo", async () => {
	await using pair = await startMysqlPair();
	using folder = temporaryFolder();
	const { primary, replica } = pair;
	const file = join(folder.path, "topology.json");
	const hosts = { primary: primary.url, replica: replica.url };
	writeFileSync(
		file,
		JSON.stringify({
			version: 1,
			shards: [{ range: [0, 0], ...hosts, open: true }],
			lookups: [{ range: [0, 0], ...hosts }],
		}),
	);
	const admin = join(folder.path, "admin");
	writeFileSync(admin, JSON.stringify({ user: "rented", password: "secret" }));
	const env = {
		CORKBOARD_TOPOLOGY: file,
		CORKBOARD_ADMIN_FILE: admin,
		CORKBOARD_SECRET: "of the test of rights of 32 bytes or more",
	};
	{
		await using corkboard = await openCorkboard(
			pinsApp,
			readConfig(env),
			"readWrite",
		);
		await corkboard.admin.createTables();
	}
	await ask(
		primary,
		"CREATE USER rented@'%' IDENTIFIED BY 'secret'",
		`GRANT ${RENTED} ON *.* TO rented@'%'`,
	);
	await caughtUp(pair);
	const run = (...args: readonly string[]) => command(args, { env });
	const { address } = primary;
	await using store = openFileStore(file);
	const lacks =
		/account lacks SYSTEM_VARIABLES_ADMIN.*grants show --account operator/;
	for (const args of [
		["hosts", "promote", address, "--dry-run"],
		["hosts", "promote", address, "--yes"],
		["hosts", "promote", address, "--dead", "--force", "--dry-run"],
		[
			"hosts",
			"promote",
			address,
			"--dead",
			"--force",
			"--yes",
			"--accept-loss",
		],
		["replicas", "remove", replica.address, "--dry-run"],
		["replicas", "remove", replica.address, "--yes"],
	]) {
		const { code, out, err } = await run(...args);
		assert.equal(code, 1, args.join(" "));
		assert.match(out + err, lacks, args.join(" "));
		assert.match(out + err, new RegExp(`^.*${replica.address}: .*lacks`, "m"));
	}
	assert.deepEqual(await listOperations(store), []);

	/** As an account with fewer rights leaves it, that fails at its first fence. */
	const halfWay = async () => {
		await using operation = await Operation.begin(store, {
			kind: "promote",
			from: address,
			to: replica.address,
		});
		await operation.save({ step: "fencing" }, "fencing");
		return operation.record.id;
	};
	const first = await halfWay();
	const undone = await run("operations", "abort", first);
	assert.equal(undone.code, 0, undone.err);
	assert.match(undone.out, /rolled back; .* is the primary, nothing changed/);

	await ask(primary, "SET PERSIST super_read_only = ON");
	const second = await halfWay();
	const refused = await run("operations", "abort", second);
	assert.equal(refused.code, 3, refused.out);
	assert.match(refused.err, /take writes: Access denied/);
	assert.match(refused.err, new RegExp(`operations abort ${second} --leave`));
	const ended = await run(
		"operations",
		"abort",
		second,
		"--leave",
		"--yes",
		"--json",
	);
	assert.equal(ended.code, 0, ended.err);
	const { version, left } = JSON.parse(ended.out);
	assert.equal(version, null);
	assert.match(left.join(), new RegExp(`${address}, take writes: Access`));
	const last = (await listOperations(store)).at(-1);
	assert.equal(last?.step, "rolled back");
	assert.match(last?.log.at(-1) ?? "", /not undone: /);
	await ask(
		primary,
		"SET GLOBAL super_read_only = OFF, GLOBAL read_only = OFF",
		"RESET PERSIST super_read_only",
	);

	// One that has published is over too, and counts as done.
	const third = await halfWay();
	{
		await using operation = await Operation.takeOver(store, third);
		await operation.save({ step: "published", version: 1 });
	}
	const published = await run("operations", "abort", third);
	assert.equal(published.code, 3);
	assert.match(published.err, /Complete it: .*--leave/);
	const done = await run("operations", "abort", third, "--leave", "--yes");
	assert.equal(done.code, 0, done.err);
	assert.match(done.out, /is over\. Left to you:\n.*has to take writes/);
	const open = await run("operations", "list");
	assert.deepEqual([open.code, open.out], [0, "no operation is under way\n"]);
	// It locks nothing any more.
	await using again = await Operation.begin(store, {
		kind: "promote",
		from: address,
		to: replica.address,
	});
	await again.end("rolled back", "over");
});
