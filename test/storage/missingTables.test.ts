import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { it } from "node:test";
import { openSqliteStorage } from "../../src/storage/sqlite/sqliteStorage.ts";
import { embeddedTopology } from "../../src/topology/parseTopology.ts";
import { theModel } from "../helpers/model.ts";

it("missing tables are named, and createTables creates only those", async () => {
	const folder = mkdtempSync(join(tmpdir(), "corkboard-missing-"));
	try {
		await using storage = await openSqliteStorage({
			model: theModel().model,
			topology: embeddedTopology(folder, 2),
		});
		const all = await storage.admin.missingTables();
		assert.ok(all.includes("db00000.pins"));
		assert.ok(all.includes("mod00001.lookups"));
		await storage.admin.createTables();
		assert.deepEqual(await storage.admin.missingTables(), []);
		const file = new DatabaseSync(join(folder, "db00001.sqlite"));
		file.exec("DROP TABLE user_likes_pins; DROP TABLE outbox");
		file.close();
		assert.deepEqual((await storage.admin.missingTables()).toSorted(), [
			"db00001.outbox",
			"db00001.user_likes_pins",
		]);
		await storage.admin.createTables();
		assert.deepEqual(await storage.admin.missingTables(), []);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
});
