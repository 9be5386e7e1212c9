import assert from "node:assert/strict";
import { test } from "node:test";
import { createLog } from "../../src/server/log.ts";
import { logEvents } from "../../src/server/logEvents.ts";
import {
	type DatabaseFailure,
	STORAGE_CHANNELS,
} from "../../src/storage/diagnostics.ts";

test("a full disk is logged with its host, once in a while", () => {
	const lines: Record<string, unknown>[] = [];
	const log = createLog({
		level: "info",
		format: "json",
		destination: { write: (line) => lines.push(JSON.parse(line)) },
	});
	using _events = logEvents(log);
	const failed = (host: string, kind: string) =>
		STORAGE_CHANNELS.databaseFailure.publish({
			host,
			kind,
		} satisfies DatabaseFailure);
	failed("a:3306", "timeout");
	for (let n = 0; n < 9; n++) failed("a:3306", "diskFull");
	failed("b:3306", "diskFull");
	assert.deepEqual(
		lines.map(({ level, msg, host }) => ({ level, msg, host })),
		["a:3306", "b:3306"].map((host) => ({
			level: 50,
			msg: "disk full",
			host,
		})),
	);
});
