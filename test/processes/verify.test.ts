import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createConnection } from "mysql2/promise";
import { deliverPending } from "../../src/graph/outbox/deliverPending.ts";
import { WritePipeline } from "../../src/graph/write/pipeline.ts";
import { type Id, packId, unpackId } from "../../src/id/ids.ts";
import { createStoredTypes } from "../../src/model/storedTypes.ts";
import { verify } from "../../src/ops/verify/verify.ts";
import { importAll } from "../helpers/importing.ts";
import { theModel } from "../helpers/model.ts";
import { untilWritten } from "../helpers/untilWritten.ts";
import { type Fleet, openProcess, type Process, startFleet } from "./fleet.ts";
import { makeUser } from "./subjects.ts";

/** More than one page of a list. */
const LIKES = 1_050;
const LIKERS = 24;
/** Between two likes of one of them. Milliseconds. */
const PAUSE_MS = 80;
const types = createStoredTypes(theModel().schema);

/** docs/consistency.md "8. Verify" */
describe("verify on MySQL", () => {
	let fleet: Fleet;
	let processes: readonly [Process, Process];
	let reader: Process;
	let owner: Id;
	let board: Id;
	let pin: Id;
	before(async () => {
		fleet = await startFleet({ mysql: 2 });
		const limits = { writeMs: 60_000, rowsMs: 60_000, readMs: 60_000 };
		const open = () => openProcess(fleet.addresses, { limits });
		processes = [await open(), await open()];
		reader = await open();
		const { bad } = await importAll(reader, [
			{ type: "User", key: "owner", fields: { username: "owner", name: "O" } },
			{ type: "Board", key: "board", fields: { owner: "owner", name: "B" } },
			{ type: "Pin", key: "pin", fields: { board: "board", details: "P" } },
			...Array.from({ length: LIKES }, (_, n) => [
				{
					type: "User",
					key: `u${n}`,
					fields: { username: `user${n}`, name: "U" },
				},
				{ edge: "likePin", from: `u${n}`, to: "pin" },
			]).flat(),
		]);
		assert.deepEqual(bad, []);
		[owner, board, pin] = (await Promise.all(
			["owner", "board", "pin"].map(async (key) => {
				const [row] = await reader.storage.read("lookups", [
					{ name: "import", key },
				]);
				assert.ok(row && !(row instanceof Error));
				return row.id;
			}),
		)) as [Id, Id, Id];
	});
	after(async () => {
		for (const process of [...(processes ?? []), reader]) {
			await process?.[Symbol.asyncDispose]();
		}
		await fleet?.[Symbol.asyncDispose]();
	});

	/** Runs SQL on the server of a shard. */
	async function sql(shard: number, text: string, ...values: unknown[]) {
		const server = fleet.mysql[shard < 2 ? 0 : 1];
		const connection = await createConnection(server?.url ?? "");
		try {
			await connection.query(text, values);
		} finally {
			await connection.end();
		}
	}

	it("reports nothing while two processes like and unlike on one long list", async () => {
		const likers = await Promise.all(
			Array.from({ length: LIKERS }, (_, n) =>
				makeUser(processes[0], `liker_${n}`, n % 4),
			),
		);
		const likePin = reader.mapping("likePin");
		let isOver = false;
		let writes = 0;
		const load = likers.map(async (liker, n) => {
			const { writes: own } = processes[n % 2] as Process;
			for (let like = true; !isOver; like = !like) {
				await untilWritten(() => own.setEdge(likePin, liker, pin, like));
				writes++;
				await sleep(PAUSE_MS);
			}
		});
		try {
			for (let time = 0; time < 2; time++) {
				const began = writes;
				const { damage, clean, unchecked } = await verify(reader.store, {
					types,
				});
				assert.deepEqual({ damage, unchecked }, { damage: [], unchecked: [] });
				assert.equal(clean, true);
				assert.ok(writes > began, "expected writes beside verify");
			}
		} finally {
			isOver = true;
			await Promise.all(load);
		}
		await deliverPending(new WritePipeline(reader.store), 0);
		const { clean, pendingEntries, changing } = await verify(reader.store);
		assert.deepEqual([clean, pendingEntries, changing], [true, 0, 0]);
	});

	it("reports and repairs planted damage, and leaves an outbox entry that it cannot read", async () => {
		const home = (id: Id) => `db0000${unpackId(id).shard}`;
		const { shard } = unpackId(pin);
		const likes = `${home(pin)}.pin_liked_by_users`;
		const plants: readonly [number, string, ...unknown[]][] = [
			[
				unpackId(board).shard,
				`UPDATE ${home(board)}.boards SET data = JSON_SET(data, '$.user_id', 'abc', '$.name', 5)`,
			],
			// As far from the others as 64 bits allow.
			[
				shard,
				`UPDATE ${likes} SET sequence = 18446744073709551615, version = 18446744073709551615 WHERE from_id = ? ORDER BY to_id LIMIT 1`,
				BigInt(pin),
			],
			[
				shard,
				`UPDATE ${likes} SET state = 7 WHERE from_id = ? ORDER BY to_id DESC LIMIT 1`,
				BigInt(pin),
			],
			[
				unpackId(owner).shard,
				`INSERT INTO ${home(owner)}.user_likes_pins VALUES (?, ?, 1, 0, 1)`,
				BigInt(owner),
				BigInt(board),
			],
			[
				unpackId(owner).shard,
				`UPDATE ${home(owner)}.lists SET epoch = 18446744073709551615 WHERE from_id = ? AND mapping = 'ownBoard'`,
				BigInt(owner),
			],
			[0, "INSERT INTO corkboard.outbox (shard, entry, ts) VALUES (0, '{', 1)"],
			[
				2,
				"INSERT INTO mod00002.lookups VALUES ('username', 'stray', ?, 'x')",
				BigInt(packId({ shard: 1, type: 900, local: 1 })),
			],
			[
				2,
				"INSERT INTO mod00003.lookups VALUES ('username', 'stray', ?, 'x')",
				BigInt(packId({ shard: 1, type: 900, local: 1 })),
			],
		];
		for (const plant of plants) await sql(...plant);
		const { damage, unchecked } = await verify(reader.store, { types });
		assert.deepEqual(unchecked, []);
		const kinds = damage.map(({ kind }) => kind);
		for (const kind of [
			"wrong type",
			"damaged reference",
			"reference lost",
			"wrong edge number",
			"edge to another type",
			"wrong list number",
			"unreadable entry",
			"misplaced row",
			"wrong count",
		] as const) {
			assert.ok(kinds.includes(kind), `expected ${kind} in ${kinds}`);
		}
		const { remaining, failedRepairs } = await verify(reader.store, {
			types,
			repair: true,
		});
		assert.deepEqual(failedRepairs, []);
		assert.deepEqual(remaining.map(({ kind }) => kind).toSorted(), [
			"misplaced row",
			"unreadable entry",
			"wrong type",
		]);
		const content = await reader.object(board);
		assert.equal(content?.user_id, owner);
		await sql(0, "DELETE FROM corkboard.outbox");
		await sql(2, "DELETE FROM mod00002.lookups WHERE `key` = 'stray'");
		await sql(2, "DELETE FROM mod00003.lookups WHERE `key` = 'stray'");
		await sql(
			unpackId(board).shard,
			`UPDATE ${home(board)}.boards SET data = JSON_SET(data, '$.name', 'B')`,
		);
		const { clean } = await verify(reader.store, { types });
		assert.equal(clean, true);
	});

	it("names the databases of a host that does not answer, and checks the others", async () => {
		const impatient = await openProcess(fleet.addresses, {
			limits: { connectMs: 500, readMs: 5_000 },
		});
		try {
			await fleet.mysql[1]?.kill();
			const { damage, clean, unchecked, checked } = await verify(
				impatient.store,
				{ types },
			);
			assert.deepEqual([damage, clean], [[], false]);
			const places = new Set(unchecked.map(({ place }) => place.slice(0, 8)));
			for (const place of ["db00002.", "db00003.", "mod00002", "mod00003"]) {
				assert.ok(places.has(place), `expected ${place} in ${[...places]}`);
			}
			assert.ok([...places].every((place) => !/0000[01]/.test(place)));
			assert.ok(checked.objects > 100 && checked.edges > 100);
		} finally {
			await impatient[Symbol.asyncDispose]();
		}
	});
});
