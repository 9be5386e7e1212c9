import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import pinsApp from "../../../pins/app.ts";
import { openCorkboard } from "../../../src/app/openCorkboard.ts";
import { readConfig } from "../../../src/config/config.ts";
import { answerAsks } from "../../../src/topology/asks.ts";
import { openFileStore } from "../../../src/topology/file/fileStore.ts";
import { Membership } from "../../../src/topology/members.ts";
import type { Topology } from "../../../src/topology/types.ts";
import { ask } from "../../helpers/mysqlStorage.ts";
import { command } from "../../helpers/runCommand.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { until } from "../../helpers/until.ts";
import { startMysql } from "../../services/mysql.ts";

/** A fleet on one MySQL server with all its tables, whose map commands change. */
async function fleet() {
	await using stack = new AsyncDisposableStack();
	const server = stack.use(await startMysql());
	const folder = stack.use(temporaryFolder());
	const file = join(folder.path, "topology.json");
	const range = [0, 1] as const;
	const map: Topology = {
		version: 1,
		shards: [{ range, primary: server.url, open: true }],
		lookups: [{ range, primary: server.url }],
	};
	writeFileSync(file, JSON.stringify(map));
	const env = {
		CORKBOARD_TOPOLOGY: file,
		CORKBOARD_SECRET: "of the tests of hosts of 32 bytes or more",
	};
	{
		await using corkboard = await openCorkboard(
			pinsApp,
			readConfig(env),
			"readWrite",
		);
		await corkboard.admin.createTables();
	}
	const owned = stack.move();
	return {
		server,
		file,
		map,
		stored: (): Topology => JSON.parse(readFileSync(file, "utf8")),
		/** A file to publish: the stored map with another primary of shard 1. */
		edited(primary: string, generation: number): string {
			const stored = JSON.parse(readFileSync(file, "utf8")) as Topology;
			const [first] = stored.shards;
			const edit = join(folder.path, "edited.json");
			const shards = [
				{ ...first, range: [0, 0] },
				{ ...first, range: [1, 1], primary, generation },
			];
			writeFileSync(edit, JSON.stringify({ ...stored, shards }));
			return edit;
		},
		run: (...args: readonly string[]) => command(args, { env }),
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}

describe("the hosts of a map", () => {
	test("are asked before it is published, and a wrong port is refused, in a dry run too; once published unchecked, it is taken back where nobody reached it", async () => {
		await using at = await fleet();
		const wrong = at.server.url.replace(/:\d+$/, ":1");
		const name = at.server.address.replace(/:\d+$/, ":1");
		const edited = at.edited(wrong, 1);
		for (const dry of [["--dry-run"], []]) {
			const refused = await at.run("map", "publish", edited, ...dry);
			assert.equal(refused.code, 1, refused.out);
			assert.match(refused.err, new RegExp(`${name} cannot be used: `));
			assert.match(refused.err, /nothing is published.*--unchecked/);
			assert.equal(at.stored().version, 1);
		}
		const published = await at.run("map", "publish", edited, "--unchecked");
		assert.equal(published.code, 0, published.err);
		assert.equal(at.stored().version, 2);

		const unknown = await at.run("map", "rollback", "1");
		assert.equal(unknown.code, 1);
		assert.match(unknown.err, new RegExp(`say so: --unwritten ${name}\\.`));

		await using store = openFileStore(at.file);
		await using member = new Membership(store, { role: "serve", model: "" });
		await member.say(2, 2);
		let acknowledged = "00000000-0000-0000-0000-000000000001:1-5";
		await using _answers = answerAsks(store, member.id, () => ({
			acknowledged,
			state: "idle" as const,
			writes: [],
		}));
		const stated = ["map", "rollback", "1", "--unwritten", name];
		const written = await at.run(...stated);
		assert.equal(written.code, 1);
		assert.match(written.err, /process .* has reached it/);
		assert.equal(at.stored().version, 2);
		acknowledged = "";
		const dry = await at.run(...stated, "--dry-run");
		assert.equal(dry.code, 0, dry.err);
		assert.equal(at.stored().version, 2);
		const back = at.run(...stated);
		await until("version 3", () => at.stored().version === 3);
		await member.say(3, 3);
		const { code, err } = await back;
		assert.equal(code, 0, err);
		assert.deepEqual(
			at
				.stored()
				.shards.map(({ primary, generation }) => [primary, generation]),
			[
				[at.server.url, undefined],
				[at.server.url, 2],
			],
		);
	});

	test("have to have what was elsewhere before; one that has none of it has taken no write, and is taken back without a word", async () => {
		await using at = await fleet();
		await using other = await startMysql();
		const edited = at.edited(other.url, 1);
		const refused = await at.run("map", "publish", edited);
		assert.equal(refused.code, 1, refused.out);
		assert.match(
			refused.err,
			/elsewhere now are missing: \d+, such as db00001/,
		);
		assert.doesNotMatch(refused.err, /db00000/);
		assert.equal(
			(await at.run("map", "publish", edited, "--unchecked")).code,
			0,
			"unchecked",
		);
		const back = await at.run("map", "rollback", "1");
		assert.equal(back.code, 0, back.err);
		assert.equal(at.stored().shards[1]?.primary, at.server.url);
		// It has them still, and what it holds is not given up for another version.
		const forth = await at.run("map", "rollback", "2");
		assert.equal(forth.code, 1);
		assert.match(forth.err, /has db00001, so it may have taken writes/);
		assert.equal(at.stored().version, 3);
	});

	test("are said to have lost what is missing where it was, without the advice to make it empty", async () => {
		await using at = await fleet();
		await ask(at.server, "DROP TABLE db00001.pins");
		const refused = await at.run("shards", "weigh", "1", "4");
		assert.equal(refused.code, 1, refused.out);
		assert.match(
			refused.err,
			/missing on hosts that had them: 1, such as db00001\.pins\. .*status/,
		);
		assert.doesNotMatch(refused.err, /elsewhere|init/);
	});

	test("are asked where shards are opened or get more new users, and no others are", async () => {
		await using at = await fleet();
		const away = at.server.url.replace(/:\d+$/, ":1");
		const edited = at.edited(away, 1);
		await at.run("map", "publish", edited, "--unchecked");
		for (const args of [
			["shards", "weigh", "1", "4"],
			["shards", "open", "1", "--weight", "4", "--dry-run"],
			["shards", "open", "1", "--weight", "4"],
		]) {
			const refused = await at.run(...args);
			assert.equal(refused.code, 1, refused.out);
			assert.match(refused.err, /:1 cannot be used: .*--unchecked/s);
		}
		for (const args of [
			["shards", "weigh", "0", "4"],
			["shards", "close", "1"],
			["shards", "open", "1", "--weight", "4", "--unchecked"],
		]) {
			const { code, err } = await at.run(...args);
			assert.equal(code, 0, err);
		}
		const { shards } = at.stored();
		assert.deepEqual(
			shards.map(({ open, weight }) => [open, weight]),
			[
				[true, 4],
				[true, 4],
			],
		);
	});

	test("are not asked by the first version, whose tables init makes next; nor are tables of new numbers missed", async () => {
		await using at = await fleet();
		const [range] = at.map.shards;
		const added = {
			...at.map,
			shards: [range, { ...range, range: [2, 2], open: false }],
		};
		const edited = join(at.file, "../added.json");
		writeFileSync(edited, JSON.stringify(added));
		const { code, err } = await at.run("map", "publish", edited);
		assert.equal(code, 0, err);
		assert.match(err, /^\d+ tables are new: next, run .*init/m);
		using empty = temporaryFolder();
		const env = { CORKBOARD_TOPOLOGY: join(empty.path, "topology.json") };
		const nowhere = JSON.stringify(at.map).replace(/:\d+"/g, ':1"');
		writeFileSync(edited, nowhere);
		const first = await command(["map", "publish", edited], { env });
		assert.equal(first.code, 0, first.err);
	});
});
