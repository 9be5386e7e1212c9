import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import pinsApp from "../../../pins/app.ts";
import {
	compareWithFleet,
	olderModel,
	publishModel,
	requireNoContradiction,
} from "../../../src/app/fleetModel.ts";
import { openCorkboard } from "../../../src/app/openCorkboard.ts";
import { readConfig } from "../../../src/config/config.ts";
import { publish } from "../../../src/fleet/map/publish.ts";
import { parseLock, printLock } from "../../../src/model/lock/lock.ts";
import { openFileStore } from "../../../src/topology/file/fileStore.ts";
import { openLastGood } from "../../../src/topology/guards/lastGood.ts";
import { Membership, readMembers } from "../../../src/topology/members.ts";
import { memoryStore, storedTexts } from "../../helpers/memoryStore.ts";
import { theModel } from "../../helpers/model.ts";
import { command } from "../../helpers/runCommand.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { until } from "../../helpers/until.ts";

const A = "mysql://app:hunter2@a:3306";
const B = "mysql://app:hunter2@b:3306";

function map(version: number, range: object = {}): object {
	return {
		version,
		shards: [{ range: [0, 7], primary: A, open: true, ...range }],
		lookups: [{ range: [0, 3], primary: A }],
	};
}

/** A topology file of its own, and what a command does with it. */
function fleet(content: object) {
	const folder = temporaryFolder();
	const file = join(folder.path, "topology.json");
	writeFileSync(file, JSON.stringify(content));
	const env = { CORKBOARD_TOPOLOGY: file };
	return {
		file,
		folder: folder.path,
		stored: () => JSON.parse(readFileSync(file, "utf8")),
		run: (...args: readonly string[]) => command(args, { env }),
		[Symbol.dispose]: () => folder[Symbol.dispose](),
	};
}

