import type { Id } from "../../id/ids.ts";
import type { Model } from "../../model/types.ts";
import type { StatementTrace } from "../../trace.ts";
import { highestFirst } from "../renumbering.ts";
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
	checkRenumbering,
	checkTransaction,
	computeListChanges,
	edgesToPurge,
} from "../transactionRules.ts";
import { recountList } from "./countLists.ts";
import type { SqliteConnection } from "./driver/sqliteConnection.ts";
import { readLists, writeList } from "./lists.ts";
import {
	deleteEdge,
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
import { renumberList } from "./renumberings.ts";

export interface Statements {
	readonly model: Model;
	readonly objects: ObjectStatements;
	readonly mappings: MappingStatements;
}

/**
 * Runs the whole transaction in one tick. BEGIN IMMEDIATE takes the file's only
 * write lock, which replaces all the row locks of the transaction.
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
			const reads = readUnderLock(
				connection,
				statements,
				transaction,
				created,
				now,
			);
			const writes = transaction.decide(reads);
			if (writes.renumber === undefined) {
				const outboxKey = apply(
					connection,
					statements,
					transaction,
					reads,
					writes,
				);
				return { result: writes.result, outboxKey };
			}
			checkRenumbering(transaction, renumberings, writes.renumber);
			for (const edge of highestFirst(writes.renumber)) {
				renumberList(connection, statements.mappings, edge);
			}
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
		throw new TypeError(`The model has no type ${type}.`);
	}
	return insertObject(connection, statements, shard, data, now);
}

function readUnderLock(
	connection: SqliteConnection,
	{ objects, mappings }: Statements,
	transaction: Transaction<unknown>,
	created: readonly Id[],
	now: number,
): TransactionReads {
	const ids = transaction.objects ?? [];
	const neighbors = transaction.neighbors ?? [];
	const centers = readEdges(connection, mappings, neighbors);
	return {
		lists: readLists(connection, transaction.lists ?? []),
		objects: readObjects(connection, objects, ids).map((text, index) =>
			text === null ? null : parseStoredObject(ids[index] as Id, text),
		),
		edges: readEdges(connection, mappings, transaction.edges ?? []),
		neighbors: neighbors.map(({ mapping }, index) =>
			readNeighbors(connection, mappings, mapping, centers[index] ?? null),
		),
		created,
		now,
	};
}

/** Returns the key of the outbox entry, if there is one. */
function apply(
	connection: SqliteConnection,
	{ objects, mappings }: Statements,
	transaction: Transaction<unknown>,
	reads: TransactionReads,
	writes: TransactionWrites<unknown>,
): TransactionResult<unknown>["outboxKey"] {
	checkObjectWrites(transaction, reads, writes);
	for (const list of writes.recount ?? []) checkListIsLocked(transaction, list);
	const changes = computeListChanges(transaction, reads, writes);
	const purged = edgesToPurge(transaction, reads, writes);
	for (const { id, data } of writes.objects ?? []) {
		updateObject(connection, objects, id, data, reads.now);
	}
	for (const edge of changes.edges) {
		writeEdge(connection, mappings, edge.mapping, edge);
	}
	for (const edge of purged) {
		deleteEdge(connection, mappings, edge.mapping, edge);
	}
	for (const row of changes.lists) writeList(connection, row.mapping, row);
	for (const list of writes.recount ?? []) {
		recountList(connection, mappings, list);
	}
	if (writes.outboxEntry === undefined) return null;
	return {
		shard: transaction.shard,
		local: insertOutboxEntry(connection, writes.outboxEntry, reads.now),
	};
}
