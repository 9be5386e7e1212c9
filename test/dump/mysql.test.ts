import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { openCorkboard } from "../../src/app/openCorkboard.ts";
import { FolderFiles } from "../../src/dump/files/folderFiles.ts";
import { readDump } from "../../src/dump/manifest.ts";
import { ask } from "../helpers/mysqlStorage.ts";
import { command, runHere } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { caughtUp, type Pair, startMysqlPair } from "../services/mysql.ts";

const folder = temporaryFolder();
const path = (name: string) => join(folder.path, name);
const SECRET = "a secret of more than thirty-two bytes";
let pair: Pair;
/** Settings of the fleet on the pair, and of one on SQLite with the same shards. */
let env: Readonly<Record<string, string>>;
const small = fleet("small.json", `sqlite:${path("small")}`);

function fleet(name: string, primary: string, replica?: string) {
	const host = { primary, ...(replica && { replica }) };
	const file = path(name);
	writeFileSync(
		file,
		JSON.stringify({
			version: 1,
			shards: [{ range: [0, 1], ...host, open: true }],
			lookups: [{ range: [0, 1], ...host }],
		}),
	);
	return { CORKBOARD_TOPOLOGY: file, CORKBOARD_SECRET: SECRET };
}

/** A user with a board of pins, which some like. */
function lines(name: string, pins: number): string {
	const all = [
		...[name, `${name}_fan`].map((key) => ({
			type: "User",
			key,
			fields: { username: key, name: `${key} 🍞` },
		})),
		{
			type: "Board",
			key: `${name}:o`,
			fields: { owner: name, name: "Loaves" },
		},
		...Array.from({ length: pins }, (_, n) => ({
			type: "Pin",
			key: `${name}:${n}`,
			fields: { board: `${name}:o`, details: `Loaf ${n} \\ 'ö' "${n}"` },
		})),
		...Array.from({ length: pins / 2 }, (_, n) => ({
			edge: "likePin",
			from: `${name}_fan`,
			to: `${name}:${n}`,
		})),
	];
	const file = path(`${name}.ndjson`);
	writeFileSync(file, all.map((line) => JSON.stringify(line)).join("\n"));
	return file;
}

before(async () => {
	pair = await startMysqlPair();
	env = fleet("pair.json", pair.primary.url, pair.replica.url);
	for (const args of [["init"], ["import", lines("ada", 400)]]) {
		const { code, err } = await runHere(args, { env });
		assert.equal(code, 0, err);
	}
	await caughtUp(pair);
});

after(async () => {
	await pair[Symbol.asyncDispose]();
	folder[Symbol.dispose]();
});

async function questions(): Promise<number> {
	const [row] = await ask(
		pair.primary,
		"SHOW GLOBAL STATUS WHERE Variable_name = 'Queries'",
	);
	return Number(row?.Value);
}

