import assert from "node:assert/strict";
import { Socket } from "node:net";
import { after, before, beforeEach, describe, test } from "node:test";
import {
	setImmediate as immediate,
	setTimeout as sleep,
} from "node:timers/promises";
import { queryObjects } from "node:v8";
import { createConnection } from "mysql2/promise";
import type { CorkboardError } from "../../../../src/errors.ts";
import {
	type AcknowledgedCommit,
	type DatabaseFailure,
	POOL_LEVELS,
	STORAGE_CHANNELS,
} from "../../../../src/storage/diagnostics.ts";
import { AcknowledgedGtids } from "../../../../src/storage/mysql/driver/acknowledgedWrites.ts";
import type { HostWriteGuard } from "../../../../src/storage/mysql/driver/commitProtocol.ts";
import {
	Host,
	type HostLimits,
} from "../../../../src/storage/mysql/driver/host.ts";
import { HostHealth } from "../../../../src/storage/mysql/driver/hostHealth.ts";
import type { Sql } from "../../../../src/storage/mysql/driver/mysqlConnection.ts";
import { toStorageFailure } from "../../../../src/storage/mysql/driver/toStorageFailure.ts";
import { addressOf } from "../../../../src/storage/mysql/serverAddress.ts";
import {
	StorageFailure,
	toStorageError,
} from "../../../../src/storage/storageFailure.ts";
import {
	type DatabaseHost,
	TOPOLOGY_CHANNELS,
} from "../../../../src/topology/diagnostics.ts";
import { deadlineIn } from "../../../../src/util/deadline.ts";
import { BreakableProxy } from "../../../helpers/breakableProxy.ts";
import { ask } from "../../../helpers/mysqlStorage.ts";
import { publishedDuring } from "../../../helpers/publishedDuring.ts";
import { TcpProxy } from "../../../helpers/tcpProxy.ts";
import { assertAtOnce, timed } from "../../../helpers/timing.ts";
import { until } from "../../../helpers/until.ts";
import { startMysql } from "../../../services/mysql.ts";

const server = await startMysql();
after(() => server.stop());
await ask(
	server,
	"CREATE DATABASE t",
	"CREATE TABLE t.rows (id INT PRIMARY KEY, n INT NOT NULL)",
	"INSERT INTO t.rows VALUES (1, 0), (2, 0)",
);

const LIMITS: HostLimits = {
	connections: 2,
	maxWaiting: 3,
	connectMs: 10_000,
	readMs: 10_000,
	silenceMs: 8_000,
};

function open({
	port = server.port,
	user,
	limits = {},
	readOnly = false,
	guard = null,
}: {
	readonly port?: number;
	/** Without a password. */
	readonly user?: string;
	readonly limits?: Partial<HostLimits>;
	readonly readOnly?: boolean;
	readonly guard?: HostWriteGuard | null;
} = {}): Host {
	const name = `127.0.0.1:${port}`;
	const address = {
		...addressOf(server.url, {}),
		port,
		name,
		...(user !== undefined && { user, password: () => "" }),
	};
	return new Host(address, { ...LIMITS, ...limits }, readOnly, guard);
}

const ONE = sql("one", "SELECT 1");
const SLEEP = sql("sleep", "SELECT SLEEP(30)");
const ADD = sql("add", "UPDATE t.rows SET n = n + 1 WHERE id = 1");

function sql(name: string, text: string): Sql {
	return { name, text, values: [] };
}

function asked(ms = 60_000, signal?: AbortSignal) {
	return { shard: 0, deadline: deadlineIn(ms, signal) };
}

/** The statements the server is executing, except this query. */
async function running(): Promise<readonly unknown[]> {
	const rows = await ask(server, "SHOW FULL PROCESSLIST");
	return rows
		.map(({ Info }) => Info)
		.filter((info) => info !== null && !/PROCESSLIST/.test(info));
}

const eventually = (check: () => Promise<boolean>) => until("it", check);

async function kindOf(promise: Promise<unknown>): Promise<string> {
	try {
		await promise;
		return "none";
	} catch (thrown) {
		if (thrown instanceof StorageFailure) return thrown.kind;
		throw thrown;
	}
}

test("MySQL host: texts reach the server as they are, alone and among other statements", async () => {
	await using host = open();
	const texts = [
		"'",
		"\\",
		"\\'",
		"''\\\\",
		'{"a":"\\\\\\""}',
		"?",
		"$&",
		"%_",
	];
	const values = [...texts, "\0\b\n\r\t\x1a", "é漢🙂", "", "' OR ''='"];
	const echo: Sql = {
		name: "echo",
		text: `SELECT ${values.map((_, at) => `? AS c${at}`).join(", ")}, ? AS n, ? AS id`,
		values: [...values, null, 2n ** 63n - 1n],
	};
	const expected = [[...values, null, `${2n ** 63n - 1n}`]];
	assert.deepEqual(await host.rows(echo, asked()), expected);
	const [echoed] = await host.runTogether([echo, ONE], asked());
	assert.deepEqual(echoed, expected);
});

