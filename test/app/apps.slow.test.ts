import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { after, before } from "node:test";
import { openTest } from "../../src/testing/openTest.ts";
import { APPS } from "../helpers/apps.ts";
import { ask } from "../helpers/mysqlStorage.ts";
import { runHere } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { type OwnServices, startServices } from "../services/startServices.ts";
import { appSuite } from "../suites/apps.ts";

const folder = temporaryFolder();
let graphs = 0;
let services: OwnServices;
before(async () => {
	services = await startServices({ mysql: 1 });
});
after(async () => {
	await services?.[Symbol.asyncDispose]();
	folder[Symbol.dispose]();
});

// Users, boards and pins are on MySQL in most other tests.
for (const app of APPS.filter((path) => basename(path) !== "pins")) {
	appSuite(app, "MySQL", async (value, lines) => {
		const [mysql] = services.mysql;
		if (mysql === undefined) throw new Error("expected a MySQL");
		const { url: primary } = mysql;
		// What a fleet knows of its tables is beside its topology.
		const fleet = join(folder.path, `fleet${graphs++}`);
		mkdirSync(fleet);
		const topology = join(fleet, "topology.json");
		const range = [{ range: [0, 1], primary }];
		writeFileSync(
			topology,
			JSON.stringify({
				version: 1,
				shards: [{ range: [0, 1], primary, open: true }],
				lookups: range,
			}),
		);
		for (const kind of ["db", "mod"]) {
			for (const shard of [0, 1]) {
				await ask(mysql, `DROP DATABASE IF EXISTS ${kind}0000${shard}`);
			}
		}
		const env = {
			CORKBOARD_APP: app,
			CORKBOARD_TOPOLOGY: topology,
			CORKBOARD_SECRET: "0123456789abcdef".repeat(4),
		};
		const { code, err } = await runHere(["init"], { env });
		assert.equal(code, 0, err);
		return openTest(value, lines, env);
	});
}
