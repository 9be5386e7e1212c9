import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join as pathOf } from "node:path";
import { test } from "node:test";
import { createConnection, type RowDataPacket } from "mysql2/promise";
import pinsApp from "../../pins/app.ts";
import { openCorkboard } from "../../src/app/openCorkboard.ts";
import { startCorkboardServer } from "../../src/app/startCorkboardServer.ts";
import { readConfig } from "../../src/config/config.ts";
import type { Id } from "../../src/id/ids.ts";
import { createLog } from "../../src/server/log.ts";
import { client } from "../helpers/client.ts";
import { join, type Member, made, mutate } from "../helpers/member.ts";
import { command } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";
import { startMysql } from "../services/mysql.ts";
import type { Server } from "../services/server.ts";

const SECRET = "of the test of backups 32 bytes at least";

test("a restore of the databases that hosts check names has the jobs that waited, and the home feeds", async () => {
	await using stack = new AsyncDisposableStack();
	const [first, second] = await Promise.all([startMysql(), startMysql()]);
	stack.use(first);
	stack.use(second);
	const folder = stack.use(temporaryFolder());
	const environmentOn = ({ url }: Server, name: string) => {
		const file = pathOf(folder.path, name);
		const range = { range: [0, 1], primary: url };
		writeFileSync(
			file,
			JSON.stringify({
				version: 1,
				shards: [{ ...range, open: true }],
				lookups: [{ range: [0, 0], primary: url }],
				queues: [{ range: [0, 0], primary: url }],
				pools: [range],
				feeds: [range],
			}),
		);
		return {
			PORT: "0",
			HOST: "127.0.0.1",
			CORKBOARD_TOPOLOGY: file,
			CORKBOARD_SECRET: SECRET,
			CORKBOARD_MODE: "development",
			CORKBOARD_GRAPHIQL: "off",
		};
	};

	const env = environmentOn(first, "first.json");
	const init = await command(["init"], { env, open: openCorkboard });
	assert.equal(init.code, 0, init.err);
	const before = await serve(env);
	const ada = await join(before.url, "ada_pins");
	const eve = await join(before.url, "eve_looks");
	const board = await made(ada, "createBoard", { name: "b" }, "board");
	await mutate(eve, "followUser", { userId: ada.id }, "user { id }");
	await pinsOf(eve);
	const shown = await made(ada, "createPin", { boardId: board }, "pin");
	await refreshUntil(eve, shown);
	// Nobody runs this one's job before the backup.
	await before.stopWorker();
	const waiting = await made(ada, "createPin", { boardId: board }, "pin");
	await before[Symbol.asyncDispose]();

	const host = new URL(first.url).host;
	const listed = await command(["hosts", "check", "--databases", host], {
		env,
	});
	assert.equal(listed.code, 0, listed.err);
	const names = listed.out.trim().split("\n");
	assert.deepEqual(names, [
		"corkboard",
		"db00000",
		"db00001",
		"feed00000",
		"feed00001",
		"mod00000",
		"pool00000",
		"pool00001",
		"queue00000",
	]);
	const unknown = await command(["hosts", "check", "--databases", "db9"], {
		env,
	});
	assert.equal(unknown.code, 1);
	assert.match(unknown.err, new RegExp(`no server db9: it has ${host}`));

	for (const name of names) await copyDatabase(name, first.url, second.url);
	await using after = await serve(environmentOn(second, "second.json"));
	const token = await after.tokenOf(eve.id);
	const restored: Member = { ...client(after.url, token), id: eve.id };
	assert.ok((await pinsOf(restored)).includes(shown));
	await refreshUntil(restored, waiting);

	async function serve(given: Readonly<Record<string, string>>) {
		await using opened = new AsyncDisposableStack();
		const corkboard = opened.use(
			await openCorkboard(pinsApp, readConfig(given)),
		);
		const log = createLog({
			level: "silent",
			format: "json",
			destination: { write() {} },
		});
		const { url } = opened.use(await startCorkboardServer(corkboard, { log }));
		const worker = opened.use(
			await corkboard.startWorker({ queues: null, concurrency: 4 }),
		);
		const resources = opened.move();
		return {
			url,
			async tokenOf(user: string) {
				const { accessTokens } = corkboard;
				return accessTokens.signs
					? accessTokens.sign(user as Id)
					: assert.fail();
			},
			stopWorker: () => worker[Symbol.asyncDispose](),
			[Symbol.asyncDispose]: () => resources.disposeAsync(),
		};
	}
});

async function pinsOf(as: Member): Promise<readonly string[]> {
	const { viewer } = await as.data<{
		viewer: { homeFeed: { nodes: readonly { id: string }[] } };
	}>("{ viewer { homeFeed(first: 10) { nodes { id } } } }");
	return viewer.homeFeed.nodes.map(({ id }) => id);
}

async function refreshUntil(as: Member, pin: string): Promise<void> {
	await until("the pin in the feed", async () => {
		await mutate(as, "refreshHomeFeed", { userId: as.id }, "added");
		return (await pinsOf(as)).includes(pin);
	});
}

/** As mysqldump and mysql do, which not every machine has. */
async function copyDatabase(
	name: string,
	from: string,
	to: string,
): Promise<void> {
	const options = {
		connectTimeout: 60_000,
		supportBigNumbers: true,
		bigNumberStrings: true,
	};
	const source = await createConnection({ uri: from, ...options });
	const target = await createConnection({ uri: to, ...options });
	try {
		await target.query(`CREATE DATABASE ${name}`);
		await target.query(`USE ${name}`);
		const [tables] = await source.query<RowDataPacket[]>(
			`SHOW TABLES IN ${name}`,
		);
		for (const row of tables) {
			const table = `\`${Object.values(row)[0]}\``;
			const [[made]] = await source.query<RowDataPacket[]>(
				`SHOW CREATE TABLE ${name}.${table}`,
			);
			await target.query(String(made?.["Create Table"]));
			const [rows] = await source.query<RowDataPacket[]>(
				`SELECT * FROM ${name}.${table}`,
			);
			for (const each of rows) {
				await target.query(`INSERT INTO ${table} SET ?`, each);
			}
		}
	} finally {
		source.destroy();
		target.destroy();
	}
}