describe("MySQL host: a topology that names another primary", () => {
	test("before COMMIT rolls the transaction back as readOnly, and sends no single write", async () => {
		let reason: string | null | Promise<string | null> = null;
		await using host = open({
			guard: { begin: () => {}, refusal: () => reason },
		});
		const count = async () =>
			(await host.rows(sql("n", "SELECT n FROM t.rows WHERE id = 2"), asked()))
				.flat()
				.map(Number);
		const before = await count();
		const add = sql("add 2", "UPDATE t.rows SET n = n + 1 WHERE id = 2");
		const write = (answer: typeof reason) =>
			kindOf(
				host.transaction(asked(), async ({ run }) => {
					await run(add);
					reason = answer;
					return { value: null, commit: true };
				}),
			);
		assert.equal(await write("another"), "readOnly");
		reason = null;
		assert.equal(await write(sleep(20).then(() => "another")), "readOnly");
		assert.equal(await kindOf(host.run(add, asked())), "readOnly");
		assert.equal(await kindOf(host.runTogether([add], asked())), "readOnly");
		assert.deepEqual(await count(), before);
		reason = Promise.resolve(null);
		assert.equal(await write(Promise.resolve(null)), "none");
		assert.deepEqual(await count(), [Number(before[0]) + 1]);
	});
});

describe("MySQL host: a server that takes no further connection", () => {
	const FULL = { user: "full" };
	before(() => ask(server, "CREATE USER full@'%' WITH MAX_USER_CONNECTIONS 1"));
	const takePlace = () =>
		createConnection({ host: "127.0.0.1", port: server.port, ...FULL });
	// A server counts a closed connection until it has read its end.
	beforeEach(() =>
		until("no session of the account", async () => {
			const sessions = await ask(
				server,
				"SELECT id FROM information_schema.processlist WHERE user = 'full'",
			);
			return sessions.length === 0;
		}),
	);

	test("is reported down with its reason when this process has none, and up when it gets one", async () => {
		const other = await takePlace();
		const states = await publishedDuring<DatabaseHost>(
			TOPOLOGY_CHANNELS.databaseHost,
			async () => {
				await using host = open(FULL);
				for (let calls = 0; calls < 3; calls++) {
					const failed = await kindOf(host.rows(ONE, asked()));
					assert.equal(failed, "poolExhausted");
				}
				assert.equal(await kindOf(host.rows(ONE, asked())), "hostDown");
				await other.end();
				await eventually(
					async () => (await kindOf(host.rows(ONE, asked()))) === "none",
				);
			},
		);
		assert.deepEqual(
			states.map(({ host, state }) => [host, state]),
			[
				[`127.0.0.1:${server.port}`, "down"],
				[`127.0.0.1:${server.port}`, "up"],
			],
		);
		assert.match(String(states[0]?.error), /max_user_connections/);
	});

	test("is not down for a process that still has one", async () => {
		const states = await publishedDuring<DatabaseHost>(
			TOPOLOGY_CHANNELS.databaseHost,
			async () => {
				await using host = open(FULL);
				await host.transaction(asked(), async ({ rows }) => {
					await rows(ONE);
					for (let calls = 0; calls < 4; calls++) {
						const failed = await kindOf(host.rows(ONE, asked()));
						assert.equal(failed, "poolExhausted");
					}
					return { value: null, commit: false };
				});
			},
		);
		assert.deepEqual(states, []);
	});

	test("leaves failures that hold text, and no socket", async () => {
		const other = await takePlace();
		const failures: CorkboardError[] = [];
		const fail = async () => {
			await using host = open(FULL);
			const thrown = await host.rows(ONE, asked()).catch((it: unknown) => it);
			assert.ok(thrown instanceof StorageFailure);
			failures.push(toStorageError(thrown, 0));
		};
		await fail();
		const before = queryObjects(Socket, { format: "count" });
		for (let n = 0; n < 20; n++) await fail();
		const after = () => queryObjects(Socket, { format: "count" });
		await eventually(async () => after() <= before);
		assert.match(String(failures[20]?.stack), /Shard 0/);
		await other.end();
	});
});

test("MySQL host: a table or disk without space is diskFull, whatever error says it", async () => {
	await ask(
		server,
		"CREATE TABLE t.full (id INT AUTO_INCREMENT PRIMARY KEY, text CHAR(250)) ENGINE = MEMORY MAX_ROWS = 1",
	);
	await using host = open();
	const rows = Array.from({ length: 200 }, () => "('x')").join(", ");
	const fill = sql("fill", `INSERT INTO t.full (text) VALUES ${rows}`);
	const failed = host.transaction(asked(), async ({ run }) => {
		for (let n = 0; n < 1_000; n++) await run(fill);
		return { value: null, commit: true };
	});
	assert.equal(await kindOf(failed), "diskFull");
	// Servers say these of a real disk.
	const texts = [
		[1021, "Disk full (/tmp/x); waiting for someone to free some space"],
		[3675, "Create table/tablespace 'a' failed, as disk is full."],
		[1026, "Error writing file './a' (errno: 28 - No space left on device)"],
		[1030, "Got error 28 from storage engine"],
	] as const;
	for (const [errno, message] of texts) {
		const thrown = Object.assign(new Error(message), {
			errno,
			sqlState: "HY000",
		});
		assert.equal(toStorageFailure(thrown, "a:1", "write").kind, "diskFull");
	}
});

