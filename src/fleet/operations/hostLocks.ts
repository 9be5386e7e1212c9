import { CorkboardError } from "../../errors.ts";
import type { StoreChange, TopologyStore } from "../../topology/store.ts";
import { logged, recordPath } from "./recordText.ts";
import { beatPath } from "./signOfLife.ts";

/** An operation, and the hosts that nobody else may change meanwhile. */
interface Locking {
	readonly id: string;
	readonly from: string;
	readonly to: string;
	readonly alsoLocks?: readonly string[];
}

const lockPath = (host: string) =>
	`locks/${host.replaceAll(/[^A-Za-z0-9._:-]/g, "_")}`;

/** The changes of the store that lock its hosts, where nobody has. */
export function firstLocks(record: Locking): readonly StoreChange[] {
	return hostsOf(record).map((host) => ({
		path: lockPath(host),
		revision: null,
		text: record.id,
	}));
}

/**
 * The same, also of hosts that moves of shards have locked: a dead primary does not
 * wait for them. The move's record is taken from whoever runs it, so nothing that it
 * still does is saved or published. Whoever resumes it finds the new primary in the
 * place of the dead one.
 */
export async function locksPastMoves(
	store: Pick<TopologyStore, "get">,
	record: Locking & { readonly holder: string },
): Promise<readonly StoreChange[]> {
	const moves = new Set<string>();
	const changes: StoreChange[] = [];
	for (const host of hostsOf(record)) {
		const path = lockPath(host);
		const lock = await store.get(path);
		const isOfMove = lock?.text.startsWith("move-") === true;
		if (isOfMove) moves.add(lock.text);
		const revision = isOfMove ? lock.revision : null;
		changes.push({ path, revision, text: record.id });
	}
	for (const id of moves) {
		const [move, beat] = await Promise.all([
			store.get(recordPath(id)),
			store.get(beatPath(id)),
		]);
		if (move !== null) {
			const taken = { ...JSON.parse(move.text), holder: record.holder };
			const line = `${record.id} has taken its hosts; afterwards: corkboard move resume ${id}`;
			const text = JSON.stringify(logged(taken, line));
			changes.push({ path: recordPath(id), revision: move.revision, text });
		}
		if (beat !== null) {
			const { revision } = beat;
			changes.push({ path: beatPath(id), revision, text: null });
		}
	}
	return changes;
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

/** Those that lock what it does not hold. Throws CONFLICT where another operation does. */
export async function lockedAgain(
	store: Pick<TopologyStore, "get">,
	record: Locking,
): Promise<readonly StoreChange[]> {
	const changes: StoreChange[] = [];
	for (const host of hostsOf(record)) {
		const path = lockPath(host);
		const lock = await store.get(path);
		if (lock === null) changes.push({ path, revision: null, text: record.id });
		else if (lock.text !== record.id) throw lockedError(host, lock.text);
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
		if (lock !== null) return lockedError(host, lock.text, thrown);
	}
	return thrown;
}

function hostsOf({ from, to, alsoLocks = [] }: Locking): readonly string[] {
	return [...new Set([from, to, ...alsoLocks])];
}

function lockedError(
	host: string,
	by: string,
	cause?: unknown,
): CorkboardError {
	return new CorkboardError(
		"CONFLICT",
		by.startsWith("move-")
			? `${host} is locked by ${by}. Wait for its end (corkboard move status ${by}), or give up what has not gone over: corkboard move cancel ${by}.`
			: `${host} is locked by ${by}. Resume or abort that: corkboard operations list.`,
		{ cause },
	);
}
