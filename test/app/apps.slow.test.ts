import { basename, join } from "node:path";
import { after, before } from "node:test";
import events from "../../examples/events/app.ts";
import type { App } from "../../src/app/defineApp.ts";
import { APPS } from "../helpers/apps.ts";
import { openTestOnMysql } from "../helpers/openTestOnMysql.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { type OwnServices, startServices } from "../services/startServices.ts";
import { appSuite } from "../suites/apps.ts";
import { composedKeysSuite } from "../suites/composedKeys.ts";
import { orderedListSuite } from "../suites/orderedLists.ts";

const fleets = temporaryFolder();
let graphs = 0;
let services: OwnServices;
before(async () => {
	services = await startServices({ mysql: 1 });
});
after(async () => {
	await services?.[Symbol.asyncDispose]();
	fleets[Symbol.dispose]();
});

function open(app: App, lines: readonly object[], folder: string) {
	const [mysql] = services.mysql;
	if (mysql === undefined) throw new Error("expected a MySQL");
	const fleet = join(fleets.path, `fleet${graphs++}`);
	return openTestOnMysql(mysql, fleet, { app, folder, lines });
}

// Users, boards and pins are on MySQL in most other tests.
for (const folder of APPS.filter((path) => basename(path) !== "pins")) {
	appSuite(folder, "MySQL", (app, lines) => open(app, lines, folder));
}

orderedListSuite("MySQL", open);
composedKeysSuite("MySQL", () => {
	const folder = APPS.find((path) => basename(path) === "events") ?? "";
	return open(events, [...(events.demo?.graph() ?? [])], folder);
});
