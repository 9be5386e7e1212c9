import assert from "node:assert/strict";
import { closeSync, openSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { describe, it } from "node:test";
import { watchDescriptors } from "../../src/server/watchDescriptors.ts";
import { until } from "../helpers/until.ts";

describe("the watch over descriptors", () => {
	it("warns while nine of ten are open, and not before", async () => {
		const folder = "/proc/self/fd";
		const lines: object[] = [];
		const log = {
			warn: (fields: object) => void lines.push(fields),
		} as Parameters<typeof watchDescriptors>[0];
		const limit = (await readdir(folder)).length + 50;
		using _ = watchDescriptors(log, { folder, limit, everyMs: 1 });
		const opened = Array.from({ length: 50 }, () => openSync("/dev/null", "r"));
		try {
			await until("it warns", () => lines.length > 0);
		} finally {
			for (const each of opened) closeSync(each);
		}
		const [{ open }] = lines as [{ open: number }];
		assert.ok(open >= limit * 0.9);
	});
});
