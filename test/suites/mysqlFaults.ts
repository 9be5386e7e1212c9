import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { inspect, isDeepStrictEqual } from "node:util";
import { createConnection } from "mysql2/promise";
import { CorkboardError } from "../../src/errors.ts";
import type { Id } from "../../src/id/ids.ts";
import { lostSentence, lostTables } from "../../src/ops/madeTables.ts";
import { PRESENT } from "../../src/storage/rows.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { BreakableProxy } from "../helpers/breakableProxy.ts";
import { ask, openMysql } from "../helpers/mysqlStorage.ts";
import { shapes } from "../helpers/shapes.ts";
import type { OpenStorage } from "../helpers/storageModel.ts";
import {
	board,
	comment,
	MAPPINGS,
	pin,
	user,
} from "../helpers/storageModel.ts";
import { codes, create, listOf, toggle } from "../helpers/storing.ts";
import { TcpProxy } from "../helpers/tcpProxy.ts";
import { timed } from "../helpers/timing.ts";
import { until } from "../helpers/until.ts";
import { untilWritten } from "../helpers/untilWritten.ts";
import { recordWriteTrace } from "../helpers/writeTrace.ts";
import type { Server } from "../services/server.ts";

const { likePin, likedBy } = MAPPINGS;

/** Tests of storage when the server or the network fails, run on MySQL and MariaDB. */
export function mysqlFaultsSuite(
	name: string,
	server: Server,
	open: OpenStorage,
): void {
	describe(`storage on ${name} under faults`, () => {
		test("reports UNAVAILABLE within the deadline while the server is paused, and recovers when it resumes", async () => {
			await using opened = await open();
			await create(opened.storage, 0, "Pin", {});
			await using storage = await openMysql(server.url, {
				limits: { readMs: 300, rowsMs: 400, writeMs: 400 },
			});
			const isThere = async () =>
				isDeepStrictEqual(await storage.read("objects", [pin(1)]), ["{}"]);
			await until("the pin to be read", isThere);
			server.pause();
			try {
				const { result, ownMs } = await timed(() =>
					Promise.all([
						storage.read("objects", [pin(1), pin(1, 3)]),
						Promise.allSettled([
							toggle(storage, likePin, user(1), pin(1), true),
						]),
					]),
				);
				const [reads, write] = result;
				assert.deepEqual(codes(reads), ["UNAVAILABLE", "UNAVAILABLE"]);
				assert.deepEqual(codesOf(write), ["UNAVAILABLE"]);
				assert.ok(ownMs < 1_500, `it took ${ownMs} ms`);
			} finally {
				server.resume();
			}
			await using later = await openMysql(server.url);
			assert.deepEqual(await later.read("objects", [pin(1)]), ["{}"]);
			await until("the pin to be read again", isThere);
		});

		test("callers that wait for a locked list time out, and leave a connection for other writes", async () => {
			await using opened = await open();
			await using storage = await openMysql(server.url, {
				limits: { rowsMs: 3_000, writeMs: 3_000, connections: 2 },
			});
			await toggle(storage, likedBy, pin(1), user(9), true);
			await using locker = await createConnection(server.url);
			// As Corkboard locks: no gaps between rows.
			await locker.query("SET TRANSACTION ISOLATION LEVEL READ COMMITTED");
			await locker.beginTransaction();
			await locker.query(
				`SELECT * FROM db00000.lists WHERE from_id = ${pin(1)} FOR UPDATE`,
			);
			const waiting = Promise.allSettled(
				[1, 2, 3].map((n) => toggle(storage, likedBy, pin(1), user(n), true)),
			);
			// What comes with them would share their transaction.
			await until("the lock to be waited for", async () => {
				const [row] = await ask(
					server,
					"SELECT COUNT(*) AS n FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'",
				);
				return Number(row?.n) === 1;
			});
			// One of the two connections is left for other callers.
			await toggle(storage, likedBy, pin(2), user(1), true);
			assert.deepEqual(codesOf(await waiting), [
				"UNAVAILABLE",
				"UNAVAILABLE",
				"UNAVAILABLE",
			]);
			await locker.rollback();
			await untilWritten(() =>
				toggle(opened.storage, likedBy, pin(1), user(9), false),
			);
			assert.equal((await listOf(opened.storage, likedBy, pin(1))).count, 0);
		});

		test("objects that are created in a list while the host is slow share transactions, and one of them that throws disturbs no other", async () => {
			await using opened = await open();
			await using proxy = await TcpProxy.to(server.port);
			await using storage = await openMysql(through(server, proxy), {
				limits: { rowsMs: 60_000, writeMs: 60_000 },
			});
			const own = { mapping: MAPPINGS.placePin, from: board(1) };
			const more = { mapping: MAPPINGS.commentPin, from: pin(1) };
			const createIn = (n: number, thrown?: Error) => {
				const trace = recordWriteTrace();
				const creating = storage.transact(
					{
						shard: 0,
						lists: [own, more],
						creates: [{ type: "Pin", data: { n } }],
						decide({ created, lists: [list] }) {
							if (thrown !== undefined) throw thrown;
							const [id = pin(0)] = created;
							const sequence = (list?.lastSequence ?? 0) + 1;
							return {
								result: id,
								edges: [
									{ ...own, to: id, sequence, state: PRESENT, version: 1 },
								],
							};
						},
					},
					trace,
				);
				return { creating, trace };
			};
			// Both lists have rows, and a connection is open.
			await createIn(0).creating;
			proxy.hold();
			const first = createIn(1);
			await until("the first is on its way", () => proxy.held > 0);
			const others = [2, 3, 4, 5, 6, 7, 8, 9].map((n) => createIn(n));
			proxy.release();
			const made = await Promise.all(
				[first, ...others].map(({ creating }) => creating),
			);
			const { tos, count } = await listOf(
				opened.storage,
				own.mapping,
				own.from,
			);
			assert.equal(count, 10);
			const ids = made.map(({ result }) => result);
			assert.deepEqual(tos.toSorted().slice(1), ids.toSorted());
			assert.deepEqual(
				others.map(({ trace }) => trace.others),
				others.map(() => [7]),
			);

			proxy.hold();
			const again = createIn(10);
			await until("the first is on its way", () => proxy.held > 0);
			const settled = Promise.allSettled([
				again.creating,
				createIn(11).creating,
				createIn(12, new RangeError("no")).creating,
				createIn(13).creating,
			]);
			proxy.release();
			const kinds = (await settled).map((one) =>
				one.status === "fulfilled" ? "made" : one.reason.name,
			);
			assert.deepEqual(kinds, ["made", "made", "RangeError", "made"]);
			const after = await listOf(opened.storage, own.mapping, own.from);
			assert.equal(after.count, 13);
		});

		test("a host that takes two and a half seconds for each answer makes a write slow, and does not fail it", async () => {
			await using _opened = await open();
			await using proxy = await TcpProxy.to(server.port);
			await using storage = await openMysql(through(server, proxy));
			await create(storage, 0, "Pin", {});
			proxy.delayMs = 2_500;
			const { result } = await storage.transact({
				shard: 0,
				creates: [{ type: "Pin", data: {} }],
				decide: () => ({ result: "made" }),
			});
			assert.equal(result, "made");
		});

		test("changes that are too large for the server together are made one by one", async () => {
			await using opened = await open();
			const [before] = await ask(server, "SELECT @@max_allowed_packet AS n");
			await ask(server, "SET GLOBAL max_allowed_packet = 16384");
			try {
				await using storage = await openMysql(server.url);
				const text = "x".repeat(2_000);
				const made = await Promise.all(
					Array.from({ length: 30 }, () => create(storage, 0, "Pin", { text })),
				);
				assert.equal(new Set(made.flat()).size, 30);
				const all = await opened.storage.read("objects", made.flat());
				assert.equal(all.filter((one) => one !== null).length, 30);
			} finally {
				await ask(server, `SET GLOBAL max_allowed_packet = ${before?.n}`);
			}
		});

		test("reports UNAVAILABLE for a COMMIT without a response; the transaction may be committed", async () => {
			await using opened = await open();
			await using proxy = await BreakableProxy.before(server.port);
			await using storage = await openMysql(through(server, proxy), {
				limits: { writeMs: 1_500 },
			});
			await storage.read("objects", [pin(1)]);
			proxy.silentAfter = "COMMIT";
			await assert.rejects(create(storage, 0, "Pin", { n: 1 }), {
				code: "UNAVAILABLE",
				message: "Shard 0 does not answer at the moment.",
			});
			assert.deepEqual(await opened.storage.read("objects", [pin(1), pin(2)]), [
				'{"n":1}',
				null,
			]);
		});

		test("replaces idle connections that died, without an error", async () => {
			await using opened = await open();
			await using proxy = await BreakableProxy.before(server.port);
			await using storage = await openMysql(through(server, proxy));
			await create(storage, 0, "Pin", {});
			await storage.read("objects", [pin(1)]);
			proxy.forget();
			assert.deepEqual(await storage.read("objects", [pin(1)]), ["{}"]);
			const trace = recordWriteTrace();
			const { result } = await storage.transact(
				{
					shard: 0,
					creates: [{ type: "Pin", data: {} }],
					decide: ({ created }) => ({ result: created }),
				},
				trace,
			);
			assert.deepEqual([result, trace.retries], [[pin(2)], ["connectionLost"]]);
			assert.deepEqual(await opened.storage.read("objects", [pin(3)]), [null]);
		});

		test("completes all transactions of several connections that lock objects in opposite orders", async () => {
			await using opened = await open();
			await create(opened.storage, 0, "Board", { n: 0 }, { n: 0 });
			const others = await Promise.all(
				[1, 2, 3, 4].map(() => openMysql(server.url)),
			);
			try {
				await Promise.all(
					Array.from({ length: 80 }, (_, n) =>
						raise(others[n % 4] ?? opened.storage, [board(1), board(2)]),
					),
				);
				assert.deepEqual(
					await opened.storage.read("objects", [board(1), board(2)]),
					['{"n":80}', '{"n":80}'],
				);
			} finally {
				for (const other of others) await other[Symbol.asyncDispose]();
			}
		});

		test("retries a transaction after a deadlock and traces the retry", async () => {
			await using opened = await open();
			const { storage } = opened;
			await create(storage, 0, "Board", { n: 0 });
			await create(
				storage,
				0,
				"Pin",
				...Array.from({ length: 20 }, () => ({})),
			);
			await toggle(storage, likedBy, pin(1), user(1), true);
			const trace = recordWriteTrace();
			const other = await createConnection({ uri: server.url });
			try {
				await other.query("BEGIN");
				// The server rolls back the transaction that changed fewer rows.
				await other.query("UPDATE db00000.pins SET data = '{}', ts = ts + 1");
				await other.query(
					"SELECT * FROM db00000.boards WHERE local_id = 1 FOR UPDATE",
				);
				const writing = storage.transact(
					{
						shard: 0,
						lists: [{ mapping: likedBy, from: pin(1) }],
						objects: [board(1)],
						decide: () => ({
							result: "done",
							objects: [{ id: board(1), data: { n: 1 } }],
						}),
					},
					trace,
				);
				await until(
					"its lock of the list, and its wait for the object",
					async () => {
						const [row] = await ask(
							server,
							"SELECT COUNT(*) AS n FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'",
						);
						return Number(row?.n) > 0;
					},
				);
				await other.query("SELECT * FROM db00000.lists FOR UPDATE");
				await other.query("ROLLBACK");
				assert.equal((await writing).result, "done");
			} finally {
				other.destroy();
			}
			// A machine that is paused may have its first wait for the lock end before.
			const others = trace.retries.filter((reason) => reason !== "lockWait");
			assert.deepEqual(others, ["deadlock"]);
			const names = trace.statements.map(({ name }) => name);
			assert.ok(
				names.indexOf("rollback") < names.indexOf("commit"),
				`${names}`,
			);
			assert.deepEqual(await storage.read("objects", [board(1)]), ['{"n":1}']);
		});

		test("concurrent writers to one list cause no deadlock and no wrong count", async () => {
			await using opened = await open();
			const others = await Promise.all(
				[1, 2, 3].map(() => openMysql(server.url)),
			);
			try {
				const rolledBack = await shapes(() =>
					Promise.all(
						Array.from({ length: 600 }, (_, n) =>
							toggle(
								others[n % 3] ?? opened.storage,
								likedBy,
								pin(1),
								user((n % 150) + 1),
								Math.floor(n / 150) % 2 === 0,
							),
						),
					),
				);
				assert.deepEqual(
					rolledBack.filter((shape) => shape.startsWith("rollback")),
					[],
				);
			} finally {
				for (const other of others) await other[Symbol.asyncDispose]();
			}
			const { count, tos } = await listOf(opened.storage, likedBy, pin(1));
			assert.equal(count, tos.length);
		});

		test("logs host, statement and the server's error; the message contains none of them", async () => {
			await using opened = await open();
			await ask(server, "RENAME TABLE db00002.pins TO db00002.gone");
			try {
				const [answer] = await opened.storage.read("objects", [pin(1, 2)]);
				assert.ok(answer instanceof CorkboardError);
				assert.equal(answer.message, "Shard 2 does not answer at the moment.");
				assert.equal(answer.details.host, server.address);
				assert.equal(answer.details.statement, "objects pins");
				assert.match(String(answer.details.reason), /db00002\.pins/);
				const [lookup] = await opened.storage.compareAndSetLookups([
					{
						name: "email",
						key: "private@example.com".repeat(200),
						expect: null,
						next: { id: user(1), token: "n" },
					},
				]);
				assert.ok(lookup instanceof CorkboardError);
				assert.equal(lookup.code, "INTERNAL");
				assert.match(inspect(lookup, { depth: 9 }), /Data too long/);
				assert.doesNotMatch(inspect(lookup, { depth: 9 }), /private/);
			} finally {
				await ask(server, "RENAME TABLE db00002.gone TO db00002.pins");
			}
		});

		test("createTables creates missing tables and changes nothing else", async () => {
			await using opened = await open();
			const { storage } = opened;
			await create(storage, 1, "Pin", { kept: true });
			await ask(
				server,
				"DROP TABLE db00001.comments",
				"DROP DATABASE mod00002",
			);
			await storage.admin.createTables();
			assert.deepEqual(await create(storage, 1, "Comment", {}), [
				comment(1, 1),
			]);
			assert.deepEqual(await storage.read("objects", [pin(1, 1)]), [
				'{"kept":true}',
			]);
			assert.deepEqual(
				(await shapes(() => storage.admin.createTables())).map(
					(shape) => shape.split(":")[0],
				),
				["tables"],
				"only reads where nothing is missing",
			);
		});

		test("the outbox of a host is missing for each shard, and lost once it was made", async () => {
			await using opened = await open();
			const { admin } = opened.storage;
			await ask(server, "RENAME TABLE corkboard.outbox TO corkboard.away");
			try {
				const missing = await admin.missingTables([1, 3]);
				const ofHost = `corkboard.outbox of ${server.address}`;
				const names = ["db00001.corkboard.outbox", "db00003.corkboard.outbox"];
				assert.deepEqual(missing.toSorted(), [ofHost, ...names].toSorted());
				const wanted = admin.tables();
				const lost = (made: readonly string[]) =>
					lostTables(
						{ wanted, missing },
						{ tables: new Set(made), losses: new Map() },
						true,
					);
				assert.deepEqual(lost(wanted).toSorted(), names);
				assert.match(
					lostSentence(names, missing),
					new RegExp(`^1 table was made once and is lost: ${ofHost}\\. `),
				);
				assert.deepEqual(
					lostTables({ wanted, missing }, null, false),
					names,
					"without a record",
				);
			} finally {
				await ask(server, "RENAME TABLE corkboard.away TO corkboard.outbox");
			}
		});

		test("a database that takes no writes, or is not there, takes no entry into the outbox of its host", async () => {
			await using opened = await open();
			const { storage } = opened;
			const write = (shard: number) =>
				storage.transact({
					shard,
					decide: () => ({ result: null, outboxEntry: { n: 1 } }),
				});
			const refusedAs = (kind: string) => (error: CorkboardError) =>
				error.details.kind === kind;
			const fence = async (on: 0 | 1) =>
				ask(server, `ALTER DATABASE db00001 READ ONLY = ${on}`);
			if (name === "MySQL") {
				await fence(1);
				try {
					await assert.rejects(write(1), refusedAs("readOnly"));
					await write(0);
				} finally {
					await fence(0);
				}
			}
			await ask(server, "RENAME TABLE db00001.lists TO db00001.away");
			try {
				await assert.rejects(write(1), refusedAs("moved"));
			} finally {
				await ask(server, "RENAME TABLE db00001.away TO db00001.lists");
			}
			const pending = await storage.pendingEntries({
				olderThanMs: 0,
				limit: 9,
			});
			assert.deepEqual(
				pending.map(({ shard }) => shard),
				name === "MySQL" ? [0] : [],
			);
		});

		test("read-only storage reads and rejects writes", async () => {
			await using opened = await open();
			await create(opened.storage, 0, "Pin", {});
			await using storage = await openMysql(server.url, { readOnly: true });
			assert.deepEqual(await storage.read("objects", [pin(1)]), ["{}"]);
			const refused = {
				name: "TypeError",
				message: `${server.address} was opened read-only and takes no writes.`,
			};
			await assert.rejects(create(storage, 0, "Pin", {}), refused);
			await assert.rejects(storage.admin.createTables(), refused);
			await assert.rejects(storage.compareAndSetLookups([]), refused);
			await assert.rejects(
				storage.deleteOutboxEntries([{ shard: 0, local: 1 }]),
				refused,
			);
		});

		test("loses no acknowledged write when the server is killed during writes", async () => {
			await using opened = await open();
			const { storage } = opened;
			const acknowledged: Id[] = [];
			let failures = 0;
			let stop = false;
			const write = async (writer: number) => {
				for (let n = 0; !stop; n += 1) {
					try {
						const { result } = await storage.transact<Id>({
							shard: writer % 4,
							lists: [{ mapping: likePin, from: user(writer, writer % 4) }],
							creates: [{ type: "Pin", data: { n } }],
							decide: ({ created: [to = pin(0)] }) => ({
								result: to,
								edges: [
									{
										mapping: likePin,
										from: user(writer, writer % 4),
										to,
										sequence: n,
										state: PRESENT,
										version: 1,
									},
								],
								outboxEntry: { to },
							}),
						});
						acknowledged.push(result);
					} catch (thrown) {
						assert.ok(thrown instanceof CorkboardError);
						assert.equal(thrown.code, "UNAVAILABLE");
						failures += 1;
						await sleep(5);
					}
				}
			};
			const writing = Array.from({ length: 8 }, (_, n) => write(n + 1));
			await until("300 writes", () => acknowledged.length >= 300);
			await server.kill("SIGKILL");
			await until("writes to fail", () => failures > 0);
			const before = acknowledged.length;
			await server.restart();
			await until("writes again", () => acknowledged.length >= before + 100);
			stop = true;
			await Promise.all(writing);
			assert.equal(
				(await storage.read("objects", acknowledged)).filter(
					(text) => text === null,
				).length,
				0,
			);
			// Object, edge, count and outbox row are written in one transaction.
			const pending = (
				await storage.pendingEntries({ olderThanMs: 0, limit: 1_000_000 })
			).map(({ entry }) => entry?.to);
			assert.equal(new Set(pending).size, pending.length);
			const all = new Set(pending);
			assert.deepEqual(
				acknowledged.filter((id) => !all.has(id)),
				[],
			);
			let edges = 0;
			for (let writer = 1; writer <= 8; writer += 1) {
				const { count, tos } = await listOf(
					storage,
					likePin,
					user(writer, writer % 4),
				);
				assert.equal(count, tos.length);
				edges += count;
			}
			assert.equal(edges, pending.length);
		});
	});
}

function codesOf(
	outcomes: readonly PromiseSettledResult<unknown>[],
): readonly string[] {
	return outcomes.map((outcome) =>
		outcome.status === "rejected" && outcome.reason instanceof CorkboardError
			? outcome.reason.code
			: outcome.status,
	);
}

function through(server: Server, proxy: { readonly port: number }): string {
	return server.url.replace(`:${server.port}`, `:${proxy.port}`);
}

/** Reads, modifies and writes objects, locked in random order. */
async function raise(storage: Storage, ids: readonly Id[]): Promise<void> {
	const objects = Math.random() < 0.5 ? ids : ids.toReversed();
	await storage.transact({
		shard: 0,
		objects,
		decide: (seen) => ({
			result: null,
			objects: objects.map((id, index) => ({
				id,
				data: { n: ((seen.objects[index]?.n as number) ?? 0) + 1 },
			})),
		}),
	});
}
