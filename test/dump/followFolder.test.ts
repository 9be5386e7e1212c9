import assert from "node:assert/strict";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import type { Change } from "../../src/fleet/changes/changeTypes.ts";
import {
	type Position,
	parsePosition,
} from "../../src/fleet/changes/position.ts";
import { openSqliteStorage } from "../../src/storage/sqlite/sqliteStorage.ts";
import { Copy, contentOf, sorted } from "../fleet/changes/copying.ts";
import { type Program, startProgram } from "../helpers/program.ts";
import { runHere } from "../helpers/runCommand.ts";
import { printedSeed } from "../helpers/slowRun.ts";
import { MODEL, topologyOn } from "../helpers/storageModel.ts";
import { create } from "../helpers/storing.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";

const SEED = printedSeed();
const WRITER = join(import.meta.dirname, "../fleet/changes/writeFolder.ts");
const FOLLOW = [
	...["changes", "follow", "--select", "Pin.title,User.name,User.likes"],
];

/** A folder of four shards with a topology that names it. */
async function world() {
	const folder = temporaryFolder();
	const path = (name: string) => join(folder.path, name);
	const topology = topologyOn(`sqlite:${path("data")}`);
	const env = {
		CORKBOARD_TOPOLOGY: path("topology.json"),
		CORKBOARD_SECRET: "a secret of more than thirty-two bytes",
	};
	writeFileSync(env.CORKBOARD_TOPOLOGY, JSON.stringify(topology));
	const made = await runHere(["init"], { env });
	assert.equal(made.code, 0, made.err);
	return {
		path,
		env,
		open: () => openSqliteStorage({ model: MODEL, topology }),
		async run(...args: readonly string[]) {
			const { code, out, err } = await runHere(args, { env });
			assert.equal(code, 0, err);
			return out;
		},
		async refused(pattern: RegExp, ...args: readonly string[]) {
			const { code, err } = await runHere(args, { env });
			assert.notEqual(code, 0);
			assert.match(err, pattern);
		},
		/** The position in a file; null: there is none yet. */
		kept(file: string): Position | null {
			try {
				const { position } = JSON.parse(readFileSync(path(file), "utf8"));
				return parsePosition(position);
			} catch {
				return null;
			}
		},
		[Symbol.dispose]: () => folder[Symbol.dispose](),
	};
}

