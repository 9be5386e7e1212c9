import { isDeepStrictEqual } from "node:util";
import { CorkboardError } from "../../errors.ts";
import { deadlineIn } from "../../util/deadline.ts";
import { databaseOfShard, FEED_SHARDS } from "../feedShards.ts";
import { OUTBOX_COUNTED } from "../hostReport.ts";
import type { OutboxSize } from "../rows.ts";
import { StorageFailure } from "../storageFailure.ts";
import { tableIn } from "./ddl.ts";
import { OUTBOX, spelledList, unionAll } from "./dialect.ts";
import type { MysqlTransaction } from "./driver/commitProtocol.ts";
import type { Host } from "./driver/host.ts";
import type { QueryOptions } from "./driver/queryOptions.ts";

/**
 * Before version 0.1.0 was released each shard had an outbox in its own database. Processes of
 * that version may run beside this one, or have left entries there: so whoever
 * reads the outbox of a host first brings them there. `init` drops the tables
 * once no such process is left. The next version goes without this file.
 */
const FORMER = new WeakMap<Host, Promise<readonly FormerOutbox[]>>();

interface FormerOutbox {
	readonly shard: number;
	readonly table: string;
}

/** A table that `init` has taken away from writers, to drop it. */
const CLOSED = "outbox_former";
/**
 * Younger entries are left to the write that committed them. An old process takes
 * an entry that it no longer sees for published, and drops what it names once it
 * has seen it for 3 s: so what nobody published stays longer. Milliseconds.
 */
const GRACE_MS = 10_000;
/** ER_NO_SUCH_TABLE */
const NO_SUCH_TABLE = 1146;
/** Time for one table. Milliseconds. */
const STEP_MS = 60_000;
/** Entries of one transaction. */
const ENTRIES = 1_000;

/** Who may not write fails where entries are left: what it would read is not all. */
export async function moveFormerEntries(
	host: Host,
	shards: readonly number[],
	readOnly: boolean,
	options: QueryOptions,
): Promise<void> {
	const known = FORMER.get(host) ?? listFormer(host, options);
	FORMER.set(host, known);
	let all: readonly FormerOutbox[] = [];
	try {
		all = await known;
		if (all.length === 0) return;
		const own = new Set(shards);
		const some = all.filter(({ shard }) => own.has(shard));
		const filled = await withEntries(host, some, options);
		if (filled.length === 0) return;
		if (readOnly) {
			throw new StorageFailure(
				"failed",
				"Outboxes of an earlier version have entries, which a server of this version has to take over.",
				{ host: host.name, statement: "former outboxes" },
			);
		}
		for (const one of filled) await moveEntries(host, one, options);
	} catch (error) {
		FORMER.delete(host);
		const isGone =
			error instanceof StorageFailure && error.errno === NO_SUCH_TABLE;
		if (!isGone) throw error;
		// `init` closes and drops them one by one: what one held is where the next look finds it.
		if (isDeepStrictEqual(await listFormer(host, options), all)) throw error;
		return moveFormerEntries(host, shards, readOnly, options);
	}
}

/** How many a host has. Where they are to be dropped, what they hold goes into its own before. */
export async function formerOutboxes(
	host: Host,
	shards: ReadonlySet<number>,
	drop: boolean,
): Promise<number> {
	try {
		const listed = await listFormer(host, ofStep());
		const all = listed.filter(({ shard }) => shards.has(shard));
		if (drop) for (const one of all) await dropFormer(host, one);
		return all.length;
	} catch (thrown) {
		if (!(thrown instanceof StorageFailure)) throw thrown;
		throw new CorkboardError(
			"UNAVAILABLE",
			`${host.name} could not drop the outboxes of an earlier version: ${thrown.message}. corkboard grants has the privileges of init.`,
			{ cause: thrown },
		);
	} finally {
		FORMER.delete(host);
	}
}

async function dropFormer(
	host: Host,
	{ shard, table }: FormerOutbox,
): Promise<void> {
	const closed = tableIn(databaseOfShard(shard), CLOSED);
	const ddl = (name: string, text: string) =>
		host.transaction(ofStep(), async ({ run }) => {
			await run({ name, text, values: [] });
			return { value: null, commit: false };
		});
	// A process that nobody knew of fails from now on, and loses nothing.
	if (table !== closed) {
		await ddl("close former outbox", `RENAME TABLE ${table} TO ${closed}`);
	}
	await moveEntries(host, { shard, table: closed }, ofStep());
	await ddl("drop former outbox", `DROP TABLE ${closed}`);
}

