import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { mock, test } from "node:test";
import pinsApp from "../../../pins/app.ts";
import { openCorkboard } from "../../../src/app/openCorkboard.ts";
import { readConfig } from "../../../src/config/config.ts";
import { planMove } from "../../../src/fleet/move/planMove.ts";
import { completeMove } from "../../../src/fleet/move/redirect.ts";
import { startMove } from "../../../src/fleet/move/startMove.ts";
import { verify } from "../../../src/ops/verify/verify.ts";
import { openFileStore } from "../../../src/topology/file/fileStore.ts";
import { runHere } from "../../helpers/runCommand.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { startMysql } from "../../services/mysql.ts";

const USERS = 20;

/** Users who follow the next one. */
function importLines(): string {
	const key = (n: number) => `u${n % USERS}`;
	const users = Array.from({ length: USERS }, (_, n) => ({
		type: "User",
		key: key(n),
		fields: { username: `user_${n}` },
	}));
	const edges = users.map((_, n) => ({
		edge: "followUser",
		from: key(n),
		to: key(n + 1),
	}));
	return [...users, ...edges].map((line) => JSON.stringify(line)).join("\n");
}

test("verify reads a shard that moves meanwhile where it is then, and finds nothing that is not there", async () => {
	const [source, target] = await Promise.all([startMysql(), startMysql()]);
	await using stack = new AsyncDisposableStack();
	for (const server of [source, target]) stack.defer(() => server.stop());
	using folder = temporaryFolder();
	const file = join(folder.path, "topology.json");
	const hosts = { primary: source.url };
	writeFileSync(
		file,
		JSON.stringify({
			version: 1,
			shards: [{ range: [0, 1], ...hosts, open: true }],
			lookups: [{ range: [0, 1], ...hosts }],
		}),
	);
	const env = {
		CORKBOARD_TOPOLOGY: file,
		CORKBOARD_SECRET: "of this test alone of 32 bytes or more",
	};
	{
		await using writer = await openCorkboard(
			pinsApp,
			readConfig(env),
			"readWrite",
		);
		await writer.admin.createTables();
	}
	const imported = await runHere(["import", "-"], {
		env,
		input: importLines(),
	});
	assert.equal(imported.code, 0, imported.err);
	const store = stack.use(openFileStore(file));
	const options = {
		store,
		environment: {},
		agreeMs: 60_000,
		lookMs: 50,
		againMs: 50,
	};
	const move = async () => {
		const plan = await planMove(options, {
			...({ list: "shards", range: [1, 1] } as const),
			to: target.url,
			wave: 1,
		});
		assert.deepEqual(plan.faults, []);
		const { operation } = await startMove(options, plan.found, [], {
			maxPauseMs: 60_000,
			maxLagMs: 60_000,
			settleMs: 0,
		});
		await completeMove(options, operation, { skipsRehearsal: false });
	};

	const reader = stack.use(
		await openCorkboard(pinsApp, readConfig(env), "readOnly"),
	);
	const before = await verify(reader.store);
	assert.ok(before.clean && before.checked.edges >= 2 * USERS);
	const { storage } = reader.store;
	const walk = storage.walk as (
		...of: readonly unknown[]
	) => AsyncIterable<readonly unknown[]>;
	let walked = 0;
	const walking = mock.method(storage, "walk", (...of: readonly unknown[]) => {
		const rows = walk(...of);
		if (of[0] !== "objects" || of[1] !== 1 || walked++ > 0) return rows;
		return (async function* () {
			await move();
			yield* rows;
		})();
	});
	const report = await verify(reader.store);
	walking.mock.restore();
	assert.ok(walked > 1);
	assert.deepEqual([report.unchecked, report.damage], [[], []]);
	assert.deepEqual(report.checked, before.checked);
	assert.equal(reader.storage.map.hostOf(1), target.address);
});
