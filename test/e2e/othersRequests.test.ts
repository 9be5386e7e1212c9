import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import pinsApp from "../../pins/app.ts";
import { openCorkboard } from "../../src/app/openCorkboard.ts";
import { startCorkboardServer } from "../../src/app/startCorkboardServer.ts";
import { readConfig } from "../../src/config/config.ts";
import type { Id } from "../../src/id/ids.ts";
import { createLog } from "../../src/server/log.ts";
import { client } from "../helpers/client.ts";
import { made, mutate, join as signUp } from "../helpers/member.ts";
import { openSocket, postText } from "../helpers/rawSocket.ts";
import { command } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";
import { startMysql } from "../services/mysql.ts";
import { startRedis } from "../services/redis.ts";
import type { Server } from "../services/server.ts";

const PINS = 6;

suite("a request whose reads others wait for", () => {
	const stack = new AsyncDisposableStack();
	let mysql: Server;
	let redis: Server;
	let env: Record<string, string>;
	let annsToken: string;
	let annsBoard: string;
	let bobsBoard: string;
	const pins: string[] = [];
	before(async () => {
		const folder = stack.use(temporaryFolder());
		mysql = stack.use(await startMysql());
		redis = stack.use(await startRedis());
		const file = join(folder.path, "topology.json");
		const range = { range: [0, 0], primary: mysql.url };
		writeFileSync(
			file,
			JSON.stringify({
				version: 1,
				shards: [{ ...range, open: true }],
				lookups: [range],
			}),
		);
		env = {
			HOST: "127.0.0.1",
			CORKBOARD_TOPOLOGY: file,
			CORKBOARD_SECRET: "of the test of requests of others 32 bytes",
			CORKBOARD_RATE_LIMIT: "off",
			CORKBOARD_REDIS: redis.url,
		};
		const init = await command(["init"], { env, open: openCorkboard });
		assert.equal(init.code, 0, init.err);
		await using served = await serveHere();
		({ token: annsToken } = await mutate<{ token: string }>(
			client(served.url),
			"createUser",
			{ username: "ann_reads" },
			"token",
		));
		const ann = client(served.url, annsToken);
		const bob = await signUp(served.url, "bob_reads");
		annsBoard = await made(ann, "createBoard", { name: "a" }, "board");
		bobsBoard = await made(bob, "createBoard", { name: "b" }, "board");
		for (let n = 0; n < PINS; n++) {
			pins.push(await made(ann, "createPin", { boardId: annsBoard }, "pin"));
		}
	});
	after(() => stack.disposeAsync());

	test("fails nobody else when its client disconnects", async () => {
		await using served = await serveHere();
		const anyone = client(served.url);
		for (const id of pins) {
			mysql.pause();
			try {
				const leaving = await openSocket(served.url);
				leaving.write(postText(`{ pin(id: "${id}") { id } }`));
				// No condition to wait for: where this is too short, the reads are not shared.
				await sleep(60);
				const staying = anyone.post(
					`{ pin(id: "${id}") { id owner { username } } }`,
				);
				await sleep(60);
				leaving[Symbol.dispose]();
				await sleep(40);
				mysql.resume();
				const { data, errors } = await staying;
				assert.deepEqual(
					{ data, errors },
					{
						data: { pin: { id, owner: { username: "ann_reads" } } },
						errors: undefined,
					},
				);
			} finally {
				mysql.resume();
			}
		}
	});

	test("fails nobody else when it ends before a read that it has started beside its answer", async () => {
		await using served = await serveHere();
		const { url, corkboard } = served;
		const [anyone, asAnn] = [client(url), client(url, annsToken)];
		await asAnn.data("{ __typename }");
		const boards = [annsBoard, bobsBoard];
		// All but the lists of whom ann blocks.
		await until(
			"the boards and their owners to be in the process",
			async () => {
				for (const id of boards) {
					await anyone.data(
						`{ board(id: "${id}") { name owner { username } } }`,
					);
				}
				return boards.every(
					(id) => corkboard.store.cachedObject(id as Id) !== undefined,
				);
			},
		);
		redis.pause();
		try {
			const own = await asAnn.post(`{ board(id: "${annsBoard}") { name } }`);
			assert.deepEqual(own.data, { board: { name: "a" } });
			const others = await asAnn.post(`{ board(id: "${bobsBoard}") { name } }`);
			assert.deepEqual(
				{ data: others.data, errors: others.errors },
				{ data: { board: { name: "b" } }, errors: undefined },
			);
		} finally {
			redis.resume();
		}
	});

	async function serveHere() {
		await using opened = new AsyncDisposableStack();
		const config = readConfig({ ...env, PORT: "0" });
		const corkboard = opened.use(await openCorkboard(pinsApp, config));
		const log = createLog({
			level: "silent",
			format: "json",
			destination: { write() {} },
		});
		const server = opened.use(await startCorkboardServer(corkboard, { log }));
		const moved = opened.move();
		return {
			url: server.url,
			corkboard,
			[Symbol.asyncDispose]: () => moved.disposeAsync(),
		};
	}
});