describe("a topology that commands change", () => {
	test("is published only where the file was made from the stored version, under the next number", async () => {
		using at = fleet(map(4));
		const edited = join(at.folder, "edited.json");
		writeFileSync(edited, JSON.stringify(map(4, { weight: 2 })));
		const dry = await at.run(
			"map",
			"publish",
			edited,
			"--dry-run",
			"--unchecked",
		);
		assert.equal(dry.code, 0, dry.err);
		assert.equal(at.stored().version, 4);
		const { code, out } = await at.run(
			...["map", "publish", edited, "--why", "more here", "--unchecked"],
		);
		assert.equal(code, 0);
		assert.match(
			out,
			/^shards 0 to 7 {3}mysql:\/\/a:3306, open → mysql:\/\/a:3306, open, weight 2\nversion 5 is published\n0 of 0 members/,
		);
		assert.equal(at.stored().version, 5);
		assert.doesNotMatch(out, /hunter2/);
		const again = await at.run("map", "publish", edited);
		assert.equal(again.code, 1);
		assert.match(again.err, /made from version 4, but .* has version 5 now/);
		writeFileSync(edited, JSON.stringify(map(6, { weight: 3 })));
		const raised = await at.run("map", "publish", edited);
		assert.equal(raised.code, 1);
		assert.match(raised.err, /has version 6, .* keep version 5/);
		const history = await at.run("map", "history");
		assert.match(history.out, /^5 .* more here .*@/m);
	});

	test("is looked at by a dry run as it would be when it is opened", async () => {
		using at = fleet(map(1));
		const open = (...args: readonly string[]) =>
			at.run("shards", "open", ...args, "--dry-run");
		const { code, out } = await open("0-3", "--unchecked");
		assert.deepEqual([code, out], [0, "version 2: shards 0-3 open\n"]);
		const there = await open("0-3", "--primary", B);
		assert.equal(there.code, 1);
		assert.match(there.err, /has shards 0 to 7 already/);
		// Nothing listens there.
		const closed = "mysql://app:hunter2@127.0.0.1:1";
		const away = await open("8-9", "--primary", closed);
		assert.equal(away.code, 1);
		assert.match(away.err, /127\.0\.0\.1:1 /);
		assert.doesNotMatch(away.err, /hunter2/);
		assert.equal(at.stored().version, 1);
	});

	test("is refused by a dry run where a running fleet may not switch to it, and published only where it differs", async () => {
		using at = fleet(map(4));
		const edited = join(at.folder, "edited.json");
		writeFileSync(edited, JSON.stringify(map(4, { range: [4, 7] })));
		for (const dry of [["--dry-run"], []]) {
			const { code, err } = await at.run("map", "publish", edited, ...dry);
			assert.equal(code, 1);
			assert.match(err, /expected all shards that were there/);
		}
		assert.equal((await at.run("shards", "close", "4-7")).code, 0);
		for (const args of [
			["shards", "close", "4-7"],
			["map", "rollback", "5"],
			["map", "rollback", "5", "--dry-run"],
		]) {
			const { code, out } = await at.run(...args);
			assert.deepEqual([code, out], [0, "no difference: version 5 stays\n"]);
		}
		assert.equal(at.stored().version, 5);
	});

	test("does not go back to a former primary; open ranges and weights do, and generations stay", async () => {
		using at = fleet(map(1));
		assert.equal((await at.run("shards", "close", "4-7")).code, 0);
		const edited = join(at.folder, "edited.json");
		const moved = { primary: B, generation: 1, replica: A };
		writeFileSync(edited, JSON.stringify(map(2, moved)));
		assert.equal(
			(await at.run("map", "publish", edited, "--unchecked")).code,
			0,
		);
		const refused = await at.run("map", "rollback", "2");
		assert.equal(refused.code, 1);
		assert.match(
			refused.err,
			/version 2 names mysql:\/\/a:3306, which lacks what was written/,
		);
		const placed = await at.run("map", "rollback", "2", "--only-placement");
		assert.equal(placed.code, 0, placed.err);
		const { version, shards } = at.stored();
		assert.equal(version, 4);
		assert.deepEqual(
			shards.map(({ range, open }: { range: unknown; open: unknown }) => [
				range,
				open,
			]),
			[
				[[0, 3], true],
				[[4, 7], false],
			],
		);
		for (const range of shards) {
			assert.equal(range.primary, B);
			assert.equal(range.generation, 1);
		}
	});

	test("shows no password; the file to edit has it, for its owner alone", async () => {
		using at = fleet(map(3));
		const shown = await at.run("map", "show");
		assert.match(shown.out, /mysql:\/\/a:3306/);
		assert.doesNotMatch(shown.out, /hunter2/);
		const copy = join(at.folder, "copy.json");
		await at.run("map", "show", "--file", copy);
		assert.deepEqual(JSON.parse(readFileSync(copy, "utf8")), map(3));
	});
});

test("a first topology is published whatever version its file says, and with --initial only where there is none", async () => {
	const folder = temporaryFolder();
	using _folder = folder;
	const file = join(folder.path, "map.json");
	writeFileSync(file, JSON.stringify(map(7)));
	const env = {
		CORKBOARD_TOPOLOGY: join(folder.path, "none", "topology.json"),
	};
	mkdirSync(join(folder.path, "none"));
	const publish = () => command(["map", "publish", file, "--initial"], { env });
	const first = await publish();
	assert.equal(first.code, 0, first.err);
	assert.match(first.out, /^version 1 is published$/m);
	assert.deepEqual(await publish(), {
		code: 0,
		out: "version 1 is there already\n",
		err: "",
	});
});

