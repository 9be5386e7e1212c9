import assert from "node:assert/strict";
import {
	readFileSync,
	renameSync,
	rmSync,
	truncateSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { DuckDBInstance } from "@duckdb/node-api";
import { FileCipher } from "../../src/dump/files/fileCipher.ts";
import { FolderFiles } from "../../src/dump/files/folderFiles.ts";
import { readLines, writeLines } from "../../src/dump/lineFiles.ts";
import { readDump } from "../../src/dump/manifest.ts";
import { type Id, unpackId } from "../../src/id/ids.ts";
import { embeddedTopology } from "../../src/topology/parseTopology.ts";
import { openEmbedded } from "../helpers/embedded.ts";
import { idOf } from "../helpers/importedGraph.ts";
import { importAll, dump as rowsOf } from "../helpers/importing.ts";
import { runHere } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { dumpInto, filesIn, textsIn } from "./dumping.ts";

const SHOWN = JSON.parse(
	readFileSync(
		join(import.meta.dirname, "../../docs/reference/commands.json"),
		"utf8",
	),
);

const PINS = 300;
/** Texts that no dump for analysis may have. */
const PLANTED = [
	"ada@planted.example",
	"planted-secret-board",
	"planted-pin-on-a-secret-board",
	"planted-comment-on-a-secret-board",
	"planted-closed-account",
	"planted-board-of-a-closed-account",
	"planted-deleted-pin",
	"planted-comment-on-a-deleted-pin",
	"planted-report",
	"planted-subject",
	"planted-erased",
];

/** A graph in which some things are not to be shown to everybody. */
const LINES = [
	...["ada", "ben", "eve"].map((key) => ({
		type: "User",
		key,
		fields: {
			username: key,
			name: key === "eve" ? "planted-closed-account" : key,
			...(key === "ada" && { email: "ada@planted.example" }),
		},
	})),
	{
		type: "User",
		key: "gone",
		fields: { username: "gone", name: "planted-erased" },
	},
	{ type: "Board", key: "o", fields: { owner: "ada", name: "Loaves" } },
	{
		type: "Board",
		key: "s",
		fields: { owner: "ada", name: "planted-secret-board", secret: true },
	},
	{
		type: "Board",
		key: "c",
		fields: { owner: "eve", name: "planted-board-of-a-closed-account" },
	},
	...Array.from({ length: PINS }, (_, n) => ({
		type: "Pin",
		key: `p:${n}`,
		fields: { board: "o", details: `Loaf ${n} ${"crumbs ".repeat(20)}` },
	})),
	{
		type: "Pin",
		key: "p:s",
		fields: { board: "s", details: "planted-pin-on-a-secret-board" },
	},
	{
		type: "Pin",
		key: "p:d",
		fields: { board: "o", details: "planted-deleted-pin" },
	},
	...[
		["p:s", "planted-comment-on-a-secret-board"],
		["p:d", "planted-comment-on-a-deleted-pin"],
		["p:1", "Crusty"],
	].map(([pin, text], n) => ({
		type: "Comment",
		key: `c:${n}`,
		fields: { pin, author: "ben", text },
	})),
	...["p:1", "p:2", "p:s", "p:d"].map((to) => ({
		edge: "likePin",
		from: "ben",
		to,
	})),
	{ edge: "followUser", from: "ben", to: "ada" },
	{ edge: "followUser", from: "ben", to: "eve" },
	{ edge: "blockUser", from: "ada", to: "ben" },
];

async function graph(folder: string, shards = 4) {
	await using embedded = await openEmbedded({ folder, shards });
	const { bad } = await importAll(embedded, LINES);
	assert.deepEqual(bad, []);
	const ids = new Map<string, Id>();
	for (const key of ["ada", "ben", "eve", "gone", "o", "p:1", "p:d"]) {
		ids.set(key, (await idOf(embedded, key)) as Id);
	}
	await embedded.writes.remove(ids.get("p:d") as Id);
	await embedded.writes.modify(ids.get("eve") as Id, (data) => ({
		...data,
		account: "planted-subject",
		deactivated_at: "2026-11-01T00:00:00.000Z",
	}));
	return ids;
}

describe("a dump for analysis", () => {
	test("has what everybody may see, as DuckDB reads it, and nothing else", async () => {
		using folder = temporaryFolder();
		const [data, place] = ["data", "dump"].map((each) =>
			join(folder.path, each),
		) as [string, string];
		const ids = await graph(data);
		const topology = embeddedTopology(data, 4);
		const report = await dumpInto(place, topology, {
			erased: [ids.get("gone") as string],
		});
		assert.equal(report.status, "done");
		const texts = textsIn(place);
		for (const planted of PLANTED) {
			assert.equal(texts.includes(planted), false, planted);
		}
		// Moved, as to another machine.
		const moved = `${place}-moved`;
		renameSync(place, moved);
		const instance = await DuckDBInstance.create();
		const duckdb = await instance.connect();
		const ask = async (sql: string) =>
			(await duckdb.runAndReadAll(sql)).getRowsJson();
		await duckdb.run(`SET VARIABLE dump = '${moved}'`);
		await duckdb.run(readFileSync(join(moved, "schema.duckdb.sql"), "utf8"));
		assert.deepEqual(
			await ask(
				`SELECT u.username, b.name, count(*)::INTEGER FROM pin p
				JOIN board b ON b.id = p.board JOIN "user" u ON u.id = b.owner GROUP BY ALL`,
			),
			[["ada", "Loaves", PINS]],
		);
		assert.deepEqual(
			await ask(
				`SELECT p.id FROM like_pin l JOIN pin p ON p.id = l."to" WHERE l."from" = '${ids.get("ben")}' AND l.at IS NOT NULL ORDER BY p.details`,
			),
			[[ids.get("p:1")], [(await pinOf(data, "p:2")) as string]],
		);
		assert.deepEqual(await ask(`SELECT "to" FROM follow_user`), [
			[ids.get("ada")],
		]);
		assert.deepEqual(await ask("SELECT text, shard FROM comment"), [
			["Crusty", unpackId(ids.get("p:1") as Id).shard],
		]);
		assert.deepEqual(await ask("SELECT count(*)::INTEGER FROM section"), [[0]]);
		instance.closeSync();
	});

	test("is as good as new when it was interrupted again and again", async () => {
		using folder = temporaryFolder();
		const [data, place, other] = ["data", "dump", "other"].map((each) =>
			join(folder.path, each),
		) as [string, string, string];
		await graph(data);
		const topology = embeddedTopology(data, 4);
		const options = { for: "restore", now: () => 0 } as const;
		await dumpInto(place, topology, options);
		let runs = 0;
		for (let isDone = false; !isDone; runs++) {
			const interrupt = new AbortController();
			const { status } = await dumpInto(other, topology, {
				...options,
				parallel: 1,
				signal: interrupt.signal,
				onProgress({ databases: { done } }) {
					if (done >= runs + 1 && runs < 7) interrupt.abort();
				},
			});
			isDone = status === "done";
			// As of a run that was killed while it wrote.
			writeFileSync(join(other, `dump.json.x.temporary`), "half");
			if (!isDone) {
				assert.ok(!filesIn(other).includes("manifest.json"));
			}
		}
		assert.ok(runs > 3, `${runs} runs`);
		await dumpInto(other, topology, options);
		const hashes = async (from: string) =>
			[...(await readDump(new FolderFiles(from))).databases.values()].map(
				({ tables, database }) => ({ database, tables }),
			);
		assert.deepEqual(await hashes(other), await hashes(place));
		assert.deepEqual(filesIn(other), filesIn(place));
	});
});

describe("a restore", () => {
	test("gives the same rows, new ids, and a graph that agrees", async () => {
		using folder = temporaryFolder();
		const [data, place, again] = ["data", "dump", "again"].map((each) =>
			join(folder.path, each),
		) as [string, string, string];
		const key = join(folder.path, "key");
		writeFileSync(key, "a key that is long enough for anybody to use\n");
		const env = { CORKBOARD_DATA: data };
		const lines = join(folder.path, "lines.ndjson");
		writeFileSync(lines, LINES.map((line) => JSON.stringify(line)).join("\n"));
		const imported = await runHere(["import", lines], { env });
		assert.equal(imported.code, 0, imported.err);
		const full = ["dump", place, "--for", "restore"];
		const unasked = await runHere(full, { env });
		assert.equal(unasked.code, 2);
		assert.match(
			unasked.err,
			/--key FILE or --sse KIND to encrypt it, or --unencrypted/,
		);
		const dumped = await runHere([...full, "--key", key], { env });
		assert.equal(dumped.code, 0, dumped.err);
		assert.equal(textsInPlain(place).includes("planted"), false);
		const into = { env: { CORKBOARD_DATA: again } };
		const keyless = await runHere(["restore", place], into);
		assert.match(keyless.err, /is encrypted: give the file with its key/);
		const tried = await runHere(
			["restore", place, "--key", key, "--dry-run"],
			into,
		);
		assert.equal(tried.code, 0, tried.err);
		assert.match(tried.out, /^would restore [\d,]+ rows into 32 databases/);
		const restored = await runHere(
			["restore", place, "--key", key, "--json"],
			into,
		);
		assert.equal(restored.code, 0, restored.err);
		const report = JSON.parse(restored.out);
		assert.deepEqual(
			Object.keys(report).toSorted(),
			Object.keys(SHOWN.restore).toSorted(),
		);
		assert.equal(report.verified.clean, true);
		assert.deepEqual(rowsOf(again), rowsOf(data));
		await using embedded = await openEmbedded({ folder: again, shards: 16 });
		const pin = (await idOf(embedded, "p:1")) as Id;
		const board = (await idOf(embedded, "o")) as Id;
		const created = await embedded.writes.create({
			type: "Pin",
			data: { board_id: board, user_id: await idOf(embedded, "ada") },
		});
		assert.ok(unpackId(created).local > unpackId(pin).local + 1_000_000);
	});

	test("refuses what it cannot restore, before it changes anything", async () => {
		using folder = temporaryFolder();
		const [data, place, again] = ["data", "dump", "again"].map((each) =>
			join(folder.path, each),
		) as [string, string, string];
		// As many shards as an embedded folder has by itself.
		await graph(data, 16);
		const topology = embeddedTopology(data, 16);
		await dumpInto(place, topology, { for: "restore" });
		const restore = (from = place) =>
			runHere(["restore", from], { env: { CORKBOARD_DATA: again } });
		const head = join(place, "dump.json");
		const text = readFileSync(head, "utf8");
		const changed = (
			change: (head: {
				format: number;
				model: { types: Record<string, object> };
			}) => void,
		) => {
			const value = JSON.parse(text);
			change(value);
			writeFileSync(head, JSON.stringify(value));
		};
		const cases: readonly [string, () => void, RegExp][] = [
			[
				"a newer format",
				() => changed((value) => (value.format = 2)),
				/dump\.json has format 2, and this program reads up to 1/,
			],
			[
				"a newer model",
				() =>
					changed((value) => {
						value.model.types.Story = { number: 9, table: "stories", keys: {} };
					}),
				/made with a newer model: this program does not know the type Story/,
			],
			[
				"no JSON",
				() => writeFileSync(head, text.slice(0, 40)),
				/dump\.json is no JSON/,
			],
		];
		for (const [name, damage, expected] of cases) {
			damage();
			const { code, err } = await restore();
			assert.equal(code, 1, name);
			assert.match(err, expected, name);
		}
		writeFileSync(head, text);
		const pins = filesIn(place).find((each) => each.includes("table=pins/"));
		const file = join(place, pins ?? "");
		const bytes = readFileSync(file);
		truncateSync(file, bytes.length - 10);
		assert.match(
			(await restore()).err,
			/is damaged: it has \d+ bytes, and had/,
		);
		bytes[40] = (bytes[40] ?? 0) ^ 1;
		writeFileSync(file, bytes);
		assert.match((await restore()).err, /is damaged: its hash is another one/);
		rmSync(file);
		assert.match((await restore()).err, /is damaged: it is missing/);
		bytes[40] = (bytes[40] ?? 0) ^ 1;
		writeFileSync(file, bytes);
		renameSync(
			join(place, "manifest.json"),
			join(folder.path, "manifest.json"),
		);
		rmSync(join(place, "databases/db00003.json"));
		assert.match(
			(await restore()).err,
			/is not whole: 31 of 32 databases are done/,
		);
		assert.match(
			(await restore(folder.path)).err,
			/holds no dump: it has no dump\.json/,
		);
		const empty = [...rowsOf(again)].every(([, rows]) => rows.length === 0);
		assert.ok(empty);
		// Finished after all.
		await dumpInto(place, topology, { for: "restore" });
		assert.equal((await restore()).code, 0);
		assert.match(
			(await restore()).err,
			/is not empty, and a restore overwrites nothing/,
		);
		const other = await runHere(["dump", place], {
			env: { CORKBOARD_DATA: data },
		});
		assert.match(other.err, /was begun otherwise \(for, databases\)/);
		const elsewhere = await runHere(["dump", data], {
			env: { CORKBOARD_DATA: data },
		});
		assert.match(elsewhere.err, /is not empty, and holds no dump/);
	});
});

describe("files of lines", () => {
	test("are encrypted so that no frame can be left out, repeated or cut", async () => {
		using folder = temporaryFolder();
		const files = new FolderFiles(folder.path);
		const cipher = new FileCipher(Buffer.alloc(32, 1));
		const lines = Array.from({ length: 9_000 }, (_, n) =>
			Array.from({ length: 30 }, (__, m) => Math.sin(n * 31 + m)).join(),
		);
		const table = await writeLines(
			{ files, cipher },
			{ name: "t", prefix: "t" },
			(async function* () {
				yield lines;
			})(),
		);
		const [file] = table.files;
		assert.ok(file);
		const read = async (with_: FileCipher, given = file) => {
			const all: string[] = [];
			for await (const some of readLines({ files, cipher: with_ }, given)) {
				all.push(...some);
			}
			return all;
		};
		assert.deepEqual(await read(cipher), lines);
		const wrong = new FileCipher(Buffer.alloc(32, 2));
		await assert.rejects(read(wrong), /it was encrypted with another key/);
		const path = join(folder.path, file.name);
		const bytes = readFileSync(path);
		const frame = 4 + 12 + bytes.readUInt32BE() + 16;
		assert.ok(bytes.length > frame, "more than one frame");
		for (const damaged of [
			bytes.subarray(0, frame),
			bytes.subarray(frame),
			Buffer.concat([bytes.subarray(0, frame), bytes]),
		]) {
			writeFileSync(path, damaged);
			const found = { ...file, bytes: damaged.length };
			await assert.rejects(read(cipher, found), /is damaged/);
		}
	});

	test("are several where there are many, and none where there are none", async () => {
		using folder = temporaryFolder();
		const files = new FolderFiles(folder.path);
		async function* batches() {
			for (let nth = 0; nth < 40; nth++) {
				yield [];
				yield [`${Math.sin(nth)}`.repeat(3_000), `${nth} ö`];
				await setImmediate();
			}
		}
		const options = { files, cipher: null, fileBytes: 200 };
		const written = await writeLines(
			options,
			{ name: "t", prefix: "t" },
			batches(),
		);
		assert.equal(written.rows, 80);
		assert.ok(written.files.length > 1, `${written.files.length} files`);
		const read: string[] = [];
		for (const file of written.files) {
			for await (const some of readLines(options, file)) read.push(...some);
		}
		const expected: string[] = [];
		for await (const some of batches()) expected.push(...some);
		assert.deepEqual(read, expected);
		const nothing = await writeLines(
			options,
			{ name: "e", prefix: "e" },
			(async function* () {})(),
		);
		assert.deepEqual([nothing.rows, nothing.files], [0, []]);
	});

	test("leave nothing behind where the disk is full, and say so", async () => {
		using folder = temporaryFolder();
		const files = new FolderFiles(folder.path);
		async function* chunks() {
			yield Buffer.from("half");
			throw Object.assign(new Error("no space"), { code: "ENOSPC" });
		}
		await assert.rejects(files.put("a/b", chunks()), {
			code: "UNAVAILABLE",
			message: /cannot be written: the disk is full: free some space/,
		});
		assert.deepEqual(filesIn(folder.path), []);
	});
});

function textsInPlain(folder: string): string {
	return filesIn(folder)
		.map((name) => readFileSync(join(folder, name), "latin1"))
		.join("\n");
}

async function pinOf(folder: string, key: string): Promise<Id | null> {
	await using embedded = await openEmbedded({ folder });
	return idOf(embedded, key);
}
