import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Change } from "../../src/fleet/changes/changeTypes.ts";
import {
	type Position,
	parsePosition,
} from "../../src/fleet/changes/position.ts";
import type { Id } from "../../src/id/ids.ts";
import { seededRandom } from "../../src/util/random.ts";
import {
	Copy,
	contentOf,
	sorted,
	startWriting,
} from "../fleet/changes/copying.ts";
import { member } from "../fleet/member.ts";
import { ask } from "../helpers/mysqlStorage.ts";
import { type Program, startProgram } from "../helpers/program.ts";
import { runHere } from "../helpers/runCommand.ts";
import { printedSeed } from "../helpers/slowRun.ts";
import { topologyOn } from "../helpers/storageModel.ts";
import { create } from "../helpers/storing.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";
import { caughtUp, type Pair, startMysqlPair } from "../services/mysql.ts";

const folder = temporaryFolder();
const path = (name: string) => join(folder.path, name);
const random = seededRandom(printedSeed());
const env = {
	CORKBOARD_TOPOLOGY: path("topology.json"),
	CORKBOARD_SECRET: "a secret of more than thirty-two bytes",
};
let pair: Pair;

before(async () => {
	pair = await startMysqlPair();
	const { shards, lookups } = topologyOn(pair.primary.url);
	const { url: replica } = pair.replica;
	writeFileSync(
		env.CORKBOARD_TOPOLOGY,
		JSON.stringify({
			version: 1,
			shards: shards.map((range) => ({ ...range, replica })),
			lookups: lookups.map((range) => ({ ...range, replica })),
		}),
	);
	const { code, err } = await runHere(["init"], { env });
	assert.equal(code, 0, err);
	await caughtUp(pair);
});

after(async () => {
	await pair[Symbol.asyncDispose]();
	folder[Symbol.dispose]();
});

async function dump(name: string, ...options: readonly string[]) {
	const { code, err } = await runHere(["dump", path(name), ...options], {
		env,
	});
	assert.equal(code, 0, err);
}

const RESTORABLE = ["--for", "restore", "--unencrypted"];
const POSITION_FILE = path("position.json");
const follow = (...options: readonly string[]) => [
	...["changes", "follow", "--select", "Pin.title,User.name,User.likes"],
	...options,
];

/** The position that is kept; null: none is yet. */
function kept(): Position | null {
	let text: string;
	try {
		text = readFileSync(POSITION_FILE, "utf8");
	} catch {
		return null;
	}
	return parsePosition(JSON.parse(text).position);
}

/** Puts what a follower prints into a copy, up to its last whole line. Reads slowly, so that the follower waits in the dump. */
function copyFrom(program: Program, copy: Copy, pauseMs: number) {
	let rest = "";
	copy.beginRun();
	program.stdout.on("data", (text: string) => {
		const lines = (rest + text).split("\n");
		rest = lines.pop() ?? "";
		for (const line of lines) {
			const change: Change | { readonly op: "position" } = JSON.parse(line);
			if (change.op !== "position") copy.add(change);
		}
		if (pauseMs === 0) return;
		program.stdout.pause();
		setTimeout(() => program.stdout.resume(), pauseMs);
	});
}