describe("MySQL host: deadlines", () => {
	test("a statement that exceeds its deadline fails with timeout, and is stopped on the server", async () => {
		await using host = open({ limits: { readMs: 60_000 } });
		const { result, ms, ownMs } = await timed(() =>
			kindOf(host.rows(SLEEP, asked(300))),
		);
		assert.equal(result, "timeout");
		assert.ok(ms > 290 && ownMs < 900, `it took ${ms} ms`);
		await eventually(async () => (await running()).length === 0);
		assert.deepEqual(await host.rows(ONE, asked()), [["1"]]);
	});

	test("an aborted statement rejects with the signal's reason, and is stopped on the server", async () => {
		await using host = open({ limits: { readMs: 60_000 } });
		const aborter = new AbortController();
		const reason = new Error("the client went away");
		const sleeping = host.rows(SLEEP, asked(60_000, aborter.signal));
		await eventually(async () => (await running()).length === 1);
		aborter.abort(reason);
		await assert.rejects(sleeping, reason);
		await eventually(async () => (await running()).length === 0);
	});

	test("a write that waits for a lock past its deadline fails with timeout, and changes nothing", async () => {
		await using host = open();
		await host.transaction(asked(), async (statements) => {
			await statements.run(ADD);
			assert.equal(
				await kindOf(
					host.transaction(asked(300), async (other) => {
						await other.run(ADD);
						return { value: null, commit: true };
					}),
				),
				"timeout",
			);
			return { value: null, commit: false };
		});
		await eventually(async () => (await running()).length === 0);
		const [row] = await ask(server, "SELECT n FROM t.rows WHERE id = 1");
		assert.equal(row?.n, 0);
	});

	test("keeps the deadline on a paused server, and leaves no statement running", async () => {
		await using host = open({ limits: { readMs: 500 } });
		await host.rows(ONE, asked());
		// Long enough to see the statement run before the server is paused.
		const sleeping = host.rows(SLEEP, asked(1_000));
		sleeping.catch(() => {});
		await eventually(async () => (await running()).length === 1);
		server.pause();
		try {
			const { ownMs } = await timed(async () => {
				assert.equal(await kindOf(sleeping), "timeout");
				// First on an open connection, then on a new one.
				assert.equal(await kindOf(host.rows(SLEEP, asked(400))), "timeout");
				assert.equal(await kindOf(host.rows(SLEEP, asked(400))), "timeout");
			});
			assert.ok(ownMs < 2_000, `it took ${ownMs} ms`);
		} finally {
			server.resume();
		}
		await eventually(async () => (await running()).length === 0);
		await eventually(
			async () => (await kindOf(host.rows(ONE, asked()))) === "none",
		);
	});
});

describe("MySQL host: connection pool", () => {
	test("makes a caller wait for a free connection until its deadline, and limits waiting callers", async () => {
		await using host = open();
		const holder = await createConnection(server.url);
		using _ = { [Symbol.dispose]: () => holder.destroy() };
		await holder.query("SELECT GET_LOCK('held', 0)");
		const held = sql(
			"held",
			"SELECT GET_LOCK('held', 60), RELEASE_LOCK('held')",
		);
		const using = [host.rows(held, asked()), host.rows(held, asked())];
		// Before that, the server has opened none, which is its silence.
		await eventually(async () => (await running()).length === 2);
		const first = kindOf(host.rows(ONE, asked()));
		const impatient = timed(() => kindOf(host.rows(ONE, asked(100))));
		const waiting = [
			first,
			impatient.then(({ result }) => result),
			kindOf(host.rows(ONE, asked())),
		];
		assert.equal(
			await assertAtOnce(kindOf(host.rows(ONE, asked()))),
			"poolExhausted",
			"refused at once",
		);
		const { result, ownMs } = await impatient;
		assert.equal(result, "poolExhausted");
		assert.ok(ownMs < 300, `given up after ${ownMs} ms`);
		holder.destroy();
		await Promise.all(using);
		assert.deepEqual(await Promise.all(waiting), [
			"none",
			"poolExhausted",
			"none",
		]);
		// The server may not have closed the test's own connections yet.
		await eventually(async () => {
			const [row] = await ask(
				server,
				"SELECT COUNT(*) AS n FROM information_schema.processlist WHERE command = 'Sleep'",
			);
			return row?.n === 2;
		});
	});

	test("gives no connection to a caller that gave up", async () => {
		await using host = open({ limits: { connections: 1 } });
		for (let n = 0; n < 20; n += 1) {
			const aborter = new AbortController();
			const first = host.rows(ONE, asked());
			const second = host.rows(ONE, asked(5_000, aborter.signal));
			second.catch(() => {});
			if (n % 2 === 0) await first;
			aborter.abort(new Error("gone"));
			await Promise.allSettled([first, second]);
		}
		assert.deepEqual(await host.rows(ONE, asked()), [["1"]]);
	});

	test("tries again until the deadline, if asked to be patient, where a connection is not opened in time", async () => {
		await using host = open({ limits: { connectMs: 200 } });
		server.pause();
		using _ = { [Symbol.dispose]: () => server.resume() };
		await assert.rejects(host.rows(ONE, asked()), {
			kind: "timeout",
			statement: "connect",
		});
		await assert.rejects(host.rows(ONE, { ...asked(1_000), isPatient: true }), {
			kind: "timeout",
		});
		const rows = host.rows(ONE, { ...asked(), isPatient: true });
		await sleep(700);
		server.resume();
		assert.deepEqual(await rows, [["1"]]);
	});

	test("reports a refused connection to all waiting callers at once", async () => {
		await using host = open({ port: 1, limits: { maxWaiting: 100 } });
		const { result: kinds, ownMs } = await timed(() =>
			Promise.all(
				Array.from({ length: 50 }, () => kindOf(host.rows(ONE, asked()))),
			),
		);
		assert.deepEqual(new Set(kinds), new Set(["connectionLost"]));
		assert.ok(ownMs < 1_000, `${ownMs} ms`);
	});

	test("a closed host rejects statements with an error that says so", async () => {
		const host = open();
		await host.rows(ONE, asked());
		await host[Symbol.asyncDispose]();
		await assert.rejects(host.rows(ONE, asked()), {
			name: "TypeError",
			message: `${host.name} is closed.`,
		});
	});
});

