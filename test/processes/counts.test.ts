import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
	type Connection,
	createConnection,
	type RowDataPacket,
} from "mysql2/promise";
import { deliverPending } from "../../src/graph/outbox/deliverPending.ts";
import { View } from "../../src/graph/read/view.ts";
import type { Page } from "../../src/graph/types.ts";
import { createWrites } from "../../src/graph/write/createWrites.ts";
import { WritePipeline } from "../../src/graph/write/pipeline.ts";
import type { Id } from "../../src/id/ids.ts";
import { verify } from "../../src/ops/verify/verify.ts";
import { until } from "../helpers/until.ts";
import { type Fleet, openProcess, type Process, startFleet } from "./fleet.ts";
import { makeUser } from "./subjects.ts";

const COUNT_ALONE = {
	edges: false,
	hasNextPage: false,
	hasPreviousPage: false,
	cursors: false,
	totalCount: true,
};
const LIKERS = 24;
const CHANGES = 12;

/** docs/consistency.md "1. Lists and counts": the count row is locked first. */
describe("one pin that many like and unlike at once", () => {
	let fleet: Fleet;
	let processes: readonly [Process, Process];
	/** Has no local cache. */
	let reader: Process;
	let pin: Id;
	before(async () => {
		fleet = await startFleet();
		// Hundreds of writes to one list take as long as the machine needs: this is
		// about counts, not about time.
		const limits = { writeMs: 60_000, rowsMs: 60_000 };
		processes = [
			await openProcess(fleet.addresses, { limits }),
			await openProcess(fleet.addresses, { limits }),
		];
		reader = await openProcess(fleet.addresses, { cacheBytes: 0 });
		const [first] = processes;
		const owner = await makeUser(first, "owner", 0);
		const board = await first.make("Board", { name: "b", user_id: owner });
		pin = await first.make("Pin", { board_id: board, user_id: owner });
	});
	after(async () => {
		for (const process of [...processes, reader]) {
			await process[Symbol.asyncDispose]();
		}
		await fleet[Symbol.asyncDispose]();
	});

	async function likers(count: number, name: string): Promise<readonly Id[]> {
		const users: Id[] = [];
		// Some at a time: their names are reserved by statements of their own, which a busy machine has to answer in two seconds.
		while (users.length < count) {
			const some = Array.from(
				{ length: Math.min(40, count - users.length) },
				(_, n) =>
					processes[0].make("User", {
						username: `${name}_${users.length + n}`,
					}),
			);
			users.push(...(await Promise.all(some)));
		}
		return users;
	}

	const count = async () => (await reader.head("likePin.inverse", pin)).count;

	it("drifts or deadlocks when the edge is locked before the count", async () => {
		await using stack = new AsyncDisposableStack();
		const open = async (isolation: string): Promise<Connection> => {
			const connection = await createConnection(fleet.mysql[0]?.url ?? "");
			stack.defer(() => connection.destroy());
			await connection.query(
				`SET SESSION TRANSACTION ISOLATION LEVEL ${isolation}`,
			);
			return connection;
		};
		const operator = await open("READ COMMITTED");
		for (const sql of [
			"CREATE DATABASE naive",
			"CREATE TABLE naive.edges (from_id INT, to_id INT, PRIMARY KEY (from_id, to_id))",
			"CREATE TABLE naive.lists (from_id INT PRIMARY KEY, count INT)",
			"INSERT INTO naive.lists VALUES (1, 0)",
		]) {
			await operator.query(sql);
		}
		const looks =
			"SELECT to_id FROM naive.edges WHERE from_id = 1 AND to_id = 7";
		const puts = "INSERT IGNORE INTO naive.edges VALUES (1, 7)";

		// Two first likes of one user, from two devices.
		const [a, b] = [await open("READ COMMITTED"), await open("READ COMMITTED")];
		for (const device of [a, b]) {
			await device.beginTransaction();
			await device.query(looks);
		}
		for (const device of [a, b]) {
			await device.query(puts);
			await device.query("UPDATE naive.lists SET count = count + 1");
			await device.commit();
		}
		const [[row]] = await operator.query<RowDataPacket[]>(
			"SELECT (SELECT count FROM naive.lists) AS count, (SELECT COUNT(*) FROM naive.edges) AS edges",
		);
		assert.deepEqual({ ...row }, { count: 2, edges: 1 });

		await operator.query("DELETE FROM naive.edges");
		const [c, d] = [
			await open("REPEATABLE READ"),
			await open("REPEATABLE READ"),
		];
		for (const device of [c, d]) {
			await device.beginTransaction();
			await device.query(`${looks} FOR UPDATE`);
		}
		const outcomes = await Promise.allSettled(
			[c, d].map((device) => device.query(puts)),
		);
		assert.deepEqual(
			outcomes.flatMap((one) =>
				one.status === "rejected" ? [one.reason.code] : [],
			),
			["ER_LOCK_DEADLOCK"],
		);
	});

	it(`is counted exactly by two processes, without an error, with ${LIKERS} users at once`, async () => {
		const users = await likers(LIKERS, "liker");
		const liked = await Promise.all(
			users.map(async (user, n) => {
				let likes = false;
				for (let nth = 0; nth < CHANGES; nth++) {
					// The processes alternate; every third write repeats the current state.
					const { writes, mapping } = processes[(n + nth) % 2] as Process;
					likes = nth % 3 === 2 ? likes : !likes;
					await writes.setEdge(mapping("likePin"), user, pin, likes);
				}
				// The number of turns is even: half of the users make one more change.
				if (n % 2 === 0) return likes;
				const { writes, mapping } = processes[0];
				await writes.setEdge(mapping("likePin"), user, pin, !likes);
				return !likes;
			}),
		);
		const expected = liked.filter(Boolean).length;
		assert.ok(expected > 0 && expected < LIKERS);
		await deliverPending(new WritePipeline(processes[0].store), 0);
		assert.equal(await count(), expected);
		await isClean();
	});

	it("gets hundreds of concurrent likes of one process delivered by that process", async () => {
		const before = await count();
		const users = await likers(400, "fan");
		const [{ writes, mapping, storage }] = processes;
		await Promise.all(
			users.map((user) => writes.setEdge(mapping("likePin"), user, pin, true)),
		);
		// No outbox worker runs here: a delivery that a write did not wait for on a
		// busy machine still ends.
		await until(
			"all to be delivered",
			async () =>
				(await storage.pendingEntries({ olderThanMs: 0, limit: 1_000 }))
					.length === 0,
			30_000,
		);
		assert.equal(await count(), before + users.length);
		const head = await reader.head("likePin.inverse", pin);
		assert.ok(!head.complete || head.size === head.count);
		await isClean();
	});

	it("is counted in the payload of each like with all likes that were committed before it", async () => {
		const before = await count();
		const users = await likers(40, "racer");
		const counts = await Promise.all(
			users.map(async (user, n) => {
				const { store, mapping } = processes[n % 2] as Process;
				const view = new View(store, user);
				const writes = createWrites(store, (written) =>
					view.discardReads(written),
				);
				await writes.setEdge(mapping("likePin"), user, pin, true);
				const [pages, likes] = await Promise.all([
					view.readPages(mapping("likePin.inverse"), [pin], {
						first: 0,
						fields: COUNT_ALONE,
					}),
					view.hasEdges(mapping("likePin"), user, [pin]),
				]);
				assert.deepEqual(likes, [true]);
				return (pages[0] as Page).totalCount ?? 0;
			}),
		);
		await deliverPending(new WritePipeline(processes[0].store), 0);
		assert.equal(await count(), before + users.length);
		for (const [nth, shown] of counts.sort((a, b) => a - b).entries()) {
			assert.ok(shown > before + nth, `${shown} is less than ${before + nth}`);
		}
		assert.equal(counts.at(-1), before + users.length);
		await isClean();
	});

	async function isClean(): Promise<void> {
		const { clean, damage, pendingEntries } = await verify(processes[0].store);
		assert.deepEqual(
			{ clean, damage, pendingEntries },
			{ clean: true, damage: [], pendingEntries: 0 },
		);
	}
});
