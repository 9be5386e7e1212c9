import { CorkboardError } from "../../errors.ts";
import type { StoreChange, TopologyStore } from "../../topology/store.ts";

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
		`${host} is locked by ${by}. Resume or abort that: corkboard operations list.`,
		{ cause },
	);
}
