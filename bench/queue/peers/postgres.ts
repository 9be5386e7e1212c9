import pg from "pg";
import type { LogBytes, QueueTarget } from "../queueSystem.ts";

/** Executes a statement on a connection of its own. */
export async function runSql(
	url: string,
	text: string,
	values: readonly unknown[] = [],
): Promise<void> {
	const client = new pg.Client(url);
	await client.connect();
	try {
		await client.query(text, [...values]);
	} finally {
		await client.end();
	}
}

export async function logBytes({ url }: QueueTarget): Promise<LogBytes> {
	const client = new pg.Client(url);
	await client.connect();
	try {
		const { rows } = await client.query(
			"SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS bytes",
		);
		return { log: Number(rows[0]?.bytes), binlog: 0 };
	} finally {
		await client.end();
	}
}

export async function holdSnapshot({
	url,
}: QueueTarget): Promise<AsyncDisposable> {
	const client = new pg.Client(url);
	// Cut off with its server at the end.
	client.on("error", () => {});
	await client.connect();
	await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
	await client.query("SELECT txid_current()");
	return { [Symbol.asyncDispose]: () => client.end() };
}
