import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { createConnection } from "mysql2/promise";
import {
	type DatabaseServer,
	STORAGE_CHANNELS,
} from "../../../../src/storage/diagnostics.ts";
import {
	Host,
	type HostLimits,
} from "../../../../src/storage/mysql/driver/host.ts";
import type { Sql } from "../../../../src/storage/mysql/driver/mysqlConnection.ts";
import { addressOf } from "../../../../src/storage/mysql/serverAddress.ts";
import { StorageFailure } from "../../../../src/storage/storageFailure.ts";
import { deadlineIn } from "../../../../src/util/deadline.ts";
import { ask } from "../../../helpers/mysqlStorage.ts";
import { publishedDuring } from "../../../helpers/publishedDuring.ts";
import { TcpProxy } from "../../../helpers/tcpProxy.ts";
import { until } from "../../../helpers/until.ts";
import { startMysql } from "../../../services/mysql.ts";

const [a, b] = await Promise.all([startMysql(), startMysql()]);
after(() => Promise.all([a.stop(), b.stop()]));
for (const server of [a, b]) {
	await ask(
		server,
		"CREATE DATABASE t",
		"CREATE TABLE t.rows (id INT PRIMARY KEY)",
	);
}
const idOf = async (server: typeof a) =>
	String((await ask(server, "SELECT @@server_uuid AS id"))[0]?.id);
const ids = { a: await idOf(a), b: await idOf(b) };

const LIMITS: HostLimits = {
	connections: 3,
	maxWaiting: 30,
	connectMs: 10_000,
	readMs: 10_000,
	silenceMs: 60_000,
};

function sql(name: string, text: string): Sql {
	return { name, text, values: [] };
}

const WHERE = sql("where", "SELECT @@server_uuid");
const INSERT = sql("insert", "INSERT IGNORE INTO t.rows VALUES (1)");

function asked(ms = 60_000) {
	return { shard: 0, deadline: deadlineIn(ms) };
}