describe("a MySQL connection that died while idle", () => {
	test("fails no read: the read is retried once, on a new connection", async () => {
		await using proxy = await BreakableProxy.before(server.port);
		await using host = open({ port: proxy.port });
		await host.rows(ONE, asked());
		proxy.forget();
		assert.deepEqual(await host.rows(ONE, asked()), [["1"]]);
		assert.equal(proxy.connections, 2);
	});

	test("fails no transaction, and the transaction is applied once", async () => {
		await using proxy = await BreakableProxy.before(server.port);
		await using host = open({ port: proxy.port });
		const add = () =>
			host.transaction(asked(), async (statements) => {
				await statements.run(ADD);
				return { value: null, commit: true };
			});
		await ask(server, "UPDATE t.rows SET n = 0");
		await add();
		proxy.forget();
		await add();
		const [row] = await ask(server, "SELECT n FROM t.rows WHERE id = 1");
		assert.equal(row?.n, 2);
	});

	test("is not reused after its close was noticed", async () => {
		await using proxy = await BreakableProxy.before(server.port);
		await using host = open({ port: proxy.port });
		await host.rows(ONE, asked());
		const [row] = await ask(
			server,
			"SELECT MAX(id) AS id FROM information_schema.processlist WHERE command = 'Sleep'",
		);
		await ask(server, `KILL ${row?.id}`);
		await sleep(50);
		assert.deepEqual(await host.rows(ONE, asked()), [["1"]]);
		assert.equal(proxy.connections, 2);
	});
});

describe("MySQL host: a client that is silent in a transaction", () => {
	const limits = { silenceMs: 1_000 };

	/** Raises `n` and then lets the process do something else before COMMIT, the first time. Returns how often it was called. */
	async function add(
		host: Host,
		beforeCommit: (() => unknown) | null,
	): Promise<number> {
		let bodies = 0;
		await host.transaction(asked(), async (statements) => {
			bodies += 1;
			await statements.run(ADD);
			if (bodies === 1) await beforeCommit?.();
			return { value: null, commit: true };
		});
		return bodies;
	}

	const counted = async () => {
		const [row] = await ask(server, "SELECT n FROM t.rows WHERE id = 1");
		return row?.n;
	};

	test("loses its connection and its locks; the transaction is repeated on another one", async () => {
		await using host = open({ limits });
		await ask(server, "UPDATE t.rows SET n = 0");
		assert.equal(await add(host, untilEnded), 2);
		assert.equal(await counted(), 1);

		async function untilEnded() {
			await eventually(async () => (await sleeping()) === 0);
		}
	});

	test("that sends COMMIT before it reads that the server ended the connection repeats the transaction: it is not an unknown outcome", async () => {
		await using host = open({ limits });
		await ask(server, "UPDATE t.rows SET n = 0");
		const nothing = new Int32Array(new SharedArrayBuffer(4));
		const bodies = await add(host, () => Atomics.wait(nothing, 0, 0, 3_000));
		assert.equal(bodies, 2);
		assert.equal(await counted(), 1);
	});

	test("fails with connectionLost if there is no time to repeat the transaction", async () => {
		await using host = open({ limits });
		await ask(server, "UPDATE t.rows SET n = 0");
		const kind = await kindOf(
			host.transaction(asked(1_500), async (statements) => {
				await statements.run(ADD);
				await sleep(2_500);
				await statements.run(ADD);
				return { value: null, commit: true };
			}),
		);
		assert.equal(kind, "connectionLost");
		assert.equal(await counted(), 0);
	});

	async function sleeping(): Promise<number> {
		const [row] = await ask(
			server,
			"SELECT COUNT(*) AS n FROM information_schema.processlist WHERE command = 'Sleep'",
		);
		return Number(row?.n);
	}

	test("of transactions is asked before the server ends it, and serves the next one", async () => {
		await using host = open({ limits });
		const connectionId = () =>
			host.transaction(asked(), async ({ rows }) => ({
				value: String(await rows(sql("id", "SELECT CONNECTION_ID()"))),
				commit: false,
			}));
		const asks = async () => {
			const [row] = await ask(server, "SHOW GLOBAL STATUS LIKE 'Com_do'");
			return Number(row?.Value);
		};
		// A busy machine may ask too late.
		await until("a connection that outlives its silence", async () => {
			const id = await connectionId();
			const before = await asks();
			await until("three questions", async () => (await asks()) >= before + 3);
			return (await connectionId()) === id;
		});
	});
});

