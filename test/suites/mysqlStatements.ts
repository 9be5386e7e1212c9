import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
	setImmediate as nextTurn,
	setTimeout as sleep,
} from "node:timers/promises";
import { createConnection } from "mysql2/promise";
import type { Id } from "../../src/id/ids.ts";
import type {} from "../../src/model/types.ts";
import {
	STORAGE_CHANNELS,
	type WriteRetry,
} from "../../src/storage/diagnostics.ts";
import { type Edge, PRESENT, REMOVED } from "../../src/storage/rows.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { mayBeOfOneShard } from "../../src/storage/storageFailure.ts";
import type { Statement } from "../../src/trace.ts";
import { ask } from "../helpers/mysqlStorage.ts";
import { publishedDuring } from "../helpers/publishedDuring.ts";
import { shapes } from "../helpers/shapes.ts";
import type { OpenStorage } from "../helpers/storageModel.ts";
import { board, MAPPINGS, pin, user } from "../helpers/storageModel.ts";
import {
	codes,
	create,
	good,
	listOf,
	setEdges,
	toggle,
} from "../helpers/storing.ts";
import { timed } from "../helpers/timing.ts";
import { until } from "../helpers/until.ts";
import { recordWriteTrace } from "../helpers/writeTrace.ts";
import type { Server } from "../services/server.ts";

const { likePin, placePin, likedBy } = MAPPINGS;

const LISTS_OF_LIKE = [
	{ mapping: likePin, from: user(1, 0) },
	{ mapping: likedBy, from: pin(1, 1) },
] as const;

function canLike(storage: Storage): boolean {
	return storage.map.canTransactOnBoth(0, 1, LISTS_OF_LIKE);
}

/** A user of shard 0 likes a pin of shard 1: both sides in one transaction. */
function likeOnBoth(storage: Storage): Promise<unknown> {
	const [mine, its] = LISTS_OF_LIKE;
	const edges = [
		{ ...mine, to: its.from },
		{ ...its, to: mine.from },
	];
	return storage.transact({
		shard: 0,
		beside: 1,
		lists: LISTS_OF_LIKE,
		edges,
		decide: ({ now }) => ({
			result: null,
			edges: edges.map((edge) => ({
				...edge,
				sequence: now,
				state: PRESENT,
				version: 1,
			})),
			outboxEntry: { here: 1 },
			besideEntry: { there: 1 },
		}),
	});
}

async function bothCounts(storage: Storage): Promise<readonly number[]> {
	const lists = LISTS_OF_LIKE.map(async ({ mapping, from }) => {
		const { count } = await listOf(storage, mapping, from);
		return count;
	});
	return Promise.all(lists);
}

