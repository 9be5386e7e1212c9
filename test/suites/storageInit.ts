import assert from "node:assert/strict";
import { test } from "node:test";
import type { OpenStorage } from "../helpers/storageModel.ts";

export function initTests(open: OpenStorage): void {
	test("no table is missing after createTables, and a second call changes nothing", async () => {
		await using opened = await open();
		assert.deepEqual(await opened.storage.admin.missingTables(), []);
		const steps: [number, number][] = [];
		await opened.storage.admin.createTables((done, total) =>
			steps.push([done, total]),
		);
		assert.deepEqual(steps.at(-1), [8, 8]);
		assert.deepEqual(await opened.storage.admin.missingTables(), []);
	});
}