test("MySQL host: a caller whose connection is being opened gets one that is given back before", async () => {
	await using proxy = await TcpProxy.to(server.port);
	await using host = open({ port: proxy.port });
	const { promise: released, resolve: release } = Promise.withResolvers<void>();
	const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
	const first = host.transaction(asked(), async ({ rows }) => {
		await rows(ONE);
		begin();
		await released;
		return { value: null, commit: false };
	});
	await begun;
	proxy.holdNew();
	const second = host.transaction(asked(), async ({ rows }) => {
		await rows(ONE);
		return { value: "served", commit: false };
	});
	await until("its opening is on its way", () => proxy.held > 0);
	release();
	await first;
	assert.equal(await second, "served");
	assert.ok(proxy.held > 0);
});

test("MySQL host: what a transaction waits for a connection does not count as its own time", async () => {
	await using proxy = await TcpProxy.to(server.port);
	await using host = open({ port: proxy.port });
	proxy.hold();
	const heldMs = 1_500;
	const began = performance.now();
	const running = host.transaction(
		{ ...asked(), heldMs },
		async ({ rows }) => ({
			value: await rows(ONE),
			commit: false,
		}),
	);
	await until(
		"it has waited for longer",
		() => performance.now() - began > heldMs,
	);
	proxy.release();
	assert.deepEqual(await running, [["1"]]);
});

describe("MySQL host: transactions", () => {
	test("a COMMIT without a response fails with unknownOutcome, and is not retried", async () => {
		await using proxy = await BreakableProxy.before(server.port);
		await using host = open({ port: proxy.port });
		await ask(server, "UPDATE t.rows SET n = 0");
		proxy.silentAfter = "COMMIT";
		let bodies = 0;
		await assert.rejects(
			host.transaction(asked(1_500), async (statements) => {
				bodies += 1;
				await statements.run(ADD);
				return { value: null, commit: true };
			}),
			{ name: "StorageFailure", kind: "unknownOutcome" },
		);
		assert.equal(bodies, 1);
		const [row] = await ask(server, "SELECT n FROM t.rows WHERE id = 1");
		assert.equal(row?.n, 1);
	});

	test("a body that throws is rolled back, and its connection is reused", async () => {
		await using host = open({ limits: { connections: 1 } });
		await ask(server, "UPDATE t.rows SET n = 0");
		await assert.rejects(
			host.transaction(asked(), async (statements) => {
				await statements.run(ADD);
				throw new RangeError("no");
			}),
			RangeError,
		);
		const [n] = await host.transaction(asked(), async (statements) => ({
			value: await statements.rows(sql("n", "SELECT n FROM t.rows")),
			commit: true,
		}));
		assert.deepEqual(n, [0]);
	});

	test("retries one of two deadlocked transactions; both commit", async () => {
		await using host = open();
		await ask(server, "UPDATE t.rows SET n = 0");
		let bodies = 0;
		let locked = 0;
		const { promise: both, resolve: meet } = Promise.withResolvers<void>();
		const add = (ids: readonly number[]) =>
			host.transaction(asked(), async (statements) => {
				bodies += 1;
				for (const id of ids) {
					await statements.run({
						name: "add",
						text: "UPDATE t.rows SET n = n + 1 WHERE id = ?",
						values: [id],
					});
					locked += 1;
					if (locked === 2) meet();
					await both;
				}
				return { value: null, commit: true };
			});
		await Promise.all([add([1, 2]), add([2, 1])]);
		assert.equal(bodies, 3);
		const rows = await ask(server, "SELECT n FROM t.rows ORDER BY id");
		assert.deepEqual(
			rows.map(({ n }) => n),
			[2, 2],
		);
	});

	test("rejects a row with a duplicate key, an out-of-range value or the wrong type as constraint", async () => {
		await using host = open();
		const insert = (id: string) =>
			host.run(sql("insert", `INSERT INTO t.rows VALUES (${id}, 0)`), asked());
		assert.equal(await kindOf(insert("1")), "constraint");
		assert.equal(await kindOf(insert("99999999999")), "constraint");
		assert.equal(await kindOf(insert("'x'")), "constraint");
	});
});