/** The statements that storage sends to a server. MySQL and MariaDB both run this suite. */
export function mysqlStatementsSuite(
	name: string,
	server: Server,
	open: OpenStorage,
): void {
	describe(`statements of storage on ${name}`, () => {
		test("objects of many types and shards on one host are read by one statement", async () => {
			await using opened = await open();
			const { storage } = opened;
			for (const shard of [0, 1, 2, 3]) {
				await create(storage, shard, "Pin", { shard }, {});
				await create(storage, shard, "User", { shard });
			}
			const ids = [0, 1, 2, 3].flatMap((shard) => [
				pin(1, shard),
				user(1, shard),
				pin(2, shard),
				board(1, shard),
			]);
			let answers: readonly unknown[] = [];
			assert.deepEqual(
				await shapes(async () => {
					answers = await storage.read("objects", ids);
				}),
				["objects pins, users, boards: 12"],
			);
			assert.deepEqual(
				answers,
				[0, 1, 2, 3].flatMap((shard) => [
					`{"shard":${shard}}`,
					`{"shard":${shard}}`,
					"{}",
					null,
				]),
			);
		});

		test("scans of many mappings and shards on one host, and the lists' rows, are read by one statement", async () => {
			await using opened = await open();
			const { storage } = opened;
			await setEdges(storage, likePin, user(1, 2), [
				{ to: pin(1), sequence: 5 },
			]);
			await setEdges(storage, placePin, board(1, 1), [
				{ to: pin(1), sequence: 6 },
				{ to: pin(2), sequence: 7 },
			]);
			const scan = { backward: false, limit: 9 };
			let counts: readonly number[] = [];
			assert.deepEqual(
				await shapes(async () => {
					const answers = await storage.read("lists", [
						{ ...scan, mapping: placePin, from: board(1, 1) },
						{ ...scan, mapping: likePin, from: user(1, 2) },
						{ ...scan, mapping: likedBy, from: pin(1) },
					]);
					counts = answers.map((answer) => good(answer).list.count);
				}),
				["scan placePin, likePin, likePin.inverse: 3"],
			);
			assert.deepEqual(counts, [2, 1, 0]);
		});

		test("more keys than one statement holds are read by a few parallel statements", async () => {
			await using opened = await open();
			const ids = Array.from({ length: 1_100 }, (_, n) => pin(n + 1, n % 4));
			assert.deepEqual(
				await shapes(() => opened.storage.read("objects", ids)),
				["objects pins: 0", "objects pins: 0", "objects pins: 0"],
			);
		});

		test("reads that start together are one statement of each kind", async () => {
			await using opened = await open();
			const { storage } = opened;
			for (const shard of [0, 1])
				await create(storage, shard, "Pin", { shard });
			await setEdges(storage, likedBy, pin(1), [{ to: user(1), sequence: 5 }]);
			const list = { mapping: likedBy, from: pin(1) };
			const scan = { ...list, backward: false, limit: 3 };
			let answers: readonly unknown[] = [];
			const sent = await shapes(async () => {
				answers = await Promise.all([
					storage.read("objects", [pin(1)]),
					storage.read("objects", [pin(1, 1), pin(2)]),
					storage.read("edges", [{ ...list, to: user(1) }]),
					storage.read("edges", [{ ...list, to: user(2) }]),
					storage
						.read("lists", [scan])
						.then((all) => all.map((one) => good(one).edges.length)),
					storage
						.read("lists", [{ ...scan, limit: 0 }])
						.then((all) => all.map((one) => good(one).list.count)),
				]);
			});
			assert.deepEqual(sent.toSorted(), [
				"edges likePin.inverse: 1",
				"objects pins: 2",
				"scan likePin.inverse: 1",
			]);
			const [one, others, [edge] = [], noEdge, edges, counts] =
				answers as (readonly unknown[])[];
			assert.deepEqual(
				[one, others, (edge as Edge).to, noEdge, edges, counts],
				[['{"shard":0}'], ['{"shard":1}', null], user(1), [null], [1], [1]],
			);
		});

		test("a shard that the server refuses to read fails no read that was sent with it", async () => {
			await using opened = await open();
			const { storage } = opened;
			await create(storage, 0, "Pin", {});
			await opened.change(1, "RENAME TABLE pins TO pins_away");
			try {
				const [there, away] = await Promise.all([
					storage.read("objects", [pin(1)]),
					storage.read("objects", [pin(1, 1)]),
				]);
				assert.deepEqual(there, ["{}"]);
				assert.deepEqual(codes(away), ["UNAVAILABLE"]);
			} finally {
				await opened.change(1, "RENAME TABLE pins_away TO pins");
			}
		});

		test("a like takes two round trips, also for a new list", async () => {
			await using opened = await open();
			const { storage } = opened;
			const like = (n: number) => () =>
				toggle(storage, likePin, user(1), pin(n), true);
			const roundTrips = async (body: () => Promise<unknown>) => {
				const sent = await publishedDuring<Statement>(
					STORAGE_CHANNELS.statement,
					body,
				);
				return sent.map(
					({ name, rows, joined }) => `${joined ? "+ " : ""}${name}: ${rows}`,
				);
			};
			assert.deepEqual(await roundTrips(like(1)), [
				"lock lists: 1",
				"+ lists, edges likePin: 1",
				"set likePin: 1",
				"+ set list: 2",
				"+ commit: 0",
			]);
			assert.deepEqual(await roundTrips(like(2)), [
				"lock lists: 1",
				"+ edges likePin: 0",
				"set likePin: 1",
				"+ set list: 2",
				"+ commit: 0",
			]);
		});

		test("a list whose row is gone, against what the process knows, is counted all the same", async () => {
			await using opened = await open();
			const { storage } = opened;
			await toggle(storage, likePin, user(1), pin(1), true);
			await opened.change(0, "DELETE FROM user_likes_pins");
			await opened.change(0, "DELETE FROM lists");
			const sent = await publishedDuring<Statement>(
				STORAGE_CHANNELS.statement,
				() => toggle(storage, likePin, user(1), pin(1), true),
			);
			assert.equal(
				sent.filter(({ joined }) => joined !== true).length,
				3,
				"one round trip more",
			);
			const { count, tos } = await listOf(storage, likePin, user(1));
			assert.deepEqual([count, tos], [1, [pin(1)]]);
		});

		test("the rows of many lists are locked by one statement, and set by one", async () => {
			await using opened = await open();
			const { storage } = opened;
			// Some shards have one of them, one has more than an UPDATE of several tables takes.
			const users = [
				...[user(1, 0), user(2, 0), user(1, 1), user(1, 3)],
				...[1, 2, 3, 4, 5].map((n) => user(n, 2)),
			];
			const all = (n: number) =>
				Promise.all(
					users.map((from) => toggle(storage, likePin, from, pin(n), true)),
				);
			await all(1);
			const sent = await publishedDuring<Statement>(
				STORAGE_CHANNELS.statement,
				() => all(2),
			);
			const rowsOf = (wanted: string) =>
				sent.filter(({ name }) => name === wanted).map(({ rows }) => rows);
			assert.deepEqual(
				[rowsOf("lock lists"), rowsOf("set list"), rowsOf("commit")],
				[[3, 0, 1], [10, 4], [0]],
			);
			for (const from of users) {
				const { count, tos } = await listOf(storage, likePin, from);
				assert.deepEqual([count, tos], [2, [pin(2), pin(1)]]);
			}
		});

		for (const shard of [0, 2]) {
			test(`known lists are read under their locks: of two shards, shard ${shard} is changed meanwhile`, async () => {
				await using opened = await open();
				const { storage } = opened;
				const both = (n: number) =>
					Promise.all(
						[0, 2].map((shard) =>
							toggle(storage, likePin, user(1, shard), pin(n), true),
						),
					);
				await both(1);
				await using other = await createConnection({ uri: server.url });
				await other.query("START TRANSACTION");
				await other.query(`UPDATE db0000${shard}.lists SET count = 7`);
				const waiting = both(2);
				await until("it to wait", async () => {
					const [row] = await ask(
						server,
						"SELECT COUNT(*) AS n FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'",
					);
					return Number(row?.n) > 0;
				});
				await other.query("COMMIT");
				await waiting;
				const { count } = await listOf(storage, likePin, user(1, shard));
				assert.equal(count, 8);
			});
		}

		test("changes of the same list that come together share one transaction", async () => {
			await using opened = await open();
			const { storage } = opened;
			const all = Array.from({ length: 50 }, (_, n) => n + 1);
			const traces = all.map(() => recordWriteTrace());
			const commits = (
				await shapes(() =>
					Promise.all(
						all.map((n, at) =>
							toggle(storage, likedBy, pin(1), user(n), true, traces[at]),
						),
					),
				)
			).filter((shape) => shape.startsWith("commit"));
			assert.equal(commits.length, 1);
			assert.deepEqual(
				traces.map(({ others }) => others),
				all.map(() => [49]),
			);
			assert.deepEqual(traces[7]?.statements, traces[49]?.statements);
			const list = await listOf(storage, likedBy, pin(1));
			assert.equal(list.count, 50);
			assert.deepEqual(
				list.tos,
				all.map((n) => user(n)).reverse(),
				"in the order of arrival",
			);
		});

		test("changes of different lists and shards that come together share round trips and one COMMIT", async () => {
			await using opened = await open();
			const { storage } = opened;
			const traces = [0, 1, 2].map(() => recordWriteTrace());
			const sent = await publishedDuring<Statement>(
				STORAGE_CHANNELS.statement,
				() =>
					Promise.all([
						toggle(storage, likePin, user(1, 0), pin(1), true, traces[0]),
						toggle(storage, likePin, user(1, 2), pin(2), true, traces[1]),
						...[1, 3].map((shard) =>
							storage.transact({
								shard,
								creates: [{ type: "Pin", data: { n: shard } }],
								decide: ({ created }) => ({
									result: created,
									outboxEntry: { n: shard },
								}),
							}),
						),
					]),
			);
			const inserted = sent.filter(({ name }) => name === "insert outbox");
			assert.equal(
				inserted.length,
				1,
				"entries of all shards by one statement",
			);
			const trips = sent.filter(({ joined }) => joined !== true);
			assert.deepEqual(
				[trips.length, sent.at(-1)?.name, sent.at(-1)?.joined],
				[2, "commit", true],
			);
			assert.deepEqual(
				new Set(sent.slice(0, -1).map(({ shard }) => shard)),
				new Set([0, 1, 2, 3]),
			);
			assert.deepEqual(
				traces.map(({ others }) => others),
				[[3], [3], []],
			);
			assert.equal((await listOf(storage, likePin, user(1, 0))).count, 1);
			assert.equal((await listOf(storage, likePin, user(1, 2))).count, 1);
			const entries = await storage.pendingEntries({
				olderThanMs: 0,
				limit: 9,
			});
			assert.deepEqual(
				entries.map(({ shard, entry }) => [shard, entry]),
				[
					[1, { n: 1 }],
					[3, { n: 3 }],
				],
			);
			const deleted = await publishedDuring<Statement>(
				STORAGE_CHANNELS.statement,
				() => storage.deleteOutboxEntries(entries),
			);
			assert.deepEqual(
				deleted.map(({ name, rows }) => [name, rows]),
				[["delete outbox", 2]],
			);
			assert.deepEqual(
				await storage.pendingEntries({ olderThanMs: 0, limit: 9 }),
				[],
			);
			assert.deepEqual(await storage.read("objects", [pin(1, 1)]), ['{"n":1}']);
		});

		test("those that come while a transaction runs go together when it has ended", async () => {
			// Longer than any of them takes.
			await using opened = await open({ gatherMs: 4_000 });
			const { storage } = opened;
			const like = (n: number, shard: number) =>
				toggle(storage, likePin, user(n, shard), pin(n), true);
			await like(1, 0);
			await using other = await createConnection({ uri: server.url });
			await other.query("START TRANSACTION");
			await other.query("SELECT * FROM db00000.lists FOR UPDATE");
			const sent = await publishedDuring<Statement>(
				STORAGE_CHANNELS.statement,
				async () => {
					const all = [toggle(storage, likePin, user(1, 0), pin(2), true)];
					for (let n = 0; n < 9; n++) {
						// Each in a turn of its own.
						await nextTurn();
						all.push(like(3 + n, n % 4));
					}
					await other.query("ROLLBACK");
					await Promise.all(all);
				},
			);
			assert.equal(sent.filter(({ name }) => name === "commit").length, 2);
		});

		test("an outbox says that it has given a local id before the transaction of the entry ends, and has none for one that was rolled back", async () => {
			await using opened = await open();
			const { storage } = opened;
			const [outbox] = storage.map.outboxes;
			assert.ok(outbox);
			const look = async () => {
				const untaken = { after: 0, limit: 1_000 };
				const [seen] = await storage.read("outboxes", [
					{ outbox, untaken, due: null, next: true },
				]);
				assert.ok(seen && !(seen instanceof Error) && seen.next !== null);
				return { next: seen.next, found: seen.untaken.length };
			};
			const before = await look();
			const insert =
				"INSERT INTO corkboard.outbox (shard, entry, ts) VALUES (0, '{}', 1)";
			await using committed = await createConnection({ uri: server.url });
			await using rolledBack = await createConnection({ uri: server.url });
			for (const other of [committed, rolledBack]) {
				await other.query("START TRANSACTION");
				await other.query(insert);
			}
			const given = { next: before.next + 2, found: before.found };
			assert.deepEqual(await look(), given);
			await committed.query("COMMIT");
			await rolledBack.query("ROLLBACK");
			assert.deepEqual(await look(), { ...given, found: before.found + 1 });
			await committed.query("DELETE FROM corkboard.outbox");
			assert.deepEqual(await look(), { ...given, found: 0 });
		});

		test("a transaction that waits for a row which another process keeps locked delays those that come after it by as long as they may gather", async () => {
			await using opened = await open({ gatherMs: 5 });
			const { storage } = opened;
			await toggle(storage, likePin, user(1, 0), pin(1), true);
			await using other = await createConnection({ uri: server.url });
			await other.query("START TRANSACTION");
			await other.query("SELECT * FROM db00000.lists FOR UPDATE");
			let isFree = false;
			const waiting = toggle(storage, likePin, user(1, 0), pin(2), true).then(
				() => {
					isFree = true;
				},
			);
			await nextTurn();
			await toggle(storage, likePin, user(1, 2), pin(1), true);
			assert.equal(isFree, false);
			await other.query("ROLLBACK");
			await waiting;
		});

		test("those that meet another transaction in a deadlock are tried together once more", async () => {
			await using opened = await open();
			const { storage } = opened;
			const like = (shard: number, n: number) =>
				toggle(storage, likePin, user(1, shard), pin(n), true);
			await Promise.all([like(0, 1), like(2, 1)]);
			await using other = await createConnection({ uri: server.url });
			await other.query("START TRANSACTION");
			// The server ends the transaction that has changed less.
			const rows = Array.from({ length: 50 }, () => "('{}', 1)").join();
			await other.query(`INSERT INTO db00003.pins (data, ts) VALUES ${rows}`);
			await other.query("SELECT * FROM db00002.lists FOR UPDATE");
			const traces = [recordWriteTrace(), recordWriteTrace()];
			const sent = await publishedDuring<Statement>(
				STORAGE_CHANNELS.statement,
				async () => {
					const both = Promise.all(
						[0, 2].map((shard, at) =>
							toggle(
								storage,
								likePin,
								user(1, shard),
								pin(2),
								true,
								traces[at],
							),
						),
					);
					await until("it to wait for the second list", async () => {
						const [row] = await ask(
							server,
							"SELECT COUNT(*) AS n FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'",
						);
						return Number(row?.n) > 0;
					});
					await other.query("SELECT * FROM db00000.lists FOR UPDATE");
					await other.query("ROLLBACK");
					await both;
				},
			);
			assert.deepEqual(
				traces.map(({ retries }) => retries),
				[["deadlock"], ["deadlock"]],
			);
			assert.equal(sent.filter(({ name }) => name === "commit").length, 1);
			for (const shard of [0, 2]) {
				assert.equal((await listOf(storage, likePin, user(1, shard))).count, 2);
			}
		});

		test("one of them that throws, also after its object was inserted, writes nothing, and the others are committed", async () => {
			await using opened = await open();
			const { storage } = opened;
			const outcomes = await Promise.allSettled([
				toggle(storage, likePin, user(1, 0), pin(1), true),
				storage.transact({
					shard: 1,
					creates: [{ type: "Pin", data: {} }],
					decide: () => {
						throw new RangeError("no");
					},
				}),
				storage.transact({
					shard: 2,
					objects: [pin(7, 2)],
					decide: () => ({
						result: null,
						objects: [{ id: pin(7, 2), data: {} }],
					}),
				}),
				create(storage, 3, "Pin", { n: 3 }),
			]);
			assert.deepEqual(
				outcomes.map(({ status }) => status),
				["fulfilled", "rejected", "rejected", "fulfilled"],
			);
			assert.equal((await listOf(storage, likePin, user(1, 0))).count, 1);
			const [row] = await ask(server, "SELECT COUNT(*) AS n FROM db00001.pins");
			assert.equal(row?.n, 0);
			const [, , , created] = outcomes;
			assert.deepEqual(
				await storage.read(
					"objects",
					created.status === "fulfilled" ? created.value : [],
				),
				['{"n":3}'],
			);
		});

		test("a row that another process keeps locked delays those that come with it by one lock wait, and after that nobody", async () => {
			await using opened = await open();
			const { storage } = opened;
			await toggle(storage, likePin, user(1, 0), pin(1), true);
			await using other = await createConnection({ uri: server.url });
			await other.query("START TRANSACTION");
			await other.query("UPDATE db00000.lists SET count = count + 0");
			await other.query("SELECT * FROM db00000.lists FOR UPDATE");
			const locked = [1, 2].map((n) =>
				toggle(storage, likePin, user(1, 0), pin(1 + n), true).then(
					() => "done",
					() => "failed",
				),
			);
			const trace = recordWriteTrace();
			const retried = await publishedDuring<WriteRetry>(
				STORAGE_CHANNELS.writeRetry,
				() => toggle(storage, likePin, user(1, 2), pin(1), true, trace),
			);
			// It started again alone.
			assert.deepEqual(trace.retries, ["lockWait"]);
			assert.equal(retried[0]?.reason, "lockWait");
			const isLocked = await Promise.race([
				Promise.all(locked),
				sleep(0, "locked"),
			]);
			assert.equal(isLocked, "locked");
			await Promise.all(locked);
			const again = toggle(storage, likePin, user(1, 0), pin(4), true);
			again.catch(() => {});
			const { ownMs } = await timed(() =>
				toggle(storage, likePin, user(1, 2), pin(2), true),
			);
			assert.ok(ownMs < 1_000, `${ownMs} ms`);
			await other.query("ROLLBACK");
			await again;
			assert.equal((await listOf(storage, likePin, user(1, 2))).count, 2);
		});

		test("both sides of an edge on two shards of a host take two round trips, with an entry in each outbox", async () => {
			await using opened = await open();
			const { storage } = opened;
			assert.equal(canLike(storage), true);
			const sent = await publishedDuring<Statement>(
				STORAGE_CHANNELS.statement,
				() => likeOnBoth(storage),
			);
			assert.equal(sent.filter(({ joined }) => joined !== true).length, 2);
			assert.deepEqual(
				new Set(sent.slice(0, -1).map(({ shard }) => shard)),
				new Set([0, 1]),
			);
			assert.deepEqual(await bothCounts(storage), [1, 1]);
			const entries = await storage.pendingEntries({
				olderThanMs: 0,
				limit: 9,
			});
			assert.deepEqual(
				entries.map(({ shard, entry }) => [shard, entry]),
				[
					[0, { here: 1 }],
					[1, { there: 1 }],
				],
			);
		});

		test("both sides of an edge are changed or neither, and nobody waits twice for a row that another process keeps locked", async () => {
			await using opened = await open();
			const { storage } = opened;
			await toggle(storage, likedBy, pin(1, 1), user(9, 0), true);
			await using other = await createConnection({ uri: server.url });
			await other.query("START TRANSACTION");
			await other.query("SELECT * FROM db00001.lists FOR UPDATE");
			const writing = likeOnBoth(storage);
			assert.equal(canLike(storage), false, "somebody waits for the list");
			await assert.rejects(writing, mayBeOfOneShard);
			assert.equal(canLike(storage), false, "its lock was waited for");
			assert.deepEqual(await bothCounts(storage), [0, 1]);
			// The other side alone is free.
			await toggle(storage, likePin, user(1, 0), pin(1, 1), true);
			await other.query("ROLLBACK");
			assert.deepEqual(await bothCounts(storage), [1, 1]);
		});

		test("a change that throws in a shared transaction writes nothing, and the others are committed", async () => {
			await using opened = await open();
			const { storage } = opened;
			const outcomes = await Promise.allSettled(
				Array.from({ length: 9 }, (_, n) =>
					n % 3 === 1
						? storage.transact({
								shard: 0,
								lists: [{ mapping: likedBy, from: pin(1) }],
								decide: () => {
									throw new RangeError(`no ${n}`);
								},
							})
						: toggle(storage, likedBy, pin(1), user(n + 1), true),
				),
			);
			assert.deepEqual(
				outcomes.map(({ status }) => status),
				Array.from({ length: 9 }, (_, n) =>
					n % 3 === 1 ? "rejected" : "fulfilled",
				),
			);
			assert.equal((await listOf(storage, likedBy, pin(1))).count, 6);
		});

		test("each transaction of a group gets its own outbox key", async () => {
			await using opened = await open();
			const { storage } = opened;
			const keys = await Promise.all(
				Array.from({ length: 8 }, async (_, n) => {
					const { outboxKey } = await storage.transact({
						shard: 0,
						lists: [{ mapping: likedBy, from: pin(1) }],
						decide: () =>
							n % 2 === 0 ? { result: n, outboxEntry: { n } } : { result: n },
					});
					return outboxKey?.local ?? null;
				}),
			);
			const pending = await storage.pendingEntries({
				olderThanMs: 0,
				limit: 99,
			});
			assert.deepEqual(
				keys,
				Array.from({ length: 8 }, (_, n) =>
					n % 2 === 0
						? (pending.find(({ entry }) => entry?.n === n)?.local ?? "none")
						: null,
				),
			);
		});

		test("one of many concurrent moves renumbers the list in its own transaction, and keeps the order", async () => {
			await using opened = await open();
			const { storage } = opened;
			const list = { mapping: placePin, from: board(1) };
			await setEdges(storage, placePin, board(1), [
				{ to: pin(1), sequence: 1 },
				{ to: pin(2), sequence: 2 },
			]);
			const epochs: number[] = [];
			const at = (n: number) =>
				storage.transact({
					shard: 0,
					lists: [list],
					decide: ({ lists: [row] }) => {
						if (n === 3 && row?.epoch === 0) {
							const at = { sequence: 2, to: pin(2) };
							return { result: null, renumber: [{ ...list, at }] };
						}
						epochs.push(row?.epoch ?? -1);
						return { result: null };
					},
				});
			await Promise.all([0, 1, 2, 3, 4, 5].map(at));
			// The first runs alone, as no other waits yet; 1 and 2 are decided once.
			assert.deepEqual(epochs, [0, 0, 0, 1, 1, 1]);
			assert.deepEqual((await listOf(storage, placePin, board(1))).positions, [
				{ sequence: 1_002, to: pin(2) },
				{ sequence: 1, to: pin(1) },
			]);
		});

		test("a list whose row is wrong is recounted from its edges", async () => {
			await using opened = await open();
			const { storage } = opened;
			const list = { mapping: likePin, from: user(1) };
			await setEdges(storage, list.mapping, list.from, [
				{ to: pin(1), sequence: 1 },
				{ to: pin(2), sequence: 2 },
				{ to: pin(3), sequence: 3, state: REMOVED },
			]);
			await ask(
				server,
				"UPDATE db00000.lists SET count = 99, last_sequence = 0, epoch = 4",
			);
			await storage.transact({
				shard: 0,
				lists: [list],
				decide: () => ({ result: null, recount: [list] }),
			});
			const { count, lastSequence, epoch } = await listOf(
				storage,
				list.mapping,
				list.from,
			);
			// No renumbering made epoch 4. Recounted again, the list stays as it is.
			assert.deepEqual([count, lastSequence, epoch], [2, 3, 6]);
			await storage.transact({
				shard: 0,
				lists: [list],
				decide: () => ({ result: null, recount: [list] }),
			});
			const again = await listOf(storage, list.mapping, list.from);
			assert.deepEqual([again.count, again.epoch], [2, 6]);
		});

		test("a page deep in a long list, a single edge and a walk use an index and read only the rows they return", async () => {
			await using opened = await open();
			const { storage } = opened;
			for (const local of [1, 2, 3]) {
				await setEdges(
					storage,
					likePin,
					user(local),
					Array.from({ length: 2_000 }, (_, n) => ({
						to: pin(n + 1),
						sequence: n * 1_000,
					})),
				);
			}
			await ask(server, "ANALYZE TABLE db00000.user_likes_pins");
			const scan = { mapping: likePin, from: user(2), limit: 10 };
			const at = { sequence: 1_000_000, to: pin(1_001) };
			const reads: Readonly<Record<string, () => Promise<unknown>>> = {
				scan: () =>
					storage.read("lists", [{ ...scan, backward: false, after: at }]),
				backward: () =>
					storage.read("lists", [{ ...scan, backward: true, before: at }]),
				heads: () => storage.read("lists", [{ ...scan, backward: false }]),
				ends: () => storage.read("lists", [{ ...scan, backward: true }]),
				counts: () =>
					storage.read("lists", [{ ...scan, backward: false, limit: 0 }]),
				edges: () =>
					storage.read(
						"edges",
						[5, 1_500, 3_000].map((n) => ({
							mapping: likePin,
							from: user(2),
							to: pin(n),
						})),
					),
				lock: () => toggle(storage, likePin, user(2), pin(7), true),
			};
			for (const [what, read] of Object.entries(reads)) {
				const rows = await rowsRead(server, read);
				assert.ok(rows < 40, `${what} read ${rows} rows`);
			}
		});

		test("keys and texts of clients are never run as SQL", async () => {
			await using opened = await open();
			const { storage } = opened;
			const evil = [
				"' OR '1'='1",
				"\\' OR 1=1 -- ",
				'" OR ""="',
				"`; DROP DATABASE db00000; --",
				"\u0000\u001a\n\r\\",
				"%_?:a @@version /*! SELECT */",
				"𝕏'\\",
			];
			const [id = pin(0)] = await create(storage, 0, "Pin", { evil });
			assert.deepEqual(await storage.read("objects", [id]), [
				JSON.stringify({ evil }),
			]);
			await storage.compareAndSetLookups(
				evil.map((key) => ({
					name: "username",
					key,
					expect: null,
					next: { id: user(1), token: key.slice(0, 9) },
				})),
			);
			assert.deepEqual(
				(
					await storage.read(
						"lookups",
						evil.map((key) => ({ name: "username", key })),
					)
				).map((row) => good(row)?.key),
				evil,
			);
			assert.deepEqual(
				await storage.read("lookups", [{ name: "x' OR '1'='1", key: "ann" }]),
				[null],
			);
			for (const text of ["1 OR 1=1", "1)", "1; DROP TABLE pins", "1e3"]) {
				await assert.rejects(storage.read("objects", [text as Id]));
				await assert.rejects(
					storage.read("edges", [
						{ mapping: likePin, from: user(1), to: text as Id },
					]),
				);
			}
			assert.deepEqual(await storage.read("objects", [id]), [
				JSON.stringify({ evil }),
			]);
		});
	});
}

/** How many rows the server read from its tables during `body`, from its own status counters. */
async function rowsRead(
	server: Server,
	body: () => Promise<unknown>,
): Promise<number> {
	const read = async () => {
		const rows = await ask(
			server,
			`SHOW GLOBAL STATUS WHERE Variable_name IN ('Handler_read_next',
				'Handler_read_prev', 'Handler_read_rnd_next', 'Handler_read_key')`,
		);
		return rows.reduce((sum, { Value }) => sum + Number(Value), 0);
	};
	await read();
	const one = await read();
	const two = await read();
	await body();
	// Reading the counters also reads some rows.
	return (await read()) - two - (two - one);
}
