import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import pinsApp from "../../pins/app.ts";
import { openCorkboard } from "../../src/app/openCorkboard.ts";
import { readConfig } from "../../src/config/config.ts";
import { checkFleet } from "../../src/fleet/fleetCheck.ts";
import { fleetStatus } from "../../src/fleet/fleetStatus.ts";
import { reportMissingTables } from "../../src/server/reportMissingTables.ts";
import { theModel } from "../helpers/model.ts";
import { ask } from "../helpers/mysqlStorage.ts";
import { runHere } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";
import { startMysql } from "../services/mysql.ts";
import type { Server } from "../services/server.ts";

const FEW = 8;
const MANY = 512;
/** For which a process stands idle: some rounds of everything that it does by itself. Milliseconds. */
const IDLE_MS = 3_000;

let mysql: Server;
before(async () => {
	mysql = await startMysql({
		args: ["--general-log=ON", "--log-output=TABLE"],
	});
});
after(() => mysql[Symbol.asyncDispose]());

/** What a server was asked. */
interface Asked {
	readonly statements: number;
	/** Parts of a UNION and subqueries count too. */
	readonly selects: number;
}

async function askedDuring(work: () => Promise<unknown>): Promise<Asked> {
	await ask(mysql, "TRUNCATE mysql.general_log");
	await work();
	const rows = await ask(
		mysql,
		"SELECT CONVERT(argument USING utf8mb4) AS text FROM mysql.general_log WHERE command_type IN ('Query', 'Execute')",
	);
	const texts = rows
		.map(({ text }) => String(text))
		.filter((text) => !/general_log|SET SESSION/.test(text));
	return {
		statements: texts.length,
		selects: texts.join().match(/\bSELECT\b/gi)?.length ?? 0,
	};
}

/** By what a process or a command does. On each fleet one shard has its tables: what is done with the rows of tables is not counted here. */
async function askedOf(shards: number): Promise<Record<string, Asked>> {
	using folder = temporaryFolder();
	const file = join(folder.path, "topology.json");
	const write = (version: number, count: number) => {
		const range = { range: [0, count - 1], primary: mysql.url };
		const text = {
			version,
			shards: [{ ...range, open: true }],
			lookups: [{ ...range, range: [0, 0] }],
		};
		writeFileSync(file, JSON.stringify(text));
	};
	const env = {
		CORKBOARD_TOPOLOGY: file,
		CORKBOARD_SECRET: "of the tests of density 32 bytes or more",
	};
	write(1, 1);
	assert.equal((await runHere(["init"], { env })).code, 0);
	write(2, shards);
	const config = readConfig(env);
	const asked: Record<string, Asked> = {};
	await using opened = new AsyncDisposableStack();
	asked.start = await askedDuring(async () => {
		const corkboard = opened.use(
			await openCorkboard(pinsApp, config, "readWrite", "serve"),
		);
		let isReported = false;
		opened.use(
			reportMissingTables(corkboard.admin, {
				error() {
					isReported = true;
				},
			}),
		);
		await until("the report of missing tables", () => isReported);
	});
	await sleep(IDLE_MS / 3);
	asked.idle = await askedDuring(() => sleep(IDLE_MS));
	await opened.disposeAsync();
	asked.status = await askedDuring(() => fleetStatus(theModel(), config));
	asked["hosts check"] = await askedDuring(() =>
		checkFleet(theModel(), config, env),
	);
	return asked;
}

it("a process at its start and when idle, status and hosts check ask a host as much with 512 shards as with 8", async () => {
	const few = await askedOf(FEW);
	const many = await askedOf(MANY);
	// Three a second, whatever the number of shards.
	assert.ok((many.idle?.statements ?? 0) <= (3 * IDLE_MS) / 1_000);
	for (const [what, { statements, selects }] of Object.entries(few)) {
		const found = many[what];
		// Rounds of an idle process begin when they like.
		const slack = 1.5;
		assert.ok(
			found !== undefined &&
				found.statements <= statements * slack + 2 &&
				found.selects <= selects * slack + 2,
			`${what}: ${JSON.stringify(found)} with ${MANY} shards, ${JSON.stringify(few[what])} with ${FEW}`,
		);
	}
	// One for the outbox of the host, and one whether a process publishes nothing.
	const { statements = 0 } = many.idle ?? {};
	assert.ok(
		statements <= 3 * (IDLE_MS / 1_000),
		`${statements} statements of an idle process`,
	);
});