/** A process that writes; it is to be killed. */
async function startWriter(folder: string, users: readonly string[] = []) {
	const program = startProgram([], {
		command: [process.execPath, WRITER, folder, String(SEED), ...users],
	});
	const [, made = ""] = await program.printed("out", /users (.*)\n/);
	const writes = () =>
		Number([...program.out().matchAll(/writes (\d+)/g)].at(-1)?.[1] ?? 0);
	return {
		users: made.split(" "),
		async someMore() {
			const before = writes();
			await until("more writes", () => writes() > before + 40);
		},
		kill: () => kill(program),
		[Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
	};
}

async function kill(program: Program): Promise<void> {
	program.send("SIGKILL");
	await program.ended;
}

/** Puts what a follower prints into a copy, up to its last whole line. */
function copyFrom(program: Program, copy: Copy): void {
	let rest = "";
	copy.beginRun();
	program.stdout.on("data", (text: string) => {
		const lines = (rest + text).split("\n");
		rest = lines.pop() ?? "";
		for (const line of lines) {
			const change: Change | { readonly op: "position" } = JSON.parse(line);
			if (change.op !== "position") copy.add(change);
		}
	});
}

describe("changes follow of an embedded folder", () => {
	test("makes a copy that is equal to the folder, from a dump and what followed, though the writer and the follower are killed again and again", async () => {
		using folder = await world();
		const copy = new Copy();
		const follower = (more: Readonly<Record<string, string>> = {}) => {
			const program = startProgram(
				[
					...FOLLOW,
					...["--dump", folder.path("dump")],
					...["--position-file", folder.path("position.json")],
				],
				{ env: { ...folder.env, ...more } },
			);
			copyFrom(program, copy);
			return program;
		};
		await using first = await startWriter(folder.path("data"));
		await first.someMore();
		// Both run beside the writer.
		await folder.run("changes", "enable");
		await folder.run(
			...["dump", folder.path("dump"), "--for", "restore", "--unencrypted"],
		);
		await first.someMore();
		{
			await using program = follower();
			await until("a place behind the dump", () => {
				const position = folder.kept("position.json");
				return position !== null && position.dump === undefined;
			});
			await first.someMore();
			await kill(program);
		}
		await first.someMore();
		await first.kill();
		{
			await using program = follower();
			await using second = await startWriter(folder.path("data"), first.users);
			await second.someMore();
			await kill(program);
			await second.someMore();
			await second.kill();
		}
		await using program = follower({ CORKBOARD_ADMIN: "127.0.0.1:0" });
		const [, metrics = ""] = await program.printed(
			"err",
			/(http:\/\/127\.0\.0\.1:\d+\/metrics)/,
		);
		await using storage = await folder.open();
		const expected = await contentOf(storage, "title");
		assert.ok(expected.objects.size > 6_000);
		const isEqual = () =>
			JSON.stringify(sorted(copy)) === JSON.stringify(sorted(expected));
		await until("an equal copy", isEqual, 60_000).catch(() => {});
		await until("no lag", async () => {
			const shown = await (await fetch(metrics)).text();
			return shown.includes('changes_lag_seconds{host="db00003.sqlite"} 0\n');
		});
		program.send("SIGTERM");
		assert.equal((await program.ended).code, 0);
		assert.deepEqual(copy.faults, []);
		assert.deepEqual(sorted(copy), sorted(expected));
	});

	test("keeps so many rows as it is to, and says that it lacks what was deleted, what was put back from a copy, and another log", async () => {
		using folder = await world();
		await using storage = await folder.open();
		await folder.refused(
			/db00000\.sqlite keeps no log of changes\. Run changes enable/,
			...FOLLOW,
		);
		await folder.run(
			"dump",
			folder.path("old"),
			"--for",
			"restore",
			"--unencrypted",
		);
		const enable = ["changes", "enable"];
		assert.match(await folder.run(...enable), /keep their last 100,000 rows/);
		for (const keep of [["--keep", "1000"], []]) {
			assert.match(
				await folder.run(...enable, ...keep),
				/^4 files keep their last 1,000 rows that were written/,
			);
		}
		const position = folder.path("position.json");
		const until = ["--until-now", "--position-file", position];
		await folder.refused(
			/does not say up to where db00000 was read: .* its folder kept no log/,
			...[...FOLLOW, "--dump", folder.path("old")],
		);
		await folder.run(...FOLLOW, ...until);
		const begun = readFileSync(position, "utf8");
		const pins = Array.from({ length: 500 }, () => ({ title: "Loaf" }));
		await create(storage, 0, "Pin", ...pins);
		const lines = (await folder.run(...FOLLOW, ...until)).split("\n");
		assert.equal(lines.filter((line) => line.includes("Loaf")).length, 500);
		const later = readFileSync(position, "utf8");
		for (let n = 0; n < 4; n++) await create(storage, 0, "Pin", ...pins);
		const rows = () => {
			using file = new DatabaseSync(folder.path("data/db00000.sqlite"));
			return file.prepare('SELECT COUNT(*) AS n FROM "change log"').get()?.n;
		};
		assert.ok(Number(rows()) < 1_300, String(rows()));
		await folder.refused(/does not reach back far enough/, ...FOLLOW, ...until);
		// The log continues behind a position that is put back.
		{
			using file = new DatabaseSync(folder.path("data/db00000.sqlite"));
			file.exec('DELETE FROM "change log" WHERE number > 1');
		}
		writeFileSync(position, later);
		await folder.refused(/put back from an older copy/, ...FOLLOW, ...until);
		await folder.run("changes", "disable", "--yes");
		assert.match(
			await folder.run("changes", "disable", "--yes"),
			/^no file kept a log: nothing was deleted/,
		);
		await folder.run("changes", "enable");
		writeFileSync(position, begun);
		await folder.refused(/another log than that/, ...FOLLOW, ...until);
		{
			using file = new DatabaseSync(folder.path("data/db00001.sqlite"));
			file.exec('DROP TRIGGER "change log pins insert"');
		}
		await folder.refused(
			/db00001\.sqlite lacks what was written to pins/,
			...[...FOLLOW, "--until-now"],
		);
		// As an older program may have made it.
		const update = '"change log pins update"';
		const triggers = () => {
			using file = new DatabaseSync(folder.path("data/db00002.sqlite"));
			return file
				.prepare("SELECT sql FROM sqlite_master WHERE type = 'trigger'")
				.all()
				.map(({ sql }) => String(sql))
				.toSorted();
		};
		const made = triggers();
		{
			using file = new DatabaseSync(folder.path("data/db00002.sqlite"));
			file.exec(`DROP TRIGGER ${update}`);
			file.exec(
				`CREATE TRIGGER ${update} AFTER UPDATE ON pins BEGIN SELECT 1; END`,
			);
		}
		assert.notDeepEqual(triggers(), made);
		// A process that opens the folder to write adds what is missing.
		await storage.admin.createTables();
		assert.deepEqual(triggers(), made);
		rmSync(position);
		await folder.run(...FOLLOW, ...until);
		await create(storage, 2, "Pin", { title: "Loaf" });
		await folder.run(...FOLLOW, ...until);
		// A table that was lost is made again: nobody deleted its rows.
		{
			using file = new DatabaseSync(folder.path("data/db00002.sqlite"));
			file.exec("DROP TABLE pins");
		}
		await storage.admin.createTables();
		await folder.refused(/another log than that/, ...FOLLOW, ...until);
	});

	test("ends with an error when an older copy is put in place of a file that it reads", async () => {
		using folder = await world();
		await folder.run("changes", "enable");
		cpSync(folder.path("data"), folder.path("older"), { recursive: true });
		const position = ["--position-file", folder.path("position.json")];
		await using program = startProgram([...FOLLOW, ...position], {
			env: folder.env,
		});
		await until(
			"a first position",
			() => folder.kept("position.json") !== null,
		);
		rmSync(folder.path("data"), { recursive: true });
		cpSync(folder.path("older"), folder.path("data"), { recursive: true });
		{
			await using storage = await folder.open();
			await create(storage, 0, "Pin", { title: "Loaf" });
		}
		const { code, err } = await program.ended;
		assert.notEqual(code, 0);
		assert.match(err, /another file was put in its place/);
	});
});
