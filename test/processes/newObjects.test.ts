import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { CACHE_CHANNELS, type CacheCall } from "../../src/cache/diagnostics.ts";
import { View } from "../../src/graph/read/view.ts";
import { createWrites } from "../../src/graph/write/createWrites.ts";
import { type Id, packId, unpackId } from "../../src/id/ids.ts";
import { importAll } from "../helpers/importing.ts";
import { publishedDuring } from "../helpers/publishedDuring.ts";
import { type Fleet, openProcess, type Process, startFleet } from "./fleet.ts";

const PINS = 600;
const SHARDS = 2;
/** How often a transaction runs at most because it met another one or a slow disk: far fewer than there are pins. */
const REPEATS = 6;
const CACHE_VERBS = ["delete"] as const;

async function isRead({ store }: Process, id: Id): Promise<boolean> {
	const [node] = await new View(store, null).readObjects([id]);
	assert.ok(!(node instanceof Error), String(node));
	return node !== null && node !== undefined;
}

/** docs/consistency.md "3. Caches", "New objects". */
describe("a new object", () => {
	let fleet: Fleet;
	before(async () => {
		fleet = await startFleet();
	});
	after(() => fleet[Symbol.asyncDispose]());

	async function owned(process: Process) {
		const writes = createWrites(process.store);
		const user = await writes.create({
			type: "User",
			data: { username: `user_${performance.now()}`.replace(".", "_") },
		});
		const board = await writes.create({
			type: "Board",
			data: { name: "Maps", user_id: user },
		});
		const pin = () =>
			writes.create({
				type: "Pin",
				data: { details: "x", board_id: board, user_id: user },
			});
		return { user, board, pin };
	}

	it("is seen at once by a process that asked for its id before, though it is invalidated nowhere", async () => {
		await using writer = await openProcess(fleet.addresses, { channel: true });
		await using reader = await openProcess(fleet.addresses, { channel: true });
		const { pin } = await owned(writer);
		const first = unpackId(await pin());
		const next = packId({ ...first, local: first.local + 1 });
		for (const process of [reader, writer, reader]) {
			assert.equal(await isRead(process, next), false);
		}
		let created: Id | undefined;
		const calls = await publishedDuring(CACHE_CHANNELS.cacheCall, async () => {
			created = await pin();
		});
		assert.equal(created, next);
		assert.deepEqual(
			(calls as unknown as CacheCall[]).filter(
				({ layer, verb }) =>
					layer === "memcached" && CACHE_VERBS.some((one) => one === verb),
			),
			[],
			"nothing is cached of it, so memcached is not asked",
		);
		assert.equal(await isRead(reader, next), true);
		assert.equal(await isRead(writer, next), true);
	});

	it("is seen by readers that come after it, also while a reader from before it is paused between its read and its fill", async () => {
		await using writer = await openProcess(fleet.addresses, { channel: true });
		await using early = await openProcess(fleet.addresses, { channel: true });
		const { pin } = await owned(writer);
		const first = unpackId(await pin());
		const next = packId({ ...first, local: first.local + 1 });
		const read = early.pauses.hold("objects read");
		const before = isRead(early, next);
		await read.reached;
		assert.equal(await pin(), next);
		assert.equal(await isRead(writer, next), true);
		read.release();
		await before;
		for (const process of [early, writer]) {
			assert.equal(await isRead(process, next), true);
		}
	});

	it("costs an import no cache command: these are one delete for each transaction, of lists", async () => {
		await using process = await openProcess(fleet.addresses, { channel: true });
		const lines = [
			...["imp_a", "imp_b"].map((username) => ({
				type: "User",
				key: username,
				fields: { username },
			})),
			...["imp_a", "imp_b"].map((owner) => ({
				type: "Board",
				key: `b:${owner}`,
				fields: { owner, name: "Maps" },
			})),
			...Array.from({ length: PINS }, (_, n) => ({
				type: "Pin",
				key: `p:${n}`,
				fields: { board: `b:imp_${n % 2 ? "a" : "b"}`, details: `${n}` },
			})),
		];
		const calls = (await publishedDuring(CACHE_CHANNELS.cacheCall, async () => {
			const { report, bad } = await importAll(process, lines);
			assert.deepEqual(bad, []);
			assert.equal(report.pending, 0);
			assert.equal(report.objects.Pin, PINS);
		})) as unknown as CacheCall[];
		const counted = Object.fromEntries(
			CACHE_VERBS.flatMap((verb) =>
				(["memcached", "redis"] as const).map((layer) => {
					const some = calls.filter(
						(call) => call.verb === verb && call.layer === layer,
					);
					const keys = some.reduce((sum, call) => sum + call.keys, 0);
					return [`${verb} ${layer}`, { calls: some.length, keys }];
				}),
			),
		);
		for (const verb of CACHE_VERBS) {
			const { [`${verb} memcached`]: objects, [`${verb} redis`]: lists } =
				counted;
			assert.ok(objects && lists);
			// These are users, who become active: an object that exists changes.
			assert.ok(objects.keys <= 2 * REPEATS, JSON.stringify(counted));
			assert.ok(objects.calls <= SHARDS * REPEATS, JSON.stringify(counted));
			// Boards of users, and pins of users and boards: one transaction a level and shard.
			assert.ok(lists.keys <= 6 * REPEATS, JSON.stringify(counted));
			assert.ok(lists.calls <= 2 * SHARDS * REPEATS, JSON.stringify(counted));
		}
	});
});
