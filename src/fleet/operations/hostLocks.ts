import { CorkboardError } from "../../errors.ts";
import type { StoreChange, TopologyStore } from "../../topology/store.ts";
import {
	isKnown,
	logged,
	type OperationRecord,
	parseRecord,
	recordPath,
	type UnknownRecord,
	unknownRecordError,
} from "./operationRecord.ts";
import { beatPath } from "./signOfLife.ts";

/** An operation, and the hosts that nobody else may change meanwhile. */
interface Locking {
	readonly id: string;
	readonly from: string;
	readonly to: string;
	readonly alsoLocks?: readonly string[] | undefined;
}

const lockPath = (host: string) =>
	`locks/${host.replaceAll(/[^A-Za-z0-9._:-]/g, "_")}`;

/** The changes of the store that lock its hosts, if nobody has. */
export function firstLocks(record: Locking): readonly StoreChange[] {
	return hostsOf(record).map((host) => ({
		path: lockPath(host),
		revision: null,
		text: record.id,
	}));
}

/**
 * The same, also of hosts that moves of shards have locked: a dead primary does not
 * wait for them. The move's record is taken from its runner, so nothing that it still
 * does is saved or published. A process that resumes the move finds the new primary
 * in the place of the dead one.
 */
export async function locksPastMoves(
	store: Pick<TopologyStore, "get">,
	record: Locking & { readonly holder: string },
): Promise<readonly StoreChange[]> {
	const moves = new Map<string, FoundMove>();
	const changes: StoreChange[] = [];
	for (const host of hostsOf(record)) {
		const path = lockPath(host);
		const lock = await store.get(path);
		const move = lock && (await readMove(store, lock.text));
		if (move !== null) moves.set(lock?.text ?? "", move);
		const revision = move === null ? null : (lock?.revision ?? null);
		changes.push({ path, revision, text: record.id });
	}
	for (const [id, move] of moves) {
		const taken = { ...move.record, holder: record.holder };
		const line = `${record.id} has taken its hosts; afterwards: corkboard moves resume ${id}`;
		const text = JSON.stringify(logged(taken, line));
		changes.push({ path: recordPath(id), revision: move.revision, text });
		const beat = await store.get(beatPath(id));
		if (beat === null) continue;
		const { revision } = beat;
		changes.push({ path: beatPath(id), revision, text: null });
	}
	return changes;
}

interface FoundMove {
	readonly record: OperationRecord;
	readonly revision: string;
}

/** Null: the operation is none, or is not known. */
async function readMove(
	store: Pick<TopologyStore, "get">,
	id: string,
): Promise<FoundMove | null> {
	const found = await store.get(recordPath(id));
	const record = found && parseRecord(id, found.text);
	return found && record && isKnown(record) && record.kind === "move"
		? { record, revision: found.revision }
		: null;
}

/** Those that give them free. */
export async function unlocked(
	store: Pick<TopologyStore, "get">,
	record: Locking,
): Promise<readonly StoreChange[]> {
	const changes: StoreChange[] = [];
	for (const host of hostsOf(record)) {
		const path = lockPath(host);
		const lock = await store.get(path);
		if (lock?.text !== record.id) continue;
		changes.push({ path, revision: lock.revision, text: null });
	}
	return changes;
}

/** Those that lock what it does not hold. Throws CONFLICT if another operation does. */
export async function lockedAgain(
	store: Pick<TopologyStore, "get">,
	record: Locking,
): Promise<readonly StoreChange[]> {
	const changes: StoreChange[] = [];
	for (const host of hostsOf(record)) {
		const path = lockPath(host);
		const lock = await store.get(path);
		if (lock === null) changes.push({ path, revision: null, text: record.id });
		else if (lock.text !== record.id) {
			throw await lockedError(store, host, lock.text);
		}
	}
	return changes;
}

/** What to throw where locking has failed. */
export async function lockedBy(
	store: Pick<TopologyStore, "get">,
	record: Locking,
	thrown: unknown,
): Promise<unknown> {
	if (!(thrown instanceof CorkboardError) || thrown.code !== "CONFLICT") {
		return thrown;
	}
	for (const host of hostsOf(record)) {
		const lock = await store.get(lockPath(host));
		if (lock !== null) return lockedError(store, host, lock.text, thrown);
	}
	return thrown;
}

function hostsOf({ from, to, alsoLocks = [] }: Locking): readonly string[] {
	return [...new Set([from, to, ...alsoLocks])];
}

async function lockedError(
	store: Pick<TopologyStore, "get">,
	host: string,
	by: string,
	cause?: unknown,
): Promise<CorkboardError> {
	const text = (await store.get(recordPath(by)))?.text;
	const record = text === undefined ? null : parseRecord(by, text);
	return new CorkboardError(
		"CONFLICT",
		`${host} is locked by ${by}. ${adviceOn(record, by)}`,
		{ cause },
	);
}

function adviceOn(
	record: OperationRecord | UnknownRecord | null,
	id: string,
): string {
	if (record !== null && !isKnown(record)) {
		return unknownRecordError(record).message;
	}
	return record?.kind === "move"
		? `Wait for its end (corkboard moves show ${id}), or give up what has not switched: corkboard moves cancel ${id}.`
		: "Resume or abort that: corkboard operations list.";
}