describe("processes that compete", () => {
	test("publish each version once, and lose no edit", async () => {
		const stored = storedTexts();
		const first = memoryStore(stored);
		const topology = map(1) as never;
		await publish(first, { edit: () => topology, why: "first" });
		await Promise.all(
			Array.from({ length: 4 }, async () => {
				const store = memoryStore(stored);
				for (let n = 0; n < 10; n++) {
					await publish(store, {
						edit(current) {
							const [range] = current?.shards ?? [];
							assert.ok(current && range);
							const generation = (range.generation ?? 0) + 1;
							return { ...current, shards: [{ ...range, generation }] };
						},
						why: "count",
					});
				}
			}),
		);
		const text = (await first.get("topology"))?.text ?? "";
		const { version, shards } = JSON.parse(text);
		assert.equal(version, 41);
		assert.equal(shards[0].generation, 40);
		assert.equal((await first.list("history")).length, 41);
	});
});

describe("the model in the store", () => {
	test("is added to by init, and says at the start of a program whether that is older, or would misread what is stored", async () => {
		const store = memoryStore();
		const stored = async () => {
			const found = await store.get("model");
			assert.ok(found);
			return { ...found, lock: parseLock(found.text) };
		};
		assert.equal(await publishModel(theModel(), store), true);
		assert.equal(await publishModel(theModel(), store), false);
		const same = await compareWithFleet(theModel(), store);
		assert.deepEqual([same.additions, olderModel(same)], [[], null]);
		const { lock, revision } = await stored();
		const [name = "", type] = Object.entries(lock.types)[0] ?? [];
		assert.ok(type);
		const newer = {
			...lock,
			types: {
				...lock.types,
				Future: { number: 999, table: "futures", keys: {} },
			},
		};
		const put = async (text: string, at: string) =>
			store.write([{ path: "model", revision: at, text }]);
		await put(printLock(newer), revision);
		assert.match(
			olderModel(await compareWithFleet(theModel(), store)) ?? "",
			/^The fleet's tables were made for a newer model: this program does not know the type Future\./,
		);
		assert.equal(await publishModel(theModel(), store), false);
		assert.deepEqual((await stored()).lock, newer);
		const other = {
			...lock,
			types: { ...lock.types, [name]: { ...type, number: 998 } },
		};
		await put(printLock(other), (await stored()).revision);
		const difference = await compareWithFleet(theModel(), store);
		assert.throws(() => requireNoContradiction(difference), {
			code: "BAD_MODEL",
			message: new RegExp(`the number of the type ${name} is 998 in the fleet`),
		});
		await assert.rejects(publishModel(theModel(), store), {
			code: "BAD_MODEL",
		});

		using at = fleet(map(1));
		await using file = openFileStore(at.file);
		const text = printLock(other);
		await file.write([{ path: "model", revision: null, text }]);
		const config = readConfig({
			CORKBOARD_TOPOLOGY: at.file,
			CORKBOARD_SECRET: "of the tests of the model 32 bytes or more",
		});
		await assert.rejects(openCorkboard(pinsApp, config), { code: "BAD_MODEL" });
	});
});

describe("a member of a fleet", () => {
	test("holds the barrier until it has switched, and while a call runs on an older version", async () => {
		using at = fleet(map(1));
		await using store = openFileStore(at.file, { pollMs: 50 });
		await using source = await openLastGood(store);
		await using member = new Membership(store, { role: "serve", model: "m" });
		await member.say(0, 0);
		let oldest = 1;
		await member.say(1, oldest);
		source.follow(
			async ({ version }) => void (await member.say(version, oldest)),
		);
		await at.run("shards", "weigh", "0", "2", "--dry-run", "--unchecked");
		const publishing = at.run("shards", "weigh", "0", "2", "--unchecked");
		await until("version 2", () => source.topology.version === 2);
		const late = await at.run("map", "wait", "2", "--timeout", "1s");
		assert.equal(late.code, 3);
		assert.match(
			late.out,
			/^0 of 1 members .* still runs calls on version 1$/m,
		);
		oldest = 2;
		await member.say(2, oldest);
		const { code, out } = await publishing;
		assert.equal(code, 0, out);
		assert.match(out, /1 of 1 members serve version 2/);
		const [known] = await readMembers(store);
		assert.equal(known?.role, "serve");
		assert.equal(known?.pid, process.pid);
	});
});