describe("MySQL host: acknowledged transactions", () => {
	test("all that were committed are in the set of GTIDs that the host remembers, and none that was rolled back", async () => {
		await using host = open();
		const acknowledged = new AcknowledgedGtids();
		const note = ({ host: name, gtid }: AcknowledgedCommit) => {
			if (name === host.name) acknowledged.note(gtid);
		};
		STORAGE_CHANNELS.acknowledgedCommit.subscribe(note);
		using stack = new DisposableStack();
		stack.defer(
			() => void STORAGE_CHANNELS.acknowledgedCommit.unsubscribe(note),
		);
		assert.equal(acknowledged.set, "");
		const committed = async () => {
			const [row] = await ask(server, "SELECT @@global.gtid_executed AS set_");
			return String(row?.set_).replaceAll("\n", "");
		};
		const inTransaction = (commit: boolean) =>
			host.transaction(asked(), async (statements) => {
				await statements.run(ADD);
				return { value: null, commit };
			});
		await inTransaction(true);
		assert.equal(acknowledged.set, await committed());
		await host.run(ADD, asked());
		assert.equal(acknowledged.set, await committed());
		await host.transaction(asked(), async () => ({
			last: [ADD, ADD],
			valueOf: () => null,
			commit: true,
		}));
		await host.runTogether([ADD, ADD], asked());
		assert.equal(acknowledged.set, await committed());
		const before = acknowledged.set;
		await inTransaction(false);
		await host.rows(ONE, asked());
		assert.equal(acknowledged.set, before);
		// Somebody else's, which this process did not send.
		await ask(server, "UPDATE t.rows SET n = n + 1");
		assert.equal(acknowledged.set, before);
	});
});

describe("MySQL host: while an operator fences one database", () => {
	test("writes to it fail as readOnly and keep their connections, reads go on, and so does every other database", async () => {
		await using host = open({ limits: { connections: 1 } });
		await ask(
			server,
			"CREATE DATABASE fenced",
			"CREATE TABLE fenced.rows (id INT PRIMARY KEY)",
			"ALTER DATABASE fenced READ ONLY = 1",
		);
		try {
			const insert = sql("insert", "INSERT INTO fenced.rows VALUES (1)");
			const writing = () =>
				host.transaction(asked(), async (statements) => {
					await statements.run(insert);
					return { value: null, commit: true };
				});
			const id = sql("id", "SELECT CONNECTION_ID()");
			const ids = async () => [
				await host.rows(id, asked()),
				await host.transaction(asked(), async (statements) => ({
					value: await statements.rows(id),
					commit: false,
				})),
			];
			const before = await ids();
			for (let tries = 0; tries < 3; tries += 1) {
				assert.equal(await kindOf(host.run(insert, asked())), "readOnly");
				assert.equal(await kindOf(writing()), "readOnly");
			}
			assert.deepEqual(await ids(), before);
			const all = sql("all", "SELECT * FROM fenced.rows");
			assert.deepEqual(await host.rows(all, asked()), []);
			assert.equal((await host.run(ADD, asked())).affectedRows, 1);
		} finally {
			await ask(
				server,
				"ALTER DATABASE fenced READ ONLY = 0",
				"DROP DATABASE fenced",
			);
		}
	});

	test("a read that the server chooses as the victim of a deadlock is retried", async () => {
		await using host = open();
		// Such a read is rare: the server itself repeats most of them.
		await ask(
			server,
			"USE t",
			`CREATE FUNCTION victim_once() RETURNS INT NO SQL
			BEGIN
				IF @was IS NULL THEN
					SET @was = 1;
					SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213;
				END IF;
				RETURN 7;
			END`,
		);
		const retries: string[] = [];
		const trace = {
			statement() {},
			retry: (why: string) => void retries.push(why),
		};
		assert.deepEqual(
			await host.rows(sql("victim", "SELECT t.victim_once()"), {
				...asked(),
				trace,
			}),
			[[7]],
		);
		assert.deepEqual(retries, ["deadlock"]);
	});
});

