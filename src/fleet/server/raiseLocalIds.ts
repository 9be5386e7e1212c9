import { CorkboardError } from "../../errors.ts";
import type { StorageFailure } from "../../storage/storageFailure.ts";
import { type FleetServer, isRefused } from "./fleetServer.ts";
import { type Counter, readCounters } from "./localIds.ts";

/** How far the counters of a promoted server are raised. 36 bits of local ids hold 68,719 such jumps. */
const JUMP = 1_000_000;
/** Tables of one transaction. */
const TABLES = 100;
/** Tables that a note names. */
const SHOWN = 10;
/** A temporary table, which the session alone sees. */
const COPY = "corkboard_tried";

/**
 * Raises the counters of these tables by so much, by default a million, so that ids
 * which the old primary gave out and this server never saw are not given out again.
 * A row that far on is inserted and rolled back: that is durable, takes a tenth of
 * the time of ALTER TABLE, and waits for no backup. A table that refuses the row, for
 * what an operator has added to it, is altered.
 */
export async function raiseLocalIds(
	server: FleetServer,
	counters: Iterable<Counter>,
	by = JUMP,
): Promise<number> {
	const all = [...counters];
	for (let at = 0; at < all.length; at += TABLES) {
		const some = all.slice(at, at + TABLES);
		const rows = await requiredColumns(server, some);
		const refusals = await server.tryAndRollBack(
			"raise ids",
			some.map((each) => insertion(nameOf(each), each, rows, by)),
		);
		for (const [index, refusal] of refusals.entries()) {
			const counter = some[index];
			if (refusal === null || counter === undefined) continue;
			await alterCounter(server, counter, by, refusal);
		}
	}
	return all.length;
}

/** What raising the counters of some databases would meet on a server. */
interface RaisingTrial {
	/** A sentence for each table whose counter cannot be raised. */
	readonly faults: readonly string[];
	/** A sentence where tables have to be altered, which may have to wait. */
	readonly notes: readonly string[];
}

/**
 * Tries to raise the counters of the tables to which somebody has added what may refuse
 * a row, on temporary copies: a replica, which takes no writes, can be asked too.
 */
export async function tryRaising(
	server: FleetServer,
	databases: readonly string[],
): Promise<RaisingTrial> {
	const additions = await readAdditions(server, databases);
	if (additions.size === 0) return { faults: [], notes: [] };
	const counters = await readCounters(server, databases);
	const tables = [...additions.keys()].flatMap((name) => {
		const counter = counters.get(name);
		return counter === undefined ? [] : [counter];
	});
	const rows = await requiredColumns(server, tables);
	const faults: string[] = [];
	const altered: string[] = [];
	await server.session(async (session) => {
		const run = (text: string) =>
			session.run({ name: "try", text, values: [] });
		const refusalOf = async (text: string): Promise<string | null> => {
			try {
				await run(text);
				return null;
			} catch (thrown) {
				if (!isRefused(thrown)) throw thrown;
				return thrown.message;
			}
		};
		for (const counter of tables) {
			const { schema, table, next } = counter;
			const copy = `\`${schema}\`.\`${COPY}\``;
			const what = `${schema}.${table} (${(additions.get(`${schema}.${table}`) ?? []).join(", ")})`;
			await run(`CREATE TEMPORARY TABLE ${copy} LIKE ${nameOf(counter)}`);
			const refusal = await refusalOf(insertion(copy, counter, rows, JUMP));
			if (refusal !== null) {
				const failure = await refusalOf(alteration(copy, next, JUMP));
				if (failure === null) altered.push(`${what}: ${refusal}`);
				else faults.push(`${server.name}: ${what}: ${failure}`);
			}
			await run(`DROP TEMPORARY TABLE ${copy}`);
		}
	});
	return { faults, notes: altered.length === 0 ? [] : [alteredNote()] };

	function alteredNote(): string {
		return [
			`${server.name}: these tables refuse the row by which their local ids are raised, so ALTER TABLE raises them, which waits for a backup that runs and for open transactions:`,
			...altered.slice(0, SHOWN).map((each) => `  ${each}`),
			...(altered.length > SHOWN
				? [`  and ${altered.length - SHOWN} more`]
				: []),
		].join("\n");
	}
}

