import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import {
	appendFileSync,
	readdirSync,
	readFileSync,
	writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { Redis } from "ioredis";
import type { Change } from "../../../src/fleet/changes/changeTypes.ts";
import type { Position } from "../../../src/fleet/changes/position.ts";
import { readSelection } from "../../../src/fleet/changes/selection.ts";
import { openFileSink } from "../../../src/fleet/changes/sinks/fileSink.ts";
import { forgetErased } from "../../../src/fleet/changes/sinks/forgetErased.ts";
import { openLineSink } from "../../../src/fleet/changes/sinks/lineSink.ts";
import { openRedisStreamSink } from "../../../src/fleet/changes/sinks/redisStreamSink.ts";
import { openWebhookSink } from "../../../src/fleet/changes/sinks/webhookSink.ts";
import type { Id } from "../../../src/id/ids.ts";
import { isShown } from "../../../src/model/shownFields.ts";
import { theModel } from "../../helpers/model.ts";
import { startProgram } from "../../helpers/program.ts";
import { command } from "../../helpers/runCommand.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { startRedis } from "../../services/redis.ts";

const folders = temporaryFolder();
after(() => folders[Symbol.dispose]());
let made = 0;
const path = (name: string) => join(folders.path, `${made++}-${name}`);

const SINKS = join(import.meta.dirname, "../../../src/fleet/changes/sinks");
const UUID = "3e11fa47-71ca-11e1-9e33-c80aa9429562";
const position = (n: number): Position => ({
	gtids: `${UUID}:1-${n}`,
	owners: { "0-3": "db001a:3306" },
});
const change = (n: number): Change => ({
	type: "Pin",
	id: String(n) as Id,
	op: "create",
	before: null,
	after: { details: `Pin ${n}` },
	shard: 0,
	at: "2026-11-28T00:00:00.000Z",
	position: `${UUID}:${n}`,
});
const changes = (first: number, last: number) =>
	Array.from({ length: last - first + 1 }, (_, at) => change(first + at));
const idsIn = (text: string) =>
	text
		.split("\n")
		.filter((line) => line !== "")
		.map((line) => JSON.parse(line).id);

describe("a folder of changes", () => {
	const textOf = (folder: string) =>
		readdirSync(folder)
			.filter((name) => name.endsWith(".ndjson"))
			.toSorted()
			.map((name) => readFileSync(join(folder, name), "utf8"))
			.join("");

	it("has each change once, in files of a limited size, whatever a killed run left behind its position", async () => {
		const folder = path("files");
		const open = () => openFileSink(folder, { fullBytes: 300 });
		{
			await using sink = await open();
			assert.equal(sink.begun, null);
			await sink.take(changes(1, 3), () => position(3));
			await sink.take(changes(4, 6), () => position(6));
		}
		const last = readdirSync(folder)
			.filter((name) => name.endsWith(".ndjson"))
			.toSorted()
			.at(-1) as string;
		appendFileSync(join(folder, last), `${JSON.stringify(change(7))}\n{"ty`);
		writeFileSync(join(folder, "changes-000009.ndjson"), "{}\n");
		await using sink = await open();
		assert.deepEqual(sink.begun, position(6));
		await sink.take(changes(7, 8), () => position(8));
		assert.deepEqual(idsIn(textOf(folder)), [
			"1",
			"2",
			"3",
			"4",
			"5",
			"6",
			"7",
			"8",
		]);
		assert.ok(readdirSync(folder).length > 2);
	});

	it("is not begun among other files, nor where its position is damaged", async () => {
		const folder = folders.path;
		writeFileSync(join(folder, "other.txt"), "");
		await assert.rejects(openFileSink(folder), {
			code: "CONFLICT",
			message: /has other files\. Name a folder/,
		});
		const damaged = path("damaged");
		{
			await using sink = await openFileSink(damaged);
			await sink.take(changes(1, 1), () => position(1));
		}
		writeFileSync(join(damaged, "position.json"), "{");
		await assert.rejects(openFileSink(damaged), {
			code: "CONFLICT",
			message: /is no position of a stream of changes/,
		});
		await assert.rejects(openFileSink(join(folder, "no/such")), {
			code: "UNAVAILABLE",
		});
	});
});

it("a folder of changes loses all lines of what was erased, and goes on behind them", async () => {
	const folder = path("erased");
	const open = () => openFileSink(folder, { fullBytes: 400 });
	const erase: Change = {
		type: "Pin",
		id: "2" as Id,
		op: "erase",
		shard: 0,
		at: "2026-11-28T00:00:00.000Z",
		position: `${UUID}:9`,
	};
	{
		await using sink = await open();
		for (const n of [1, 2, 3, 4, 5, 6, 7, 8]) {
			const one = { ...change(n), id: String(1 + (n % 4)) as Id };
			await sink.take([one], () => position(n));
		}
		await sink.take([erase], () => position(9));
		await assert.rejects(forgetErased(folder), { code: "IN_USE" });
	}
	const files = () =>
		readdirSync(folder).filter((name) => name.startsWith("changes-"));
	// What a run that was killed left behind.
	const last = files().toSorted().at(-1) as string;
	appendFileSync(join(folder, last), '{"op":"cre');
	writeFileSync(join(folder, `${last}.0a.temporary`), "Pin 1");
	assert.deepEqual(await forgetErased(folder), {
		objects: 1,
		lines: 2,
		files: 2,
	});
	await using sink = await open();
	assert.deepEqual(sink.begun, position(9));
	await sink.take([change(10)], () => position(10));
	const text = files()
		.toSorted()
		.map((name) => readFileSync(join(folder, name), "utf8"))
		.join("");
	assert.doesNotMatch(text, /Pin [15]"/);
	assert.deepEqual(idsIn(text).map(Number), [3, 4, 1, 3, 4, 1, 2, 10]);
	await assert.rejects(forgetErased(folders.path), {
		code: "BAD_DATA",
		message: /is no folder that changes follow wrote/,
	});
});

it("a stream of lines says its position each second and at the end", async () => {
	let text = "";
	const positionFile = path("position.json");
	{
		await using sink = await openLineSink({
			positionFile,
			everyMs: 60_000,
			write: async (more) => {
				text += more;
			},
		});
		await sink.take(changes(1, 1), () => position(1));
		await sink.take(changes(2, 2), () => position(2));
		await sink.take(changes(3, 3), () => position(3));
	}
	const lines = text
		.trimEnd()
		.split("\n")
		.map((line) => JSON.parse(line));
	assert.deepEqual(
		lines.map(({ op }) => op),
		["create", "position", "create", "create", "position"],
	);
	const open = () => openLineSink({ positionFile, write: async () => {} });
	await using again = await open();
	assert.deepEqual(again.begun, position(3));
	await assert.rejects(open(), { code: "IN_USE" });
});

it("a position is that of one stream at a time, until its process ends", async () => {
	const folder = path("locked");
	const positionFile = path("locked.json");
	const holding = (sink: string) =>
		startProgram([], {
			command: [
				process.execPath,
				"--input-type=module",
				"--eval",
				`import { openFileSink } from ${JSON.stringify(join(SINKS, "fileSink.ts"))};
				import { openLineSink } from ${JSON.stringify(join(SINKS, "lineSink.ts"))};
				await ${sink};
				console.log("open");
				setInterval(() => {}, 1_000);`,
			],
		});
	const write = async () => {};
	for (const [open, spelled] of [
		[() => openFileSink(folder), `openFileSink(${JSON.stringify(folder)})`],
		[
			() => openLineSink({ positionFile, write }),
			`openLineSink({ positionFile: ${JSON.stringify(positionFile)} })`,
		],
	] as const) {
		await using other = holding(spelled);
		await other.printed("out", /open/);
		await assert.rejects(open(), {
			code: "IN_USE",
			message: /another changes follow keeps its position there/,
		});
		other.send("SIGKILL");
		await other.ended;
		await using _ = await open();
	}
});

it("a URL gets signed requests in order, each again until it says that it has it", async () => {
	const secret = "of the test of webhooks, 32 bytes or more";
	const got: string[] = [];
	const keys: (string | undefined)[] = [];
	const answers = [500, 302, 429, 200, 503, 200, 200];
	await using server = createServer(async (request, response) => {
		let body = "";
		for await (const chunk of request) body += chunk;
		const [, seconds, signature] =
			/^t=(\d+),v1=([0-9a-f]{64})$/.exec(
				String(request.headers["corkboard-signature"]),
			) ?? [];
		assert.equal(
			createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex"),
			signature,
		);
		keys.push(String(request.headers["idempotency-key"]));
		const status = answers.shift() ?? 200;
		if (status === 200) got.push(...idsIn(body));
		response.writeHead(status, { location: "/elsewhere" }).end();
	});
	await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
	const failures: string[] = [];
	const { port } = server.address() as AddressInfo;
	const options = {
		url: `http://127.0.0.1:${port}/hook?token=planted`,
		secret,
		positionFile: path("position.json"),
		signal: new AbortController().signal,
		onFailure: (_: string, reason: string) => void failures.push(reason),
		firstPauseMs: 1,
	};
	const sink = await openWebhookSink(options);
	await sink.take(changes(1, 2), () => position(2));
	await sink.take(changes(3, 600), () => position(600));
	assert.deepEqual(
		got,
		changes(1, 600).map(({ id }) => id),
	);
	assert.deepEqual(failures, [
		"it answered 500",
		"it answered 302",
		"it answered 429",
		"it answered 503",
	]);
	assert.equal(new Set(keys.slice(0, 4)).size, 1);
	assert.equal(new Set(keys).size, 3);
	await sink[Symbol.asyncDispose]();
	await using again = await openWebhookSink(options);
	assert.deepEqual(again.begun, position(600));
});

it("a stream of Redis has every change in order, also after Redis was away", async () => {
	const options = {
		stream: "changes",
		maxLength: null,
		positionFile: path("position.json"),
		signal: new AbortController().signal,
		firstPauseMs: 10,
	};
	const failures: string[] = [];
	await using server = await startRedis();
	const client = new Redis(server.url, { lazyConnect: true });
	await using sink = await openRedisStreamSink({
		...options,
		url: server.url,
		onFailure: (_, reason) => void failures.push(reason),
	});
	await sink.take(changes(1, 2), () => position(2));
	await client.connect();
	await client.set("other", "");
	await client.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
	await sink.take(changes(3, 600), () => position(600));
	const entries = (await client.xrange("changes", "-", "+")) as [
		string,
		string[],
	][];
	client.disconnect();
	assert.ok(failures.length < 10, failures.join());
	assert.deepEqual(
		entries.map(([, [, id]]) => id),
		changes(1, 600).map(({ id }) => id),
	);
});

describe("what is selected", () => {
	const { model, domain, schema } = theModel();
	const select = (...names: readonly string[]) =>
		readSelection(
			{
				model,
				domain,
				isShown: (type, field) => isShown(schema, type, field),
			},
			names,
		);

	it("has nothing private unless it is named", () => {
		const all = select();
		const user = all.fields.get("User");
		assert.ok(user);
		assert.ok(user.has("username"));
		assert.ok(!user.has("email"));
		assert.ok(!user.has("account"));
		assert.ok(all.mappings.has("likePin"));
		for (const name of [
			"blockUser",
			"blockUser.inverse",
			"savePin",
			"showPin",
		]) {
			assert.ok(!all.mappings.has(name), name);
		}
		const named = select("User.email", "User.blockedUsers");
		assert.deepEqual([...(named.fields.get("User")?.keys() ?? [])], ["email"]);
		assert.equal(select("User.likes").fields.size, 0);
		assert.equal(
			select("Board.secret").fields.get("Board")?.get("secret")?.default,
			false,
		);
		assert.deepEqual([...named.mappings.keys()], ["blockUser"]);
	});

	it("is an error where the SDL has no such name", () => {
		assert.throws(() => select("Pim"), { message: /Did you mean Pin\?/ });
		assert.throws(() => select("Pin.titel"), {
			code: "BAD_USER_INPUT",
			message: /Did you mean Pin\.title\?/,
		});
	});
});

describe("the command changes follow", () => {
	const follow = (...args: readonly string[]) =>
		command(["changes", "follow", ...args], {
			env: { CORKBOARD_TOPOLOGY: join(folders.path, "no-such.json") },
		});

	it("refuses what it could not go on with, before it reads anything", async () => {
		const secret = path("secret");
		writeFileSync(secret, "short");
		for (const [args, code, message] of [
			[["--to", "ftp://a"], 2, /SINK must be|--to must be/],
			[["--since", "abc"], 1, /"abc" is no position/],
			[["--select", "Nope"], 1, /"Nope" is no type/],
			[["--to", "http://127.0.0.1:1/"], 2, /Missing --position-file FILE/],
			[
				["--to", "redis://127.0.0.1:1", "--position-file", path("p")],
				2,
				/needs the name of a stream/,
			],
			[
				["--to", "http://127.0.0.1:1/", "--position-file", path("p")],
				2,
				/Missing --secret-file/,
			],
			[
				[
					"--to",
					"http://127.0.0.1:1/",
					"--position-file",
					path("p"),
					"--secret-file",
					secret,
				],
				1,
				/has 5 bytes, and needs 32: openssl rand/,
			],
			[
				["--to", "redis://127.0.0.1:1/s", "--position-file", "/no/such/file"],
				1,
				/--position-file \/no\/such\/file cannot be written: ENOENT/,
			],
			[["--keep", "1000"], 2, /--keep is for --to redis/],
		] as const) {
			const ran = await follow(...args);
			assert.equal(ran.code, code, `${args}: ${ran.err}`);
			assert.match(ran.err, message);
		}
	});

	it("says that a folder has no data", async () => {
		const ran = await command(["changes", "follow"], {
			env: { CORKBOARD_DATA: folders.path },
		});
		assert.equal(ran.code, 1);
		assert.match(ran.err, /holds no data\. Run serve, init or import first/);
	});
});
