import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import pinsApp from "../../../pins/app.ts";
import { openCorkboard } from "../../../src/app/openCorkboard.ts";
import { startCorkboardServer } from "../../../src/app/startCorkboardServer.ts";
import { readConfig } from "../../../src/config/config.ts";
import { checkDeadPromotion } from "../../../src/fleet/operations/promoteDead.ts";
import { type Id, unpackId } from "../../../src/id/ids.ts";
import { createStoredTypes } from "../../../src/model/storedTypes.ts";
import { verify } from "../../../src/ops/verify/verify.ts";
import { openFileStore } from "../../../src/topology/file/fileStore.ts";
import { Client, readTitles, signUp } from "../../attack/promote/load.ts";
import { ask } from "../../helpers/mysqlStorage.ts";
import { runHere } from "../../helpers/runCommand.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { until } from "../../helpers/until.ts";
import { caughtUp, startMysql, startMysqlPair } from "../../services/mysql.ts";

/** Examples of JSON, by command. */
const SHOWN = JSON.parse(
	readFileSync(
		join(import.meta.dirname, "../../../docs/reference/commands.json"),
		"utf8",
	),
);

test("salvage brings back what a dead primary had and its replica never got: objects under their ids, edges with their counts, also those that a repair has removed, names that are free; what both sides changed is kept apart with both, and a second run brings back nothing", async () => {
	await using pair = await startMysqlPair();
	using folder = temporaryFolder();
	const file = join(folder.path, "topology.json");
	const { primary, replica } = pair;
	await using other = await startMysql();
	const hosts = { primary: primary.url, replica: replica.url };
	writeFileSync(
		file,
		JSON.stringify({
			version: 1,
			shards: [
				{ range: [0, 1], ...hosts, open: true },
				{ range: [2, 3], primary: other.url, open: true },
			],
			lookups: [
				{ range: [0, 1], ...hosts },
				{ range: [2, 3], primary: other.url },
			],
		}),
	);
	const env = {
		CORKBOARD_TOPOLOGY: file,
		CORKBOARD_MODE: "development",
		CORKBOARD_GRAPHIQL: "off",
		CORKBOARD_SECRET: "of this test alone of 32 bytes or more",
		HOST: "127.0.0.1",
		PORT: "0",
		CORKBOARD_LOG: "fatal",
	};
	await using corkboard = await openCorkboard(
		pinsApp,
		readConfig(env),
		"readWrite",
		"serve",
	);
	await corkboard.admin.createTables();
	await using server = await startCorkboardServer(corkboard);
	await using store = openFileStore(file);
	using client = new Client(server.url);
	/** A user on the host that dies, or on the other one. */
	const signUpOn = async (host: "dying" | "other", name: string) => {
		for (let nth = 0; ; nth++) {
			const user = await signUp(client, `${name}_${nth}`);
			const { shard } = unpackId(user.boardId as Id);
			if (shard < 2 === (host === "dying")) {
				return { ...user, username: `${name}_${nth}` };
			}
		}
	};
	const writer = await signUpOn("dying", "writer");
	const fan = await signUpOn("other", "fan");
	const mutate = (
		name: string,
		selection: string,
		input: Readonly<Record<string, unknown>>,
		by = writer,
	) =>
		client
			.ask(
				`mutation ($input: ${name[0]?.toUpperCase()}${name.slice(1)}Input!) { made: ${name}(input: $input) { ${selection} } }`,
				{ input },
				by.token,
			)
			.then(({ made }) => made as { readonly pin: { readonly id: string } });
	const pin = async (title: string) =>
		(
			await mutate("createPin", "pin { id }", {
				boardId: writer.boardId,
				title,
			})
		).pin.id;
	const rename = (pinId: string, title: string) =>
		mutate("updatePin", "pin { id }", { pinId, title });
	const like = (pinId: string, name = "likePin") =>
		mutate(name, "pin { id }", { pinId }, fan);
	const seen = async (id: string) =>
		(
			(await client.ask(
				"query ($id: ID!) { pin(id: $id) { title likedBy(first: 10) { totalCount nodes { username } } board { pins(first: 50) { totalCount nodes { id } } } } }",
				{ id },
			)) as {
				readonly pin: {
					readonly title: string;
					readonly likedBy: {
						readonly totalCount: number;
						readonly nodes: readonly { readonly username: string }[];
					};
					readonly board: {
						readonly pins: {
							readonly totalCount: number;
							readonly nodes: readonly { readonly id: string }[];
						};
					};
				} | null;
			}
		).pin;

	const kept = [await pin("kept 1"), await pin("kept 2"), await pin("kept 3")];
	const [both, onlyLost, liked] = kept as [string, string, string];
	await like(liked);
	await caughtUp(pair);
	await ask(replica, "STOP REPLICA IO_THREAD");
	const lost: string[] = [];
	for (let nth = 0; nth < 40; nth++) lost.push(await pin(`lost ${nth}`));
	const [first] = lost as [string];
	await like(first);
	await like(liked, "unlikePin");
	await rename(both, "of the old side");
	await rename(onlyLost, "renamed, and lost");
	const twice = (await signUpOn("dying", "twice")).username;
	const alone = (await signUpOn("dying", "alone")).username;

	// What a process keeps of itself, on both sides.
	const keepOf = (server: typeof primary, token: string) =>
		ask(
			server,
			`REPLACE INTO mod00000.lookups (name, \`key\`, id, token) VALUES ('unpublished writes', 'ab', 1, '${token}')`,
		);
	await keepOf(primary, "old");
	primary.pause();
	const options = { store, environment: {}, askMs: 60_000, tryMs: 300 };
	await until("nobody counts as reaching it", async () => {
		const { faults } = await checkDeadPromotion(options, primary.address);
		return faults.length === 0;
	});
	const run = (...args: readonly string[]) => runHere(args, { env });
	const promoted = await run(
		...[
			"hosts",
			"promote",
			primary.address,
			"--dead",
			"--yes",
			"--accept-loss",
		],
	);
	assert.ok([0, 3].includes(promoted.code), promoted.err);
	await until("it is written to again", () =>
		rename(both, "of the new side").then(
			() => true,
			() => false,
		),
	);
	const after = await pin("after");
	assert.equal(await seen(first), null);
	// It takes the like of the lost pin away, on both hosts.
	assert.equal((await run("verify", "--repair")).code, 0);
	await signUp(client, twice);
	await keepOf(replica, "new");

	primary.resume();
	const conflicts = join(folder.path, "conflicts.ndjson");
	const salvage = async (...more: readonly string[]) => {
		const ran = await run(
			...["hosts", "salvage", primary.address, "--conflicts", conflicts],
			...["--yes", "--json", ...more],
		);
		assert.ok([0, 3].includes(ran.code), ran.err);
		return { ...JSON.parse(ran.out), code: ran.code, err: ran.err };
	};
	const dry = await salvage("--dry-run");
	assert.equal(dry.code, 0);
	assert.equal(await seen(first), null);
	// The command fences it, even if everybody else forgot to.
	await ask(primary, "SET GLOBAL super_read_only = OFF");
	await ask(primary, "SET GLOBAL read_only = OFF");
	const done = await salvage();
	const { code, err, ...value } = done;
	const shown = SHOWN["hosts salvage"];
	for (const part of [null, "objects", "entries", "verified"] as const) {
		const keysOf = (all: typeof shown) =>
			Object.keys(part === null ? all : all[part]);
		assert.deepEqual(keysOf(value), keysOf(shown));
	}
	await assert.rejects(ask(primary, "CREATE DATABASE of_nobody"), /read-only/);

	assert.deepEqual(
		[dry.objects.lost, dry.objects.back, dry.objects.conflicts],
		[done.objects.lost, done.objects.back, done.objects.conflicts],
	);
	assert.equal(done.objects.conflicts, 1);
	assert.equal(done.objects.back, done.objects.lost - 1);
	const titles = await readTitles([client], [...kept, ...lost, after]);
	assert.equal(titles.size, kept.length + lost.length + 1);
	for (const [nth, id] of lost.entries()) {
		assert.equal(titles.get(id), `lost ${nth}`);
	}
	assert.equal(titles.get(both), "of the new side");
	assert.equal(titles.get(onlyLost), "renamed, and lost");
	const pinOf = async (id: string) => (await seen(id)) ?? assert.fail(id);
	assert.deepEqual((await pinOf(first)).likedBy, {
		totalCount: 1,
		nodes: [{ username: fan.username }],
	});
	assert.deepEqual((await pinOf(liked)).likedBy.totalCount, 0);
	const { board } = await pinOf(first);
	assert.equal(board.pins.totalCount, kept.length + lost.length + 1);
	assert.equal(
		new Set(board.pins.nodes.map(({ id }) => id)).size,
		kept.length + lost.length + 1,
	);

	const lines = readFileSync(conflicts, "utf8").trim().split("\n");
	const kinds = lines.map((line) => JSON.parse(line));
	const object = kinds.find(({ kind }) => kind === "object");
	assert.deepEqual(
		[object.id, object.lost.title, object.current.title, object.kept],
		[both, "of the old side", "of the new side", "current"],
	);
	const name = kinds.find(
		({ kind, key }) => kind === "lookup" && key === twice,
	);
	assert.ok(name, lines.join("\n"));
	assert.ok(!kinds.some((each) => each.name === "unpublished writes"));
	assert.notEqual(name.lost.id, name.current.id);
	assert.equal(code, 3, err);
	assert.equal(value.verified.clean, true, JSON.stringify(value));
	const users = async (username: string) =>
		(
			(await client.ask(
				"query ($username: String!) { user(by: { username: $username }) { id } }",
				{ username },
			)) as { readonly user: { readonly id: string } | null }
		).user?.id;
	assert.ok(await users(alone));
	assert.equal(await users(twice), name.current.id);

	const again = await salvage();
	assert.deepEqual(
		[again.objects.back, again.edges.back, again.lookups.back],
		[0, 0, 0],
		JSON.stringify(again),
	);
	assert.equal((await pinOf(first)).board.pins.totalCount, 44);
	const newer = await salvage("--newer", "--no-verify");
	assert.equal(newer.verified, null);
	const checked = await verify(corkboard.store, {
		types: createStoredTypes(corkboard.schema),
	});
	assert.deepEqual(checked.remaining, []);
	assert.ok(existsSync(conflicts));
	const refused = await run("hosts", "salvage", replica.address);
	assert.equal(refused.code, 1);
	assert.match(refused.err, /No promotion of a dead primary gave .* up/);
});
