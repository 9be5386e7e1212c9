import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import {
	acceptLoss,
	checkAcceptance,
} from "../../../src/fleet/operations/acceptLoss.ts";
import { listOperations } from "../../../src/fleet/operations/operations.ts";
import type { DeadOptions } from "../../../src/fleet/operations/promoteDead.ts";
import { resumeOperation } from "../../../src/fleet/resumeOperation.ts";
import { Host } from "../../../src/storage/mysql/driver/host.ts";
import { MYSQL_LIMITS } from "../../../src/storage/mysql/mysqlStorage.ts";
import { addressOf } from "../../../src/storage/mysql/serverAddress.ts";
import { answerAsks } from "../../../src/topology/asks.ts";
import { openFileStore } from "../../../src/topology/file/fileStore.ts";
import {
	acceptance,
	readAccepted,
	readLosses,
	recordLoss,
} from "../../../src/topology/guards/losses.ts";
import { readCurrent } from "../../../src/topology/history.ts";
import { Membership } from "../../../src/topology/members.ts";
import type { TopologyStore } from "../../../src/topology/store.ts";
import { deadlineIn } from "../../../src/util/deadline.ts";
import { ask } from "../../helpers/mysqlStorage.ts";
import { command } from "../../helpers/runCommand.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { startMariadb } from "../../services/mariadb.ts";
import { startMysql } from "../../services/mysql.ts";
import type { Server } from "../../services/server.ts";

async function identityOf(server: Server): Promise<string> {
	await using host = new Host(addressOf(server.url, {}), MYSQL_LIMITS, false);
	const options = { shard: 0, deadline: deadlineIn(60_000), isPatient: true };
	await host.rows({ name: "one", text: "SELECT 1", values: [] }, options);
	return host.server?.id ?? "";
}

for (const [product, start, missing] of [
	["MySQL", startMysql, "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5"],
	["MariaDB", startMariadb, null],
] as const) {
	describe(`hosts accept-loss, of ${product}`, () => {
		test("raises ids and generation and ends the stop, also where it is ended half-way and resumed", async () => {
			await using server = await start();
			using folder = temporaryFolder();
			const file = join(folder.path, "topology.json");
			const primary = server.url;
			writeFileSync(
				file,
				JSON.stringify({
					version: 1,
					shards: [{ range: [0, 0], primary, open: true }],
					lookups: [{ range: [0, 0], primary }],
				}),
			);
			await ask(
				server,
				"CREATE DATABASE db00000",
				"CREATE TABLE db00000.pins (local_id BIGINT PRIMARY KEY AUTO_INCREMENT, data TEXT NOT NULL)",
				"INSERT INTO db00000.pins VALUES (7, '')",
			);
			const host = server.address;
			const id = await identityOf(server);
			await using store = openFileStore(file);
			const options = { store, environment: {}, askMs: 1_000, agreeMs: 1_000 };
			await assert.rejects(acceptLoss(options, host), {
				code: "CONFLICT",
				message: /there is nothing to accept/,
			});
			const at = new Date().toISOString();
			await recordLoss(store, host, { host, server: id, missing, at });
			const { faults, loss } = await checkAcceptance(options, host);
			assert.deepEqual(faults, []);
			assert.equal(loss.transactions, missing === null ? 0 : 5);

			const ended = new Error("ended");
			await assert.rejects(
				acceptLoss(
					{
						...options,
						onStep: (step) => {
							if (step === "ids raised") throw ended;
						},
					},
					host,
				),
				ended,
			);
			assert.equal((await readLosses(store)).length, 1);
			const [half] = await listOperations(store);
			const { version } = await resumeOperation(options, half?.id ?? "");
			assert.equal(version, 2);
			assert.deepEqual(await readLosses(store), []);
			assert.deepEqual(await readAccepted(store, host), {
				server: id,
				gtids: missing ?? "",
			});
			const current = await readCurrent(store);
			assert.equal(current?.topology.shards[0]?.generation, 1);
			await ask(server, "INSERT INTO db00000.pins (data) VALUES ('')");
			const [row] = await ask(
				server,
				"SELECT MAX(local_id) AS id FROM db00000.pins",
			);
			assert.ok(Number(row?.id) >= 1_000_000, String(row?.id));
		});
	});
}

describe("a host that was stopped and is in the map no more", () => {
	test("is no problem in status, whose advice would be refused", async () => {
		await using server = await startMysql();
		using folder = temporaryFolder();
		const file = join(folder.path, "topology.json");
		const primary = server.url;
		const range = [0, 0];
		const map = {
			version: 1,
			shards: [{ range, primary, open: true }],
			lookups: [{ range, primary }],
		};
		writeFileSync(file, JSON.stringify(map));
		await using store = openFileStore(file);
		for (const host of [server.address, "gone:3306"]) {
			const loss = { host, server: "b", missing: null, at: "" };
			await recordLoss(store, host, loss);
		}
		const { out } = await command(["status"], {
			env: {
				CORKBOARD_TOPOLOGY: file,
				CORKBOARD_SECRET: "of this test alone of 32 bytes or more",
			},
		});
		assert.match(out, /hosts accept-loss 127\.0\.0\.1:\d+ --dry-run/);
		assert.doesNotMatch(out, /gone/);
	});
});

