import type { StatementTrace } from "../../diagnostics.ts";
import type { Id } from "../../id/ids.ts";
import type { Model } from "../../model/types.ts";
import type {
	NewObject,
	Transaction,
	TransactionReads,
	TransactionResult,
	TransactionWrites,
} from "../storage.ts";
import { parseStoredObject } from "../storedObject.ts";
import {
	checkListIsLocked,
	checkObjectWrites,
	checkRenumberCount,
	checkTransaction,
	computeListChanges,
} from "../transactionRules.ts";
import type { SqliteConnection } from "./driver/sqliteConnection.ts";
import { readLists, recountList, renumberList, writeList } from "./lists.ts";
import {
	type MappingStatements,
	readEdges,
	readNeighbors,
	writeEdge,
} from "./mappings.ts";
import {
	insertObject,
	type ObjectStatements,
	readObjects,
	updateObject,
} from "./objects.ts";
import { insertOutboxEntry } from "./outbox.ts";

export interface Statements {
	readonly model: Model;
	readonly objects: ObjectStatements;
	readonly mappings: MappingStatements;
}

/**
 * The whole transaction in one tick. BEGIN IMMEDIATE takes the file's one write
 * lock, which stands for all the locks the transaction asks for: lists, objects
 * and edges are only read under it.
 */
export function transact<T>(
	connection: SqliteConnection,
	statements: Statements,
	transaction: Transaction<T>,
	trace?: StatementTrace,
): TransactionResult<T> {
	checkTransaction(transaction);
	return connection.transaction(() => {
		const now = Date.now() * 1_000;
		const created = (transaction.creates ?? []).map((object) =>
			create(connection, statements, transaction.shard, object, now),
		);
		for (let renumberings = 0; ; renumberings += 1) {
			const seen = see(connection, statements, transaction, created, now);
			const effects = transaction.decide(seen);
			if (effects.renumber === undefined) {
				const debt = apply(connection, statements, transaction, seen, effects);
				return { result: effects.result, outboxKey: debt };
			}
			checkRenumberCount(renumberings, effects.renumber);
			checkListIsLocked(transaction, effects.renumber);
			renumberList(connection, statements.mappings, effects.renumber);
		}
	}, trace);
}

function create(
	connection: SqliteConnection,
	{ model, objects }: Statements,
	shard: number,
	{ type, data }: NewObject,
	now: number,
): Id {
	const number = model.objects.get(type)?.number;
	const statements = number === undefined ? undefined : objects.get(number);
	if (statements === undefined) {
		throw new TypeError(`expected a type of the model but got: ${type}`);
	}
	return insertObject(connection, statements, shard, data, now);
}

function see(
	connection: SqliteConnection,
	{ objects, mappings }: Statements,
	transaction: Transaction<unknown>,
	created: readonly Id[],
	now: number,
): TransactionReads {
	const ids = transaction.objects ?? [];
	const around = transaction.neighbors ?? [];
	const centres = readEdges(connection, mappings, around);
	return {
		lists: readLists(connection, transaction.lists ?? []),
		objects: readObjects(connection, objects, ids).map((text, index) =>
			text === null ? null : parseStoredObject(ids[index] as Id, text),
		),
		edges: readEdges(connection, mappings, transaction.edges ?? []),
		neighbors: around.map(({ mapping }, index) =>
			readNeighbors(connection, mappings, mapping, centres[index] ?? null),
		),
		created,
		now,
	};
}

/** Answers what is owed. */
function apply(
	connection: SqliteConnection,
	{ objects, mappings }: Statements,
	transaction: Transaction<unknown>,
	seen: TransactionReads,
	effects: TransactionWrites<unknown>,
): TransactionResult<unknown>["outboxKey"] {
	checkObjectWrites(transaction, seen, effects);
	for (const list of effects.recount ?? [])
		checkListIsLocked(transaction, list);
	const changes = computeListChanges(transaction, seen, effects);
	for (const { id, data } of effects.objects ?? []) {
		updateObject(connection, objects, id, data, seen.now);
	}
	for (const edge of changes.edges) {
		writeEdge(connection, mappings, edge.mapping, edge);
	}
	for (const row of changes.lists) writeList(connection, row.mapping, row);
	for (const list of effects.recount ?? []) {
		recountList(connection, mappings, list);
	}
	if (effects.outboxEntry === undefined) return null;
	return {
		shard: transaction.shard,
		local: insertOutboxEntry(connection, effects.outboxEntry, seen.now),
	};
}
