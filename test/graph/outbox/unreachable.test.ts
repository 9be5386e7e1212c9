import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CorkboardError } from "../../../src/errors.ts";
import { deliverPending } from "../../../src/graph/outbox/deliverPending.ts";
import { HostBreakers } from "../../../src/graph/outbox/hostBreakers.ts";
import { OutboxWorker } from "../../../src/graph/outbox/outboxWorker.ts";
import { WritePipeline } from "../../../src/graph/write/pipeline.ts";
import type { Id } from "../../../src/id/ids.ts";
import { packId, unpackId } from "../../../src/id/ids.ts";
import { modShard } from "../../../src/storage/modShard.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import type { JsonObject } from "../../../src/util/json.ts";
import { type Embedded, openEmbedded } from "../../helpers/embedded.ts";
import { readsWith, storageWith } from "../../helpers/storageWith.ts";
import { collect } from "../../helpers/storing.ts";
import { until } from "../../helpers/until.ts";

/** More than two pages. */
const ENTRIES = 450;
const MOD_SHARDS = 4;
const SILENT = 1;

/** A key of the mod shard that does not answer, or of another one. */
function keyOn(isSilent: boolean, n: number): string {
	for (let m = 0; ; m++) {
		const key = `k${n}-${m}`;
		if ((modShard(key, MOD_SHARDS) === SILENT) === isSilent) return key;
	}
}

/** A graph one of whose mod shards does not answer, and how often it was asked. */
async function openHalf() {
	const state = { isSilent: true, asked: 0 };
	const graph = await openEmbedded({
		shards: MOD_SHARDS,
		wrap(storage) {
			const guarded = async <Key extends { key: string }, Row>(
				keys: readonly Key[],
				call: (keys: readonly Key[]) => Promise<readonly Row[]>,
			) => {
				const rows = await call(keys);
				if (!state.isSilent) return rows;
				const isOfSilent = ({ key }: Key) =>
					modShard(key, MOD_SHARDS) === SILENT;
				if (keys.some(isOfSilent)) state.asked++;
				return rows.map((row, at) =>
					isOfSilent(keys[at] as Key) ? noAnswer() : row,
				);
			};
			const overrides: Partial<Storage> = {
				compareAndSetLookups: (changes) =>
					guarded(changes, (some) =>
						storage
							.compareAndSetLookups(
								state.isSilent
									? some.filter(
											({ key }) => modShard(key, MOD_SHARDS) !== SILENT,
										)
									: some,
							)
							.then((rows) => {
								if (!state.isSilent) return rows;
								let next = 0;
								return some.map(({ key }) =>
									modShard(key, MOD_SHARDS) === SILENT
										? null
										: (rows[next++] ?? null),
								);
							}),
					),
				read: readsWith(storage, {
					lookups: (keys) =>
						guarded(keys, (some) => storage.read("lookups", some)),
				}),
			};
			return storageWith(storage, overrides);
		},
	});
	return { graph, state };
}

function noAnswer(): CorkboardError {
	return new CorkboardError("UNAVAILABLE", undefined, {
		details: { kind: "timeout", host: `mod0000${SILENT}.sqlite` },
	});
}

async function enqueue(
	{ storage }: Embedded,
	outboxEntry: JsonObject,
): Promise<void> {
	await storage.transact({
		shard: 0,
		decide: () => ({ result: null, outboxEntry }),
	});
}

const user = (n: number): Id => packId({ shard: 0, type: 3, local: 1_000 + n });

/** By kind of entry, one that needs the mod shard of a key. */
const KINDS: Readonly<
	Record<string, (graph: Embedded, key: string, n: number) => Promise<void>>
> = {
	"import keys": (graph, key, n) =>
		enqueue(graph, { lookups: [{ name: "import", key, id: user(n) }] }),
	reservations: async ({ storage }, key, n) => {
		await storage.transact({
			shard: 0,
			creates: [{ type: "User", data: { username: `u${n}`, version: 1 } }],
			decide: ({ created }) => ({
				result: null,
				outboxEntry: {
					reservations: created.map((id) => ({
						name: "username",
						key,
						id,
						token: "t",
					})),
				},
			}),
		});
	},
	"links to interests": (graph, key, n) =>
		enqueue(graph, {
			links: [
				{
					mapping: "filePin",
					from: packId({ shard: 0, type: 1, local: n + 1 }),
					sequence: 1_000 + n,
					type: "Interest",
					data: { slug: key, name: key },
					shard: 0,
				},
			],
		}),
	"pending objects": async ({ storage, store }, key) => {
		const { lookups = [] } = store.model.objects.get("Interest") ?? {};
		const [lookup] = lookups;
		await storage.transact({
			shard: 0,
			creates: [
				{
					type: "Interest",
					data: {
						slug: key,
						name: key,
						tokens: { [lookup?.name ?? ""]: "t" },
						state: "pending",
						version: 1,
					},
				},
			],
			decide: ({ created }) => ({
				result: null,
				outboxEntry: { pendingObjects: created },
			}),
		});
	},
};