describe("a loss that grew since it was shown", () => {
	const source = "3e11fa47-71ca-11e1-9e33-c80aa9429562";

	/** Runs `body` with a host that lacks five transactions as processes say. */
	async function withLoss(
		body: (fleet: {
			readonly store: TopologyStore;
			readonly host: string;
			readonly options: DeadOptions;
			/** Processes find that it lacks more. */
			readonly grow: () => Promise<void>;
			/** The acceptance of a smaller loss is over, and has changed nothing. */
			readonly requireNothingAccepted: () => Promise<void>;
		}) => Promise<void>,
	): Promise<void> {
		await using server = await startMysql();
		using folder = temporaryFolder();
		const file = join(folder.path, "topology.json");
		const primary = server.url;
		const range = [0, 0];
		writeFileSync(
			file,
			JSON.stringify({
				version: 1,
				shards: [{ range, primary, open: true }],
				lookups: [{ range, primary }],
			}),
		);
		await ask(server, "CREATE DATABASE db00000");
		await using store = openFileStore(file);
		const host = server.address;
		const id = await identityOf(server);
		const record = (missing: string) =>
			recordLoss(store, host, { host, server: id, missing, at: "" });
		await record(`${source}:1-5`);
		await body({
			store,
			host,
			options: { store, environment: {}, askMs: 1_000, agreeMs: 1_000 },
			grow: () => record(`${source}:1-9`),
			async requireNothingAccepted() {
				const [loss] = await readLosses(store);
				assert.equal(loss?.missing, `${source}:1-9`);
				assert.equal(await readAccepted(store, host), null);
				assert.equal((await readCurrent(store))?.topology.version, 1);
				const records = await listOperations(store);
				assert.deepEqual(
					records.map(({ step }) => step),
					records.map(() => "rolled back"),
				);
			},
		});
	}

	const refusal = {
		code: "CONFLICT",
		message: new RegExp(`lacks by now also .*${source}:6-9`),
	};

	test("is refused if it grew before the operation began, while it runs, or before it is resumed", async () => {
		await withLoss(
			async ({ store, host, options, grow, requireNothingAccepted }) => {
				const shown = await checkAcceptance(options, host);
				await grow();
				await assert.rejects(acceptLoss(options, host, shown), refusal);
				await requireNothingAccepted();

				const ended = new Error("ended");
				await assert.rejects(
					acceptLoss(
						{
							...options,
							onStep: (step) => {
								if (step === "accepted") throw ended;
							},
						},
						host,
					),
					ended,
				);
				const accepted = (await listOperations(store)).find(
					({ step }) => step === "locked",
				);
				assert.equal(accepted?.loss?.gtids, `${source}:1-9`);
				const { version } = await resumeOperation(options, accepted?.id ?? "");
				assert.equal(version, 2);
				assert.equal((await readAccepted(store, host))?.gtids, `${source}:1-9`);
			},
		);
		await withLoss(async ({ host, options, grow, requireNothingAccepted }) => {
			const growing: DeadOptions = {
				...options,
				onStep: async (step) => {
					if (step === "ids raised") await grow();
				},
			};
			await assert.rejects(acceptLoss(growing, host), refusal);
			await requireNothingAccepted();
		});
		await withLoss(
			async ({ store, host, options, grow, requireNothingAccepted }) => {
				const ended = new Error("ended");
				const ending: DeadOptions = {
					...options,
					onStep: (step) => {
						if (step === "accepted") throw ended;
					},
				};
				await assert.rejects(acceptLoss(ending, host), ended);
				await grow();
				const [half] = await listOperations(store);
				await assert.rejects(resumeOperation(options, half?.id ?? ""), refusal);
				await requireNothingAccepted();
			},
		);
	});

	test("is refused if it is more than --gtids names, and another server if the name leads there", async () => {
		await withLoss(async ({ host, options }) => {
			const { faults } = await checkAcceptance(options, host, `${source}:1-4`);
			assert.match(
				faults.join(),
				/5 acknowledged transactions.*not all .*--gtids/,
			);
			const same = await checkAcceptance(options, host, `${source}:1-6`);
			assert.deepEqual(same.faults, []);
			await assert.rejects(
				acceptLoss(options, host, { ...same, server: "another" }),
				{ code: "CONFLICT", message: /leads to .* by now, and not to another/ },
			);
		});
	});
});

describe("the loss of a second failover", () => {
	test("names nothing that was given up before", async () => {
		await using server = await startMysql();
		using folder = temporaryFolder();
		const file = join(folder.path, "topology.json");
		const primary = server.url;
		const range = [0, 0];
		writeFileSync(
			file,
			JSON.stringify({
				version: 1,
				shards: [{ range, primary, open: true }],
				lookups: [{ range, primary }],
			}),
		);
		await using store = openFileStore(file);
		const host = server.address;
		const source = "3e11fa47-71ca-11e1-9e33-c80aa9429562";
		const given = { server: source, gtids: `${source}:1-5` };
		await store.write(await acceptance(store, host, given));
		await using member = new Membership(store, { role: "serve", model: "" });
		await member.say(1, 1);
		await using _answers = answerAsks(store, member.id, () => ({
			acknowledged: `${source}:1-7`,
			state: "idle" as const,
			writes: [5, 6].map((number) => ({
				gtid: `${source}:${number}`,
				at: number,
				wrote: [`${number}`],
			})),
		}));
		const { loss } = await checkAcceptance(
			{ store, environment: {}, askMs: 10_000, agreeMs: 1_000 },
			host,
		);
		assert.equal(loss.gtids, `${source}:6-7`);
		assert.deepEqual(
			loss.writes.map(({ wrote }) => wrote),
			[["6"]],
		);
	});
});
