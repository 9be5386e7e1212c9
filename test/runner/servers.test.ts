import assert from "node:assert/strict";
import { join } from "node:path";
import { it } from "node:test";
import { needsServers } from "./servers.ts";

const ROOT = join(import.meta.dirname, "../..");

it("a test needs servers if its direct or indirect imports lead to them", () => {
	assert.equal(
		needsServers(ROOT, "test/storage/mysql/mysqlStorage.test.ts"),
		true,
	);
	assert.equal(needsServers(ROOT, "test/services/redis.test.ts"), true);
	assert.equal(needsServers(ROOT, "test/cache/memcachedCache.test.ts"), true);
	assert.equal(
		needsServers(ROOT, "test/storage/sqlite/sqliteStorage.test.ts"),
		false,
	);
	assert.equal(needsServers(ROOT, "test/graph/read/pages.test.ts"), false);
	assert.equal(needsServers(ROOT, "test/e2e/graphiql.test.ts"), false);
});
