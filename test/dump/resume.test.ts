import assert from "node:assert/strict";
import {
	cpSync,
	existsSync,
	mkdirSync,
	readdirSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { databasesOf } from "../../src/dump/databases.ts";
import { FolderFiles } from "../../src/dump/files/folderFiles.ts";
import { readDump } from "../../src/dump/manifest.ts";
import { runRestore } from "../../src/dump/runRestore.ts";
import { settleRestore } from "../../src/dump/settleRestore.ts";
import type { RestoreTarget } from "../../src/dump/target/restoreTarget.ts";
import { SqliteTarget } from "../../src/dump/target/sqliteTarget.ts";
import { type Id, unpackId } from "../../src/id/ids.ts";
import { createStoredTypes } from "../../src/model/storedTypes.ts";
import { giveGraphId } from "../../src/ops/graphId.ts";
import { embeddedTopology } from "../../src/topology/parseTopology.ts";
import { Death, Fault } from "../helpers/death.ts";
import { openEmbedded } from "../helpers/embedded.ts";
import { idOf } from "../helpers/importedGraph.ts";
import { importAll, dump as rowsOf, sqlOn } from "../helpers/importing.ts";
import { theModel } from "../helpers/model.ts";
import { runHere } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { dumpInto } from "./dumping.ts";

const SHARDS = 2;
/** So many that one surely lives on the shard that the pin does not live on. */
const FANS = Array.from({ length: 24 }, (_, index) => `fan${index}`);
const LINES = [
	...["ada", ...FANS].map((key) => ({
		type: "User",
		key,
		fields: { username: key, name: key },
	})),
	{ type: "Board", key: "o", fields: { owner: "ada", name: "Loaves" } },
	{ type: "Pin", key: "p", fields: { board: "o", details: "Loaf" } },
];

const folder = temporaryFolder();
const path = (name: string) => join(folder.path, name);
/** The folder of a dump, and of a graph that was restored from it in one go. */
const [dumped, whole, living] = ["dump", "whole", "living"].map(path) as [
	string,
	string,
	string,
];
/** A folder with tables, which are empty but for the id of the graph. */
const empty = path("empty");

/** Settings of a command on a folder with so many shards. */
function fleetIn(folder: string): Readonly<Record<string, string>> {
	const file = `${folder}.json`;
	const range = { range: [0, SHARDS - 1], primary: `sqlite:${folder}` };
	const shards = [{ ...range, open: true }];
	const topology = { version: 1, shards, lookups: [range] };
	writeFileSync(file, JSON.stringify(topology));
	return {
		CORKBOARD_TOPOLOGY: file,
		CORKBOARD_SECRET: "a secret of more than thirty-two bytes",
	};
}

/** A copy of that folder. */
function emptyFolder(name: string): string {
	const into = path(name);
	cpSync(empty, into, { recursive: true });
	return into;
}

before(async () => {
	const fault = new Fault(3);
	await using graph = await openEmbedded({
		folder: living,
		shards: SHARDS,
		wrap: (storage) => fault.of(storage),
	});
	const { bad } = await importAll(graph, LINES);
	assert.deepEqual(bad, []);
	const pin = (await idOf(graph, "p")) as Id;
	const users = await Promise.all(FANS.map((key) => idOf(graph, key)));
	const away = users.find(
		(id) => unpackId(id as Id).shard !== unpackId(pin).shard,
	);
	// The like is stored, and its other half waits in the outbox.
	fault.isNear = true;
	await graph.writes.setEdge(graph.mapping("likePin"), away as Id, pin, true);
	await giveGraphId(graph.storage);
	await dumpInto(dumped, embeddedTopology(living, SHARDS), { for: "restore" });
	const { databases } = await readDump(new FolderFiles(dumped));
	const entries = [...databases.values()]
		.flatMap(({ tables }) => tables)
		.filter(({ name, rows }) => name === "outbox" && rows > 0);
	assert.equal(entries.length, 1);
	mkdirSync(empty);
	const tables = await openEmbedded({ folder: empty, shards: SHARDS });
	// The restore replaces it.
	await giveGraphId(tables.storage);
	await tables[Symbol.asyncDispose]();
	await restoreInto(emptyFolder("whole"));
});
after(() => folder[Symbol.dispose]());

interface Ending {
	readonly resume?: boolean;
	readonly from?: string;
	/** At which change of the target the process ends: odd ones before it, even ones after it. */
	readonly change?: number;
	/** At which write of the graph, counted in the same way. */
	readonly write?: number;
}

/** Rejects with "died here" if the process ends before the restore. */
async function restoreInto(
	into: string,
	{ resume = false, from = dumped, change, write }: Ending = {},
): Promise<void> {
	const { model, schema } = theModel();
	const signal = new AbortController().signal;
	const files = new FolderFiles(from);
	await using target = new SqliteTarget({ isDryRun: false });
	const { record } = await runRestore({
		model,
		files,
		cipher: null,
		dump: await readDump(files),
		databases: databasesOf(embeddedTopology(into, SHARDS), model),
		modShards: SHARDS,
		shards: null,
		target: change === undefined ? target : endingAt(target, change),
		resume,
		raiseBy: 10,
		parallel: 1,
		isDryRun: false,
		signal,
	});
	const death = new Death(write ?? Number.POSITIVE_INFINITY);
	await using graph = await openEmbedded({
		folder: into,
		shards: SHARDS,
		wrap: (storage) => death.of(storage),
	});
	death.isNear = true;
	const types = createStoredTypes(schema);
	const { verified } = await settleRestore(graph.store, types, record, signal);
	assert.equal(verified.clean, true);
}

function endingAt(target: RestoreTarget, change: number): RestoreTarget {
	let changes = 0;
	const counted = async <T>(body: () => Promise<T>): Promise<T> => {
		changes++;
		if (change === 2 * changes - 1) throw new Error("died here");
		const value = await body();
		if (change === 2 * changes) throw new Error("died here");
		return value;
	};
	const port = portOf(target);
	return {
		...port,
		insert: (...given) => counted(() => port.insert(...given)),
		changeLookup: (...given) => counted(() => port.changeLookup(...given)),
		raiseIds: (...given) => counted(() => port.raiseIds(...given)),
	};
}

function portOf(target: RestoreTarget): RestoreTarget {
	return {
		faults: (databases) => target.faults(databases),
		filled: (database) => target.filled(database),
		rows: (database) => target.rows(database),
		lookup: (...given) => target.lookup(...given),
		insert: (...given) => target.insert(...given),
		changeLookup: (...given) => target.changeLookup(...given),
		raiseIds: (...given) => target.raiseIds(...given),
		[Symbol.asyncDispose]: async () => {},
	};
}

function hasRecord(into: string): boolean {
	return [...rowsOf(into).values()]
		.flat()
		.some(({ name }) => name === "restore state");
}

/** Whether the restore ended early. */
function hasDied(restoring: Promise<void>): Promise<boolean> {
	return restoring.then(
		() => false,
		(thrown) => {
			assert.match(String(thrown), /died here/);
			return true;
		},
	);
}

describe("a restore that ended early", () => {
	for (const where of ["change", "write"] as const) {
		test(`is finished by --resume, at whatever ${where} it ended`, async () => {
			let endings = 0;
			for (let at = 1; ; at++) {
				const into = emptyFolder(`${where}-${at}`);
				if (!(await hasDied(restoreInto(into, { [where]: at })))) break;
				endings++;
				// Before the first change and after the last one there is none to continue with.
				if (hasRecord(into)) await restoreInto(into, { resume: true });
				else if (where === "change") await restoreInto(into);
				assert.deepEqual(rowsOf(into), rowsOf(whole), `${where} ${at}`);
			}
			assert.ok(endings >= 6, `${endings}`);
		});
	}

	test("is not begun again, nor continued from another dump", async () => {
		const into = emptyFolder("begun");
		const other = path("other-dump");
		await dumpInto(other, embeddedTopology(living, SHARDS), { for: "restore" });
		assert.ok(await hasDied(restoreInto(into, { change: 8 })));
		const half = rowsOf(into);
		const env = fleetIn(into);
		const refusals: readonly [string[], RegExp][] = [
			[["restore", dumped], /began here at .*: continue it with --resume/],
			[
				["restore", other, "--resume"],
				/is of the dump .*Continue with that dump/,
			],
			[
				["restore", dumped, "--resume", "--shards", "1"],
				/is of other databases. Continue with the same --shards/,
			],
		];
		for (const [args, expected] of refusals) {
			const { code, err } = await runHere(args, { env });
			assert.equal(code, 1, args.join(" "));
			assert.match(err, expected);
			assert.deepEqual(rowsOf(into), half);
		}
		const tried = await runHere(["restore", dumped, "--resume", "--dry-run"], {
			env,
		});
		assert.match(tried.out, /^would continue the restore of .* \(begun\)/);
		assert.deepEqual(rowsOf(into), half);
		const { code, err } = await runHere(["restore", dumped, "--resume"], {
			env,
		});
		assert.equal(code, 0, err);
		assert.deepEqual(rowsOf(into), rowsOf(whole));
		const again = await runHere(["restore", dumped, "--resume"], { env });
		assert.match(again.err, /No restore is under way in this fleet/);
	});

	test("stops if another run has continued it", async () => {
		const into = emptyFolder("taken");
		const { model } = theModel();
		const files = new FolderFiles(dumped);
		const databases = databasesOf(embeddedTopology(into, SHARDS), model);
		await using target = new SqliteTarget({ isDryRun: false });
		const options = {
			model,
			files,
			cipher: null,
			dump: await readDump(files),
			databases,
			modShards: SHARDS,
			shards: null,
			raiseBy: 10,
			parallel: 1,
			isDryRun: false,
			signal: new AbortController().signal,
		};
		let isTaken = false;
		const paused: RestoreTarget = {
			...portOf(target),
			async insert(...given) {
				await target.insert(...given);
				if (isTaken) return;
				isTaken = true;
				await runRestore({ ...options, target, resume: true });
			},
		};
		await assert.rejects(
			runRestore({ ...options, target: paused, resume: false }),
			{
				code: "CONFLICT",
				message: /Another run has begun a restore into this fleet/,
			},
		);
	});
});

describe("--resume", () => {
	test("changes nothing in a graph that lives", async () => {
		const lives = path("lives");
		cpSync(living, lives, { recursive: true });
		// A row of the dump is not there any more.
		assert.ok(sqlOn(lives, /^db/, "DELETE FROM pins") > 0);
		const before = rowsOf(lives);
		for (const flags of [["--resume"], ["--resume", "--dry-run"], []]) {
			const { code, err } = await runHere(["restore", dumped, ...flags], {
				env: fleetIn(lives),
			});
			assert.equal(code, 1);
			assert.match(
				err,
				flags.length > 0
					? /No restore is under way in this fleet: none has begun, or it is done/
					: /is not empty, and a restore overwrites nothing/,
			);
			assert.deepEqual(rowsOf(lives), before);
		}
	});
});

describe("a dry run of a restore", () => {
	test("makes nothing in a folder that is not there, or is empty", async () => {
		const absent = path("absent");
		const args = ["restore", dumped, "--dry-run"];
		const first = await runHere(args, { env: fleetIn(absent) });
		assert.equal(first.code, 0, first.err);
		assert.match(first.out, /^would restore [\d,]+ rows into 4 databases/);
		assert.equal(existsSync(absent), false);
		mkdirSync(absent);
		const second = await runHere(args, { env: fleetIn(absent) });
		assert.equal(second.code, 0, second.err);
		assert.deepEqual(readdirSync(absent), []);
	});
});