describe("a dump of MySQL servers", () => {
	test("sends no statement to a primary, and can be restored on another server or on SQLite", async () => {
		const before = await questions();
		// What the question itself takes.
		const own = (await questions()) - before;
		const asked = await questions();
		const dumped = await runHere(
			["dump", path("full"), "--for", "restore", "--unencrypted", "--json"],
			{ env },
		);
		assert.equal(dumped.code, 0, dumped.err);
		assert.equal((await questions()) - asked, own);
		const report = JSON.parse(dumped.out);
		assert.equal(report.tables.pins, 400);
		assert.equal(typeof report.maxLagSeconds, "number");
		const { databases, head } = await readDump(new FolderFiles(path("full")));
		assert.match(head.graph ?? "", /^[\da-f-]{36}$/);
		const [row] = await ask(
			pair.replica,
			"SELECT REPLACE(@@GLOBAL.gtid_executed, '\\n', '') AS gtids",
		);
		for (const { position } of databases.values()) {
			assert.deepEqual(position, { kind: "gtid", set: row?.gtids });
		}
		const restored = await runHere(["restore", path("full")], { env: small });
		assert.equal(restored.code, 0, restored.err + restored.out);
		assert.match(restored.out, /every table is as it was dumped/);
		assert.match(restored.out, /everything agrees$/m);
		// And back, into a server whose databases are empty.
		const again = await runHere(
			["dump", path("again"), "--for", "restore", "--unencrypted"],
			{ env: small },
		);
		assert.equal(again.code, 0, again.err);
		const contents = async (place: string) =>
			[
				...(await readDump(new FolderFiles(path(place)))).databases.values(),
			].map(({ database, tables }) => [
				database,
				tables.map(({ name, sha256 }) => [name, sha256]),
			]);
		assert.deepEqual(await contents("again"), await contents("full"));
		const copied = await readDump(new FolderFiles(path("again")));
		assert.equal(copied.head.graph, head.graph);
		const refused = await runHere(["restore", path("again")], { env });
		assert.match(refused.err, /is not empty, and a restore overwrites nothing/);
		await empty();
		const resume = ["restore", path("again"), "--resume"];
		assert.match(
			(await runHere(resume, { env })).err,
			/No restore is under way in this fleet/,
		);
		const interrupt = new AbortController();
		const cut = await command(["restore", path("again")], {
			env,
			open: openCorkboard,
			isTerminal: true,
			interruptSignal: () => interrupt.signal,
			stderrRaw: () => interrupt.abort("SIGINT"),
		});
		assert.equal(cut.code, 130, cut.err);
		assert.match(cut.err, /run the restore again with --resume/);
		assert.match(
			(await runHere(["restore", path("again")], { env })).err,
			/A restore of the dump .* began here at .*: continue it with --resume/,
		);
		const back = await runHere(resume, { env });
		assert.equal(back.code, 0, back.err + back.out);
		const made = await runHere(["import", lines("eve", 2)], { env });
		assert.equal(made.code, 0, made.err);
		const [pin] = await ask(
			pair.primary,
			"SELECT MAX(local_id) AS local FROM (SELECT local_id FROM db00000.pins UNION SELECT local_id FROM db00001.pins) AS pins",
		);
		assert.ok(Number(pin?.local) > 1_000_000, `${pin?.local}`);
	});

	test("goes on while others write, and is whole after repairs", async () => {
		const dumping = runHere(
			[
				"dump",
				path("loaded"),
				"--for",
				"restore",
				"--unencrypted",
				"--rate",
				"2000",
			],
			{ env },
		);
		const importing = runHere(["import", lines("ben", 300)], { env });
		const [dumped, imported] = await Promise.all([dumping, importing]);
		assert.equal(dumped.code, 0, dumped.err);
		assert.equal(imported.code, 0, imported.err);
		const into = fleet("other.json", `sqlite:${path("other")}`);
		const restored = await runHere(["restore", path("loaded")], { env: into });
		assert.equal(restored.code, 0, restored.err + restored.out);
		assert.match(restored.out, /everything agrees$/m);
	});

	test("refuses ranges without a replica, unless it may read primaries", async () => {
		const alone = fleet("alone.json", pair.primary.url);
		const refused = await runHere(["dump", path("alone")], { env: alone });
		assert.equal(refused.code, 1);
		assert.match(
			refused.err,
			/db00000 and 3 more databases have no replica|db00000 and 1 more databases have no replica/,
		);
		const allowed = await runHere(["dump", path("alone"), "--primaries"], {
			env: alone,
		});
		assert.equal(allowed.code, 0, allowed.err);
	});

	test("starts no replication that somebody has stopped, and reads what is there", async () => {
		await ask(pair.replica, "STOP REPLICA SQL_THREAD");
		try {
			const { code, err } = await runHere(
				["dump", path("stopped"), "--parallel", "1"],
				{ env },
			);
			assert.equal(code, 0, err);
			const [status] = await ask(pair.replica, "SHOW REPLICA STATUS");
			assert.equal(status?.Replica_SQL_Running, "No");
		} finally {
			await ask(pair.replica, "START REPLICA SQL_THREAD");
		}
	});
});

/** As new servers are: all rows are gone, and the counters begin at 1. */
async function empty(): Promise<void> {
	const tables = await ask(
		pair.primary,
		"SELECT CONCAT('`', table_schema, '`.`', table_name, '`') AS name FROM information_schema.tables WHERE table_schema REGEXP '^(db|mod)[0-9]{5}$' OR (table_schema = 'corkboard' AND table_name = 'outbox')",
	);
	for (const { name } of tables) await ask(pair.primary, `TRUNCATE ${name}`);
}