describe("MySQL host: required server settings", () => {
	test("rejects a server with unsafe settings, and names each of them", async () => {
		await ask(
			server,
			"SET GLOBAL auto_increment_increment = 2, GLOBAL innodb_flush_log_at_trx_commit = 0",
		);
		try {
			await using host = open();
			await assert.rejects(host.rows(ONE, asked()), {
				name: "StorageFailure",
				kind: "unsupported",
				message:
					"auto_increment_increment must be 1, got 2; innodb_flush_log_at_trx_commit must be 1 or 2, got 0",
			});
		} finally {
			await ask(
				server,
				"SET GLOBAL auto_increment_increment = 1, GLOBAL innodb_flush_log_at_trx_commit = 2",
			);
		}
	});

	test("sets session settings whatever the server's defaults", async () => {
		await ask(
			server,
			"SET GLOBAL sql_mode = 'NO_BACKSLASH_ESCAPES', GLOBAL time_zone = '+09:00', GLOBAL innodb_lock_wait_timeout = 50",
		);
		try {
			await using host = open();
			const settings = sql(
				"settings",
				`SELECT @@transaction_isolation, @@time_zone, @@innodb_lock_wait_timeout,
					@@sql_mode LIKE '%BACKSLASH%', @@sql_mode LIKE '%STRICT_ALL%',
					@@lock_wait_timeout, @@net_read_timeout, @@net_write_timeout,
					@@wait_timeout, @@autocommit`,
			);
			const expected = [
				"READ-COMMITTED",
				"+00:00",
				"2",
				"0",
				"1",
				"2",
				"8",
				"8",
			];
			assert.deepEqual(
				(await host.rows(settings, asked())).map((row) => row.map(String)),
				[[...expected, "28800", "1"]],
			);
			const seen = await host.transaction(asked(), async (statements) => ({
				value: await statements.rows(settings),
				commit: true,
			}));
			assert.deepEqual(
				seen.map((row) => row.map(String)),
				[[...expected, "8", "0"]],
			);
		} finally {
			await ask(
				server,
				"SET GLOBAL sql_mode = DEFAULT, GLOBAL time_zone = DEFAULT, GLOBAL innodb_lock_wait_timeout = DEFAULT",
			);
		}
	});

	test("reports a wrong password without the password", async () => {
		const address = addressOf(server.url, {});
		await using host = new Host(
			{ ...address, password: () => "wrong-secret" },
			LIMITS,
			false,
		);
		await assert.rejects(host.rows(ONE, asked()), (thrown: unknown) => {
			assert.ok(thrown instanceof StorageFailure);
			assert.doesNotMatch(
				JSON.stringify(thrown) + thrown.stack,
				/wrong-secret/,
			);
			return true;
		});
	});

	test("the server rejects writes through a host opened read-only", async () => {
		await using host = open({ readOnly: true });
		assert.equal(await kindOf(host.run(ADD, asked())), "readOnly");
		assert.deepEqual(await host.rows(ONE, asked()), [["1"]]);
	});
});

describe("a host that is slow", () => {
	test("gives a process that has just started its first connection, however long its round trips add up", async () => {
		await using proxy = await TcpProxy.to(server.port);
		proxy.delayMs = 600;
		// It takes four round trips to open one.
		await using host = open({ port: proxy.port, limits: { connectMs: 1_500 } });
		assert.deepEqual(await host.rows(ONE, asked()), [["1"]]);
	});

	test("is not down: it makes reads slow, and its limit follows what was measured", async () => {
		await using proxy = await TcpProxy.to(server.port);
		const states = await publishedDuring<DatabaseHost>(
			TOPOLOGY_CHANNELS.databaseHost,
			async () => {
				await using host = open({
					port: proxy.port,
					limits: { connectMs: 1_000, readMs: 10_000, answerMs: 400 },
				});
				await host.rows(ONE, asked());
				proxy.delayMs = 800;
				await eventually(
					async () => (await kindOf(host.rows(ONE, asked()))) === "none",
				);
				for (let reads = 0; reads < 3; reads++) {
					assert.deepEqual(await host.rows(ONE, asked()), [["1"]]);
				}
			},
		);
		// If it was silent for three calls, it was up again with its first answer.
		assert.notEqual(states.at(-1)?.state, "down");
	});

	test("opens a connection that its caller did not wait for, and lends it to the next", async () => {
		await using proxy = await TcpProxy.to(server.port);
		await using host = open({ port: proxy.port, limits: { connections: 1 } });
		proxy.hold();
		assert.equal(await kindOf(host.rows(ONE, asked(50))), "timeout");
		proxy.release();
		assert.deepEqual(await host.rows(ONE, asked()), [["1"]]);
	});

	test("fails calls that are late and says something meanwhile: only silence makes it down", () => {
		let now = 0;
		using health = new HostHealth(
			"slow",
			async () => {
				throw new Error("no probe is sent");
			},
			() => now,
		);
		const late = new StorageFailure("timeout", "No answer in time.", {
			host: "slow",
			statement: "one",
		});
		for (let calls = 0; calls < 20; calls++) {
			const since = now;
			now += 4_000;
			if (calls % 2 === 0) health.pace.received();
			else health.pace.answered(3_000);
			now += 1_000;
			health.failed(late, true, since);
			health.check();
		}
		assert.equal(health.pace.patience(4_000), 6_000);
		for (let calls = 0; calls < 3; calls++) {
			health.check();
			now += 1_000;
			health.failed(late, true, now - 500);
		}
		assert.throws(() => health.check(), { kind: "hostDown" });
		// An answer on a connection that is open still counts as much as a probe.
		health.pace.answered(5_000);
		health.check();
		assert.equal(health.pace.patience(4_000), 10_000);
		now += 60_000;
		assert.equal(health.pace.patience(4_000), 4_000);
	});
});

