import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { SchemaUses } from "../../src/plan/diagnostics.ts";
import { UsageRecorder } from "../../src/usage/usageRecorder.ts";
import {
	DAY_MS,
	OTHER,
	type UsageBatch,
	type UsageStore,
} from "../../src/usage/usageStore.ts";

const NOON = Date.UTC(2026, 10, 22, 12);
const HASH = "a".repeat(64);

interface Recording {
	readonly recorder: UsageRecorder;
	readonly batches: UsageBatch[];
	isAway: boolean;
	now: number;
}

function record(
	options: { readonly maxClients?: number; readonly maxPairs?: number } = {},
): Recording & AsyncDisposable {
	const batches: UsageBatch[] = [];
	const store: UsageStore = {
		async add(batch) {
			if (!recording.isAway) batches.push(batch);
			return !recording.isAway;
		},
		async [Symbol.asyncDispose]() {},
	};
	const recorder = new UsageRecorder({
		store,
		now: () => recording.now,
		...options,
	});
	const recording = {
		recorder,
		batches,
		isAway: false,
		now: NOON,
		[Symbol.asyncDispose]: () => recorder[Symbol.asyncDispose](),
	};
	return recording;
}

const uses = (...coordinates: string[]): SchemaUses => ({ coordinates });

describe("a recorder of usage", () => {
	test("counts requests by client and document, and stores each once", async () => {
		await using recording = record();
		const { recorder, batches } = recording;
		const home = uses("Query.pins");
		const ran = { uses: home, sha256: HASH, operation: "Home" };
		for (let n = 0; n < 3; n++) recorder.count({ ...ran, client: "web" });
		recorder.count({ ...ran, client: "ios" });
		recorder.count({ ...ran, uses: null, client: "web" });
		await recorder.flush();
		const [batch, ...more] = batches;
		assert.deepEqual(more, []);
		assert.equal(batch?.day, "2026-11-22");
		const key = `${HASH} Home`;
		const coordinates = home.coordinates;
		assert.deepEqual(batch.documents, [
			{ client: "web", key, coordinates, count: 3 },
			{ client: "ios", key, coordinates, count: 1 },
		]);
		await recorder.flush();
		assert.equal(batches.length, 1);
	});

	test("counts the fields of documents in no file, and of those beyond the limit", async () => {
		await using recording = record({ maxPairs: 1 });
		const { recorder, batches } = recording;
		const client = "web";
		const first = { uses: uses("Query.a"), sha256: HASH, operation: null };
		const second = {
			uses: uses("Query.a", "A.b"),
			sha256: HASH,
			operation: null,
		};
		recorder.count({ ...first, client });
		recorder.count({ ...second, client });
		recorder.count({ ...second, client });
		recorder.count({ ...second, sha256: null, client });
		await recorder.flush();
		assert.deepEqual(
			batches.flatMap(({ documents }) => documents.map(({ key }) => key)),
			[HASH],
		);
		assert.deepEqual(
			batches.flatMap(({ others }) => others),
			[
				{
					client,
					requests: 3,
					coordinates: [
						["Query.a", 3],
						["A.b", 3],
					],
				},
			],
		);
	});

	test("counts clients beyond the limit together", async () => {
		await using recording = record({ maxClients: 2 });
		const { recorder, batches } = recording;
		const ran = { uses: uses("Query.a"), sha256: HASH, operation: null };
		for (const client of ["a", "b", "c", "d"]) {
			recorder.count({ ...ran, client });
		}
		await recorder.flush();
		assert.deepEqual(
			batches.flatMap(({ documents }) =>
				documents.map(({ client, count }) => [client, count]),
			),
			[
				["a", 1],
				["b", 1],
				[OTHER, 2],
			],
		);
	});

	test("keeps what a store does not take, and offers the same batch again", async () => {
		await using recording = record();
		const { recorder, batches } = recording;
		const ran = { uses: uses("Query.a"), sha256: HASH, operation: null };
		recording.isAway = true;
		recorder.count({ ...ran, client: "web" });
		await recorder.flush();
		recorder.count({ ...ran, client: "web" });
		await recorder.flush();
		assert.equal(batches.length, 0);
		recording.isAway = false;
		await recorder.flush();
		await recorder.flush();
		assert.deepEqual(
			batches.map(({ number, documents }) => [number, documents[0]?.count]),
			[
				[1, 1],
				[2, 1],
			],
		);
	});

	test("counts each day by itself, marks one without requests, and gives up the oldest while the store is away", async () => {
		await using recording = record();
		const { recorder, batches } = recording;
		const ran = { uses: uses("Query.a"), sha256: HASH, operation: null };
		await recorder.flush();
		assert.deepEqual(
			batches.map(({ day, documents }) => [day, documents.length]),
			[["2026-11-22", 0]],
		);
		recording.isAway = true;
		await recorder.flush();
		for (let day = 0; day < 5; day++) {
			recorder.count({ ...ran, client: "web" });
			recording.now += DAY_MS;
		}
		recording.isAway = false;
		await recorder.flush();
		assert.deepEqual(
			batches.slice(1).map(({ day }) => day),
			["2026-11-25", "2026-11-26", "2026-11-27"],
		);
	});

	test("stores what was counted when it is disposed of, if the store is back soon", async () => {
		const recording = record();
		const { recorder, batches } = recording;
		recording.isAway = true;
		setTimeout(() => {
			recording.isAway = false;
		}, 20);
		recorder.count({
			uses: uses("Query.a"),
			sha256: HASH,
			operation: null,
			client: "web",
		});
		await recording[Symbol.asyncDispose]();
		assert.equal(batches.length, 1);
	});
});
