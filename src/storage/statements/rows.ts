import type { Id } from "../../id/ids.ts";
import type {
	Edge,
	EdgeState,
	ListRow,
	LookupRow,
	PendingEntry,
} from "../rows.ts";
import { parseJsonObject } from "../storedObject.ts";
import type { Spelling } from "./dialect.ts";

/** The columns of each table that hold a row, and the row that they are. */

export function edgeColumns({ id, number }: Spelling): readonly string[] {
	return [
		id("from_id"),
		id("to_id"),
		number("sequence"),
		number("state"),
		number("version"),
	];
}

export function edgeOf([
	from,
	to,
	sequence,
	state,
	version,
]: readonly unknown[]): Edge {
	return {
		from: from as Id,
		to: to as Id,
		sequence: Number(sequence),
		state: Number(state) as EdgeState,
		version: Number(version),
	};
}

export function listColumns({ id, number }: Spelling): readonly string[] {
	return [
		id("from_id"),
		number("count"),
		number("last_sequence"),
		number("epoch"),
	];
}

export function listOf([
	from,
	count,
	lastSequence,
	epoch,
]: readonly unknown[]): ListRow {
	return {
		from: from as Id,
		count: Number(count),
		lastSequence: Number(lastSequence),
		epoch: Number(epoch),
	};
}

export function lookupColumns({ name, id }: Spelling): readonly string[] {
	return ["name", name("key"), id("id"), "token"];
}

/** Text columns may come as buffers. */
export function lookupOf([
	name,
	key,
	id,
	token,
]: readonly unknown[]): LookupRow {
	return {
		name: String(name),
		key: String(key),
		id: id as Id,
		token: String(token),
	};
}

export function entryColumns(
	{ number }: Spelling,
	shard: string,
): readonly string[] {
	return [
		shard,
		"local_id",
		"entry",
		number("ts"),
		number("attempts"),
		number("next_attempt_at"),
		"last_error",
	];
}

export function entryOf([
	shard,
	local,
	entry,
	writtenAt,
	attempts,
	nextAttemptAt,
	lastError,
]: readonly unknown[]): PendingEntry {
	return {
		shard: Number(shard),
		local: Number(local),
		entry: parseJsonObject(entry as string),
		writtenAt: Number(writtenAt),
		attempts: Number(attempts),
		nextAttemptAt: Number(nextAttemptAt),
		lastError: lastError as string | null,
	};
}