/** Throws with what the table has that refuses rows, and why it was not altered. */
async function alterCounter(
	server: FleetServer,
	counter: Counter,
	by: number,
	refusal: StorageFailure,
): Promise<void> {
	try {
		await server.run(
			"raise ids",
			alteration(nameOf(counter), counter.next, by),
		);
	} catch (thrown) {
		if (!(thrown instanceof CorkboardError)) throw thrown;
		const { schema, table } = counter;
		const name = `${schema}.${table}`;
		const added = (await readAdditions(server, [schema])).get(name) ?? [];
		throw new CorkboardError(
			thrown.code,
			`${server.name}: the local ids of ${name} are not raised. It refuses a row (${refusal.message})${added.length === 0 ? "" : `, as it has ${added.join(", ")}`}; and it cannot be altered: ${thrown.message}. Drop what was added, or let what holds the table end: a backup, or an open transaction.`,
			{ cause: thrown },
		);
	}
}

/** What was added to tables that may refuse a row, by `database.table`; ours have nothing of the kind. */
async function readAdditions(
	server: FleetServer,
	databases: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
	// MariaDB has no such indexes, nor a column for them.
	const hasExpressions = !(await server.isMariadb());
	const sources = [
		`SELECT table_schema, table_name, CONCAT('column ', column_name)
			FROM information_schema.columns
			WHERE table_schema IN (?) AND generation_expression <> ''`,
		`SELECT constraint_schema, table_name, CONCAT('constraint ', constraint_name)
			FROM information_schema.table_constraints
			WHERE constraint_schema IN (?) AND constraint_type IN ('CHECK', 'FOREIGN KEY')`,
		`SELECT event_object_schema, event_object_table, CONCAT('trigger ', trigger_name)
			FROM information_schema.triggers
			WHERE event_object_schema IN (?) AND event_manipulation = 'INSERT'`,
		...(hasExpressions
			? [
					`SELECT table_schema, table_name, CONCAT('index ', index_name)
						FROM information_schema.statistics
						WHERE table_schema IN (?) AND expression IS NOT NULL`,
				]
			: []),
	];
	const rows = await server.rows(
		"additions",
		`${sources.join(" UNION ")} ORDER BY 1, 2, 3`,
		sources.map(() => databases),
	);
	const additions = new Map<string, string[]>();
	for (const [schema, table, what] of rows) {
		const name = `${schema}.${table}`;
		additions.set(name, [...(additions.get(name) ?? []), String(what)]);
	}
	return additions;
}

/** A column that has to be given a value, of any of these tables. */
interface RequiredColumn {
	readonly column: string;
	readonly value: string;
}

async function requiredColumns(
	server: FleetServer,
	counters: readonly Counter[],
): Promise<ReadonlyMap<string, readonly RequiredColumn[]>> {
	if (counters.length === 0) return new Map();
	const rows = await server.rows(
		"columns",
		`SELECT table_schema, table_name, column_name, data_type
			FROM information_schema.columns
			WHERE table_schema IN (?) AND table_name IN (?)
				AND is_nullable = 'NO' AND column_default IS NULL AND extra = ''`,
		[
			[...new Set(counters.map(({ schema }) => schema))],
			[...new Set(counters.map(({ table }) => table))],
		],
	);
	const columns = new Map<string, RequiredColumn[]>();
	for (const [schema, table, column, type] of rows) {
		const name = `${schema}.${table}`;
		columns.set(name, [
			...(columns.get(name) ?? []),
			{ column: String(column), value: neutralValue(String(type)) },
		]);
	}
	return columns;
}

/** Documents are JSON, and what operators add to them reads it. */
function neutralValue(type: string): string {
	if (/int|decimal|float|double/.test(type)) return "0";
	return /text|json/.test(type) ? "'{}'" : "''";
}

function insertion(
	into: string,
	{ schema, table, column, next }: Counter,
	required: ReadonlyMap<string, readonly RequiredColumn[]>,
	by: number,
): string {
	const others = (required.get(`${schema}.${table}`) ?? []).filter(
		(each) => each.column !== column,
	);
	const names = [column, ...others.map((each) => each.column)];
	const values = [
		(next ?? 1n) + BigInt(by) - 1n,
		...others.map(({ value }) => value),
	];
	return `INSERT INTO ${into} (${names.map((name) => `\`${name}\``).join(", ")}) VALUES (${values.join(", ")})`;
}

function alteration(table: string, next: bigint | null, by: number): string {
	return `ALTER TABLE ${table} AUTO_INCREMENT = ${(next ?? 1n) + BigInt(by)}`;
}

function nameOf({ schema, table }: Counter): string {
	return `\`${schema}\`.\`${table}\``;
}