describe("delivery while a mod shard does not answer", () => {
	for (const [what, enqueueOne] of Object.entries(KINDS)) {
		it(`asks it once for all entries with ${what}, and delivers those of other mod shards`, async () => {
			const { graph, state } = await openHalf();
			await using _ = graph;
			let silent = 0;
			for (let n = 0; n < ENTRIES; n++) {
				const isSilent = n % 3 === 0;
				if (isSilent) silent++;
				await enqueueOne(graph, keyOn(isSilent, n), n);
			}
			const writer = new WritePipeline(graph.store);
			const { delivered, undelivered } = await deliverPending(writer, 0, {
				// With a stopped clock no pause ends.
				breakers: new HostBreakers(() => 0),
			});
			assert.deepEqual([delivered, undelivered], [ENTRIES - silent, silent]);
			assert.equal(state.asked, 1);
			state.isSilent = false;
			assert.deepEqual(await deliverPending(writer, 0), {
				delivered: silent,
				undelivered: 0,
				unreadable: 0,
			});
		});
	}
});

describe("an entry of which one host cannot be reached", () => {
	it("is reduced to the parts for that host", async () => {
		const { graph, state } = await openHalf();
		await using _ = graph;
		const [silent, other] = [keyOn(true, 1), keyOn(false, 1)];
		const id = user(1);
		const lookup = (key: string) => ({ name: "import", key, id });
		const edge = {
			mapping: "repin",
			from: packId({ shard: 2, type: 1, local: 5 }),
			to: packId({ shard: 2, type: 1, local: 6 }),
			state: 0,
			version: 1,
			sequence: 9,
		};
		await enqueue(graph, {
			lookups: [lookup(silent), lookup(other)],
			edges: [edge],
			invalidations: { objects: [id], lists: [] },
		});
		const left: unknown[] = [];
		const writer = new WritePipeline(graph.store);
		await deliverPending(writer, 0, {
			onUndelivered: ({ reduced }) => void left.push(reduced),
		});
		assert.deepEqual(left, [{ lookups: [lookup(silent)] }]);
		assert.equal(unpackId(edge.from).shard, 2);
		assert.equal(state.asked, 1);
	});

	it("counts no attempt, however often a process gives it back", async () => {
		const { graph, state } = await openHalf();
		await using _ = graph;
		await enqueue(graph, {
			lookups: [{ name: "import", key: keyOn(true, 1), id: user(1) }],
		});
		const row = async () => (await collect(graph.storage.walk("outbox", 0)))[0];
		{
			await using worker = new OutboxWorker(new WritePipeline(graph.store));
			assert.ok(worker);
			await until("a third delivery in vain", () => state.asked >= 3, 60_000);
		}
		const given = await row();
		assert.equal(given?.attempts, 0);
		assert.match(String(given?.lastError), /^UNAVAILABLE /);
		state.isSilent = false;
		await using worker = new OutboxWorker(new WritePipeline(graph.store));
		assert.ok(worker);
		await until("delivery", async () => (await row()) === undefined, 60_000);
	});

	it("keeps the import keys of objects that wait for it, so that none leads to a rejected object", async () => {
		const { graph, state } = await openHalf();
		await using _ = graph;
		const [username, importKey] = [keyOn(true, 1), keyOn(false, 2)];
		const create = (pending: boolean) =>
			graph.storage.transact<Id>({
				shard: 0,
				creates: [
					{
						type: "User",
						data: {
							username,
							tokens: { username: String(pending) },
							version: 1,
							...(pending && { state: "pending" }),
						},
					},
				],
				decide({ created }) {
					const id = created[0] as Id;
					const lookups = [{ name: "import", key: importKey, id }];
					return {
						result: id,
						...(pending && { outboxEntry: { pendingObjects: [id], lookups } }),
					};
				},
			});
		const { result: imported } = await create(true);
		const writer = new WritePipeline(graph.store);
		const left: unknown[] = [];
		await deliverPending(writer, 0, {
			onUndelivered: ({ reduced }) => void left.push(reduced),
		});
		assert.deepEqual(left, [undefined], "nothing was delivered");

		state.isSilent = false;
		const { result: other } = await create(false);
		await graph.storage.compareAndSetLookups([
			{
				name: "username",
				key: username,
				expect: null,
				next: { id: other, token: "false" },
			},
		]);
		assert.equal((await deliverPending(writer, 0)).delivered, 1);
		const [text] = await graph.storage.read("objects", [imported]);
		assert.equal(JSON.parse(String(text)).state, "rejected");
		assert.deepEqual(
			await graph.storage.read("lookups", [{ name: "import", key: importKey }]),
			[null],
		);
	});
});
