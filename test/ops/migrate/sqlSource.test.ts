import assert from "node:assert/strict";
import { it } from "node:test";
import {
	openSqlSource,
	type SqlConnection,
	type SqlDriver,
} from "../../../src/ops/migrate/sources/sqlSource.ts";

/** An old database without tables, whose connections are counted. */
function fakeDatabase() {
	const counts = { opened: 0, closed: 0 };
	const waiting: ((error: Error) => void)[] = [];
	const connect = async (): Promise<SqlConnection> => {
		counts.opened++;
		return {
			query: async ({ text }) =>
				text === "columns"
					? []
					: new Promise((_, reject) => waiting.push(reject)),
			async close() {
				counts.closed++;
				for (const reject of waiting.splice(0)) reject(new Error("lost"));
			},
		};
	};
	const driver: SqlDriver = {
		name: "fake",
		spelling: {
			quote: (name) => name,
			place: () => "?",
			asText: (column) => column,
		},
		columnsQuery: "columns",
		estimateQuery: () => ({ text: "estimate", values: [] }),
		rank: (_, value) => value,
		connect,
		openLog: () => assert.fail("no log"),
		lag: async (query) => {
			await query({ text: "lag", values: [] });
			return 0;
		},
		takesWrites: async () => null,
		openSessions: async () => null,
		writeMark: async () => "",
		adviceOn: () => null,
		isLost: ({ message }: Error) => message === "lost",
	};
	return { driver, counts, waiting };
}

it("a source that is closed while it is asked how far it is behind opens no further connection", async () => {
	const { driver, counts } = fakeDatabase();
	const source = await openSqlSource(driver, "fake://old", [0, 0, 0]);
	const lag = source.lag();
	await source[Symbol.asyncDispose]();
	assert.equal(await lag, null);
	assert.equal(await source.lag(), null);
	assert.deepEqual(counts, { opened: 1, closed: 1 });
});

it("statements that lose their connection together open one together", async () => {
	const { driver, counts, waiting } = fakeDatabase();
	const source = await openSqlSource(driver, "fake://old", [0]);
	const both = Promise.all([source.lag(), source.lag()]);
	while (waiting.length < 2) await Promise.resolve();
	for (const reject of waiting.splice(0)) reject(new Error("lost"));
	while (waiting.length < 2)
		await new Promise((resolve) => setImmediate(resolve));
	assert.deepEqual(counts, { opened: 2, closed: 2 });
	await source[Symbol.asyncDispose]();
	assert.deepEqual(await both, [null, null]);
});
