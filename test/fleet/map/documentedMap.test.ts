import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { replicaFaults } from "../../../src/fleet/map/promotionHosts.ts";
import { checkServers } from "../../../src/fleet/preflight/checkServers.ts";
import { checkTopology } from "../../../src/topology/check.ts";
import type { Topology } from "../../../src/topology/types.ts";
import { command } from "../../helpers/runCommand.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { startMysqlPair } from "../../services/mysql.ts";

const PAGE = readFileSync(
	join(import.meta.dirname, "../../../docs/how-to/shard-map.md"),
	"utf8",
);
const [, MAP = ""] = /```json\n(\{[\s\S]*?\n\})\n```/.exec(PAGE) ?? [];

/** The documented map, with servers of ours in the place of its first pair. */
function documented(servers: Readonly<Record<string, string>>): Topology {
	const text = MAP.replaceAll(
		/mysql:\/\/corkboard:…@(\w+):3306/g,
		(_, host) => servers[host] ?? `mysql://u:p@${host}:3306`,
	);
	return checkTopology(JSON.parse(text));
}

test("the map of the documentation can be promoted, and is", async () => {
	await using pair = await startMysqlPair();
	using folder = temporaryFolder();
	const file = join(folder.path, "topology.json");
	const { primary, replica } = pair;
	const map = documented({ db001a: primary.url, db001b: replica.url });
	assert.deepEqual(replicaFaults(map), []);
	writeFileSync(file, JSON.stringify(map));
	const env = { CORKBOARD_TOPOLOGY: file };
	const ran = await command(
		[
			...["hosts", "promote", primary.address, "--yes", "--json"],
			...["--max-lag", "1m", "--max-pause", "1m"],
		],
		{ env },
	);
	assert.equal(ran.code, 0, ran.err);
	const { to, isFollowing } = JSON.parse(ran.out);
	assert.deepEqual([to, isFollowing], [replica.address, true]);
	const { lookups, queues, pools } = JSON.parse(readFileSync(file, "utf8"));
	for (const [range] of [lookups, queues, pools]) {
		assert.equal(range.primary, replica.url);
	}
});

test("ranges of a primary that name no replica, or another, are named by promote and by hosts check", async () => {
	using folder = temporaryFolder();
	const file = join(folder.path, "topology.json");
	const map = documented({});
	const [lookups] = map.lookups;
	const [queues] = map.queues ?? [];
	assert.ok(lookups && queues);
	const { replica: _, ...alone } = queues;
	const broken: Topology = {
		...map,
		lookups: [{ ...lookups, replica: "mysql://u:p@db009:3306" }],
		queues: [alone],
	};
	const fault =
		/All ranges of db001a:3306 must name the same replica.* but shards 0 to 511 names db001b:3306; lookups 0 to 1023 names db009:3306; queues 0 to 3 names none\./;
	writeFileSync(file, JSON.stringify(broken));
	const env = { CORKBOARD_TOPOLOGY: file };
	const refused = await command(
		["hosts", "promote", "db001a:3306", "--dry-run"],
		{
			env,
		},
	);
	assert.equal(refused.code, 1);
	assert.match(refused.err, fault);
	// None of them answers.
	const { faults } = await checkServers(broken, {});
	assert.match(faults.join("\n"), fault);
});