describe("a host that stops answering", () => {
	test("fails calls at once after three, says so once, and is used again when it answers", async () => {
		await using proxy = await BreakableProxy.before(server.port);
		const states: string[] = [];
		const note = ({ host, state, error }: DatabaseHost) => {
			assert.equal(host, `127.0.0.1:${proxy.port}`);
			assert.equal(error instanceof StorageFailure, state === "down");
			states.push(state);
		};
		const failures: string[] = [];
		const count = (message: DatabaseFailure) => {
			failures.push(message.kind);
		};
		TOPOLOGY_CHANNELS.databaseHost.subscribe(note);
		STORAGE_CHANNELS.databaseFailure.subscribe(count);
		try {
			await using host = open({ port: proxy.port });
			await host.rows(ONE, asked());
			proxy.silentAfter = "";
			for (let calls = 0; calls < 3; calls++) {
				assert.equal(await kindOf(host.rows(ONE, asked(100))), "timeout");
			}
			assert.deepEqual(states, ["down"]);
			assert.equal(
				await assertAtOnce(kindOf(host.run(ADD, asked()))),
				"hostDown",
			);
			// Who counts failures sees that it is still down.
			assert.deepEqual(failures, ["timeout", "timeout", "timeout", "hostDown"]);
			proxy.silentAfter = null;
			await eventually(
				async () => (await kindOf(host.rows(ONE, asked()))) === "none",
			);
			assert.deepEqual(states, ["down", "up"]);
		} finally {
			TOPOLOGY_CHANNELS.databaseHost.unsubscribe(note);
			STORAGE_CHANNELS.databaseFailure.unsubscribe(count);
		}
	});

	test("says so when it is closed while the host is down, for the log", async () => {
		await using proxy = await BreakableProxy.before(server.port);
		const states = await publishedDuring<DatabaseHost>(
			TOPOLOGY_CHANNELS.databaseHost,
			async () => {
				await using host = open({ port: proxy.port });
				await host.rows(ONE, asked());
				proxy.silentAfter = "";
				for (let calls = 0; calls < 3; calls++) {
					assert.equal(await kindOf(host.rows(ONE, asked(100))), "timeout");
				}
			},
		);
		assert.deepEqual(
			states.map(({ state }) => state),
			["down", "left"],
		);
	});

	test("that only refuses is not down", async () => {
		await using host = open();
		const wrong = sql("wrong", "SELECT nothing FROM t.nowhere");
		for (let calls = 0; calls < 5; calls++) {
			assert.equal(await kindOf(host.rows(wrong, asked())), "moved");
		}
		assert.equal(await kindOf(host.rows(ONE, asked())), "none");
	});
});

test("a COMMIT that a server refuses, which takes no writes since the last of them, did nothing: it is readOnly, no unknown outcome", async () => {
	await using host = open();
	const read = async () =>
		(await ask(server, "SELECT n FROM t.rows WHERE id = 1"))[0];
	const before = await read();
	try {
		const kind = await kindOf(
			host.transaction(asked(), async ({ run }) => {
				await run(ADD);
				await ask(server, "SET GLOBAL super_read_only = ON");
				return { commit: true, value: null };
			}),
		);
		assert.equal(kind, "readOnly");
	} finally {
		await ask(
			server,
			"SET GLOBAL super_read_only = OFF, GLOBAL read_only = OFF",
		);
	}
	assert.deepEqual(await read(), before);
});

test("a server that refuses writes makes its successor open its first connections", async () => {
	await using host = open();
	await using successor = open();
	host.successor = successor;
	const idle = () => POOL_LEVELS.read().map(({ idle }) => idle);
	await host.run(ADD, asked());
	assert.deepEqual(idle(), [1, 0, 0, 0]);
	await ask(server, "SET GLOBAL super_read_only = ON");
	try {
		assert.equal(await kindOf(host.run(ADD, asked())), "readOnly");
		await until("four connections", () => {
			const [, , ...counts] = idle();
			return counts.join() === "2,2";
		});
	} finally {
		await ask(
			server,
			"SET GLOBAL super_read_only = OFF, GLOBAL read_only = OFF",
		);
	}
	await successor.run(ADD, asked());
});

test("callers wait for connections of which some are open, rather than each open one", async () => {
	await using host = open({ limits: { connections: 6, maxWaiting: 10 } });
	await host.rows(ONE, asked());
	const all = Array.from({ length: 6 }, () => host.rows(ONE, asked()));
	await immediate();
	const levels = POOL_LEVELS.read();
	assert.ok((levels[0]?.used ?? 0) <= 3, JSON.stringify(levels));
	assert.ok((await Promise.all(all)).every((rows) => rows.length === 1));
});
