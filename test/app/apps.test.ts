import assert from "node:assert/strict";
import { basename } from "node:path";
import { describe, it } from "node:test";
import { findApp } from "../../src/app/findApp.ts";
import { lockProblems, readApp } from "../../src/app/readApp.ts";
import { openTest } from "../../src/testing/openTest.ts";
import { APPS } from "../helpers/apps.ts";
import { appSuite } from "../suites/apps.ts";

describe("each app", () => {
	for (const folder of APPS) {
		it(`has a lock file of its schema as it is: ${basename(folder)}`, async () => {
			assert.deepEqual(lockProblems(readApp(await findApp(folder))), []);
		});
	}
});

for (const folder of APPS) appSuite(folder, "SQLite", openTest);