/** A host behind a name that leads to the first server. */
async function openName(limits: Partial<HostLimits> = {}) {
	await using stack = new AsyncDisposableStack();
	const name = stack.use(await TcpProxy.to(a.port));
	const host = stack.use(
		new Host(
			{
				...addressOf(a.url, {}),
				port: name.port,
				name: `127.0.0.1:${name.port}`,
			},
			{ ...LIMITS, ...limits },
			false,
		),
	);
	const owned = stack.move();
	return {
		name,
		host,
		readFrom: async () => String((await host.rows(WHERE, asked()))[0]?.[0]),
		writeTo: () =>
			host.transaction(asked(), async ({ rows, run }) => {
				await run(INSERT);
				const [row] = await rows(WHERE);
				return { value: String(row?.[0]), commit: true };
			}),
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}

async function setReadOnly(server: typeof a, isOn: boolean): Promise<void> {
	await ask(server, `SET GLOBAL super_read_only = ${isOn ? "ON" : "OFF"}`);
	if (!isOn) await ask(server, "SET GLOBAL read_only = OFF");
}

describe("A name that leads to another server", () => {
	test("takes reads along with the first session on the new server, whatever connections are left on the old one", async () => {
		await using named = await openName();
		const { name, host, readFrom, writeTo } = named;
		await Promise.all([readFrom(), readFrom(), readFrom()]);
		assert.equal(host.server?.id, ids.a);
		assert.equal(host.server?.hasGtids, true);
		name.redirect(b.port);
		assert.equal(await readFrom(), ids.a);
		const changes = await publishedDuring<DatabaseServer>(
			STORAGE_CHANNELS.databaseServer,
			async () => {
				assert.equal(await writeTo(), ids.b);
				assert.deepEqual(
					await Promise.all([readFrom(), readFrom(), readFrom()]),
					[ids.b, ids.b, ids.b],
				);
			},
		);
		assert.deepEqual(changes, [
			{
				host: host.name,
				server: ids.b,
				before: ids.a,
				takesWrites: true,
			},
		]);
	});

	test("lends no connection again that was in use when a newer session found the new server", async () => {
		await using named = await openName({ connections: 1 });
		const { name, host, readFrom, writeTo } = named;
		await readFrom();
		const slow = host.rows(
			sql("slow", "SELECT SLEEP(0.5), @@server_uuid"),
			asked(),
		);
		name.redirect(b.port);
		const waiting = writeTo().then(readFrom);
		assert.equal((await slow)[0]?.[1], ids.a);
		assert.equal(await waiting, ids.b);
	});

	test("takes reads along as soon as the old server refuses a write", async () => {
		await using named = await openName();
		const { name, readFrom, writeTo } = named;
		await Promise.all([readFrom(), readFrom(), writeTo()]);
		await setReadOnly(a, true);
		try {
			name.redirect(b.port);
			await assert.rejects(
				writeTo(),
				(thrown) =>
					thrown instanceof StorageFailure && thrown.kind === "readOnly",
			);
			assert.deepEqual(await Promise.all([readFrom(), readFrom()]), [
				ids.b,
				ids.b,
			]);
			assert.equal(await writeTo(), ids.b);
		} finally {
			await setReadOnly(a, false);
		}
	});

	test("is asked again by who only reads, where it led to a server that takes no writes any more", async () => {
		await using named = await openName();
		const { name, host, readFrom, writeTo } = named;
		await Promise.all([readFrom(), readFrom()]);
		await setReadOnly(a, true);
		try {
			await assert.rejects(writeTo());
			assert.equal(await readFrom(), ids.a);
			assert.equal(host.server?.takesWrites, false);
			name.redirect(b.port);
			await until("the new server", () => host.server?.id === ids.b);
			assert.equal(await readFrom(), ids.b);
		} finally {
			await setReadOnly(a, false);
		}
	});

	test("keeps no connection for longer than its lifetime", async () => {
		await using named = await openName({ lifetimeMs: 200 });
		const { name, readFrom } = named;
		await Promise.all([readFrom(), readFrom(), readFrom()]);
		name.redirect(b.port);
		await until("the new server", async () => (await readFrom()) === ids.b);
	});

	test("ends no statement of somebody else, whose connection has the same number on the new server", async () => {
		const next = async (server: typeof a) =>
			Number((await ask(server, "SELECT CONNECTION_ID() AS id"))[0]?.id);
		const ahead = await next(b);
		while ((await next(a)) < ahead);
		await using named = await openName();
		const { name, host } = named;
		const [row] = await host.rows(sql("id", "SELECT CONNECTION_ID()"), asked());
		const id = Number(row?.[0]);
		let other = await createConnection(b.url);
		while ((other.threadId ?? 0) < id) {
			await other.end();
			other = await createConnection(b.url);
		}
		try {
			assert.equal(other.threadId, id);
			const late = host.rows(sql("late", "SELECT SLEEP(60)"), asked(300));
			name.redirect(b.port);
			await assert.rejects(late);
			// It resolves after the last statement was ended.
			await host[Symbol.asyncDispose]();
			await other.query("SELECT 1");
		} finally {
			other.destroy();
		}
	});
});

describe("What decides a write", () => {
	const COUNT = sql("count", "SELECT COUNT(*) FROM t.rows");
	const isReadOnly = (thrown: unknown) =>
		thrown instanceof StorageFailure && thrown.kind === "readOnly";

	test("is not read from a server that takes no writes any more", async () => {
		await using named = await openName();
		const { host, readFrom } = named;
		const decisive = () => host.rows(WHERE, { ...asked(), decides: true });
		assert.deepEqual(await decisive(), [[ids.a]]);
		await readFrom();
		await setReadOnly(a, true);
		try {
			await assert.rejects(decisive(), isReadOnly);
			assert.equal(await readFrom(), ids.a);
		} finally {
			await setReadOnly(a, false);
		}
		assert.deepEqual(await decisive(), [[ids.a]]);
	});

	test("is no transaction that writes nothing on a server that takes no writes any more", async () => {
		await using named = await openName();
		const look = () =>
			named.host.transaction(
				{ ...asked(), decides: true },
				async ({ rows }) => ({
					value: (await rows(COUNT)).length,
					commit: false,
				}),
			);
		assert.equal(await look(), 1);
		await setReadOnly(a, true);
		try {
			await assert.rejects(look(), isReadOnly);
		} finally {
			await setReadOnly(a, false);
		}
		assert.equal(await look(), 1);
	});
});