describe("changes follow --dump", () => {
	test("makes a copy that is equal to the fleet, though it is killed in the dump and behind it while others write", async () => {
		await using writer = await member(env.CORKBOARD_TOPOLOGY);
		const users: Id[] = [];
		for (const shard of [0, 1, 2, 3]) {
			users.push(
				...(await create(
					writer.storage,
					shard,
					"User",
					{ name: 0 },
					{ name: 0 },
				)),
			);
			for (let n = 0; n < 3; n++) {
				const pins = Array.from({ length: 500 }, () => ({ title: `${n}` }));
				await create(writer.storage, shard, "Pin", ...pins);
			}
		}
		await using writing = startWriting(writer.storage, users, random);
		const someMore = async () => {
			const before = writing.writes();
			await until("more writes", () => writing.writes() > before + 20);
		};
		await someMore();
		await dump("loaded", ...RESTORABLE);
		await someMore();
		const copy = new Copy();
		const start = (more: Readonly<Record<string, string>> = {}) =>
			startProgram(
				follow(
					...["--dump", path("loaded")],
					...["--position-file", POSITION_FILE],
				),
				{ env: { ...env, ...more } },
			);
		{
			await using follower = start();
			copyFrom(follower, copy, 200);
			await until("a place in the dump", () => (kept()?.dump?.rows ?? 0) > 0);
			follower.send("SIGKILL");
			await follower.ended;
		}
		assert.ok(kept()?.dump);
		{
			await using follower = start();
			copyFrom(follower, copy, 0);
			await until("the place behind the dump", () => {
				const position = kept();
				return position !== null && position.dump === undefined;
			});
			await someMore();
			follower.send("SIGKILL");
			await follower.ended;
		}
		await someMore();
		await writing.end();
		await writer.end();
		await using follower = start({ CORKBOARD_ADMIN: "127.0.0.1:0" });
		copyFrom(follower, copy, 0);
		const [, metrics = ""] = await follower.printed(
			"err",
			/(http:\/\/127\.0\.0\.1:\d+\/metrics)/,
		);
		await follower.printed("err", /is not read: there is a position already/);
		const expected = await contentOf(writer.storage, "title");
		assert.ok(expected.objects.size > 6_000);
		const isEqual = () =>
			JSON.stringify(sorted(copy)) === JSON.stringify(sorted(expected));
		await until("an equal copy", isEqual, 60_000).catch(() => {});
		let shown = "";
		const { address } = pair.primary;
		await until("no lag", async () => {
			shown = await (await fetch(metrics)).text();
			return shown.includes(`changes_lag_seconds{host="${address}"} 0\n`);
		});
		assert.match(shown, /^corkboard_changes_given_total [1-9]/m);
		assert.match(
			shown,
			/^corkboard_changes_position_timestamp_seconds 1[\d.e+]+$/m,
		);
		assert.match(shown, /^corkboard_topology_version 1$/m);
		follower.send("SIGTERM");
		assert.equal((await follower.ended).code, 0);
		assert.deepEqual(copy.faults, []);
		assert.deepEqual(sorted(copy), sorted(expected));
	});

	test("refuses a dump that does not serve, with what would", async () => {
		await caughtUp(pair);
		await dump("public");
		await dump("some", ...RESTORABLE, "--shards", "0-2");
		await dump("other", ...RESTORABLE);
		const refused = async (pattern: RegExp, ...options: readonly string[]) => {
			const { code, err } = await runHere(follow(...options), { env });
			assert.notEqual(code, 0);
			assert.match(err, pattern);
		};
		await refused(
			/holds a dump for analysis\. It lacks .* Take a dump with --for restore/,
			...["--dump", path("public")],
		);
		await refused(
			/cannot begin with this dump: Shard 3 is not in the dump\. Take another/,
			...["--dump", path("some")],
		);
		await refused(/holds no dump/, "--dump", path("nothing"));
		await refused(/are for --dump DUMP/, "--key", path("key"));
		const position = (dump: Position["dump"]) =>
			Buffer.from(
				JSON.stringify({
					gtids: "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5",
					owners: {},
					dump,
				}),
			).toString("base64url");
		const within = position({ id: "another", file: "", rows: 0 });
		await refused(/Give it: --dump DUMP/, "--since", within);
		await refused(
			/is within the dump another, and .* holds the dump [0-9a-f-]{36}\. Give the former/,
			...["--dump", path("other"), "--since", within],
		);
		await ask(pair.primary, "FLUSH BINARY LOGS");
		await ask(pair.primary, "CREATE DATABASE later");
		await ask(pair.primary, "FLUSH BINARY LOGS");
		const logs = await ask(pair.primary, "SHOW BINARY LOGS");
		await ask(pair.primary, `PURGE BINARY LOGS TO '${logs.at(-1)?.Log_name}'`);
		await refused(
			/does not reach back so far: it has no more of [0-9a-f-]{36}:\d+\. Take another/,
			...["--dump", path("other")],
		);
	});
});