function ofStep(): QueryOptions {
	return { shard: 0, deadline: deadlineIn(STEP_MS), isPatient: true };
}

async function listFormer(
	host: Host,
	options: QueryOptions,
): Promise<readonly FormerOutbox[]> {
	const rows = await host.rows(
		{
			name: "former outboxes",
			text: `SELECT table_schema, table_name FROM information_schema.tables
				WHERE table_name IN ('outbox', '${CLOSED}')
					AND table_schema REGEXP '^(db|feed)[0-9]{5}$'
				ORDER BY table_schema, table_name DESC`,
			values: [],
		},
		options,
	);
	return rows.map(([schema, name]) => {
		const database = String(schema);
		const number = Number(database.slice(-5));
		return {
			shard: database.startsWith("feed") ? number + FEED_SHARDS : number,
			table: tableIn(database, String(name)),
		};
	});
}

/** For `status`: they are delivered once they are moved. */
export async function formerSizes(
	host: Host,
	shards: readonly number[],
	options: QueryOptions,
): Promise<readonly OutboxSize[]> {
	const all = await listFormer(host, options);
	const selects = all.flatMap(({ shard, table }) => {
		const some = `SELECT ts FROM ${table} ORDER BY local_id LIMIT ${OUTBOX_COUNTED}`;
		const text = `SELECT COUNT(*), MIN(ts) FROM (${some}) AS entries`;
		return shards.includes(shard) ? [{ text, values: [] }] : [];
	});
	if (selects.length === 0) return [];
	const rows = await host.rows(
		unionAll("former outbox sizes", selects),
		options,
	);
	return rows.map(([entries, ts = null]) => ({
		entries: Number(entries),
		oldestAt: ts === null ? null : Number(ts),
	}));
}

async function withEntries(
	host: Host,
	all: readonly FormerOutbox[],
	options: QueryOptions,
): Promise<readonly FormerOutbox[]> {
	if (all.length === 0) return [];
	const found = await host.rows(
		unionAll(
			"former outbox entries",
			all.map(({ table }, part) => ({
				text: `SELECT ${part} FROM ${table} WHERE ${movableIn(table)} LIMIT 1`,
				values: [],
			})),
		),
		options,
	);
	return found.map(([part]) => all[Number(part)] as FormerOutbox);
}

/** All of a closed table, whatever the clocks of its writers said: nobody looks there, and it is dropped. */
function movableIn(table: string): string {
	return table.includes(CLOSED)
		? "TRUE"
		: `ts <= ${(Date.now() - GRACE_MS) * 1_000}`;
}

/** In transactions: an entry is in one of the two at any time. */
async function moveEntries(
	host: Host,
	one: FormerOutbox,
	options: QueryOptions,
): Promise<void> {
	let moved: number;
	do {
		moved = await host.transaction(options, async (transaction) => ({
			value: await moveSome(transaction, one),
			commit: true,
		}));
	} while (moved > 0);
}

async function moveSome(
	{ rows, run }: MysqlTransaction,
	{ shard, table }: FormerOutbox,
): Promise<number> {
	const locked = await rows({
		name: "lock former entries",
		text: `SELECT local_id FROM ${table} WHERE ${movableIn(table)}
			ORDER BY local_id LIMIT ${ENTRIES} FOR UPDATE`,
		values: [],
	});
	if (locked.length === 0) return 0;
	const these = `local_id IN (${spelledList(locked.map(([local]) => Number(local)))})`;
	const columns = "entry, ts, attempts, next_attempt_at, last_error";
	await run({
		name: "move former entries",
		text: `INSERT INTO ${OUTBOX} (shard, ${columns})
			SELECT ${shard}, ${columns} FROM ${table} WHERE ${these} ORDER BY local_id`,
		values: [],
	});
	await run({
		name: "delete former entries",
		text: `DELETE FROM ${table} WHERE ${these}`,
		values: [],
	});
	return locked.length;
}
