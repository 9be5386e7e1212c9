import { CorkboardError } from "../errors.ts";

/**
 * Where the processes of a fleet share the topology, its history, who serves it,
 * and the records of operations on the fleet. The port is narrow on purpose: checks,
 * versions, history, members and locks exist once, above it. `test/suites/topologyStore.ts`
 * holds every implementation to it.
 *
 * A path is one or more names of letters, digits, `.`, `_`, `:` and `-`,
 * separated by `/`: `topology`, `history/0000000017`. A path with a text may have others below it.
 */
export interface TopologyStore extends AsyncDisposable {
	/** What operators call it, without passwords: a file's path, or `zk://host:port/path`. */
	readonly name: string;
	/** Whether processes can be announced here. False if nothing can be written beside the topology file. */
	readonly hasMembers: boolean;
	/** How much later other machines may get a change, as with a file that kubelet mounts. Milliseconds; absent: at once. */
	readonly arrivesMs?: number;
	/** The text of a path as of the newest completed write; null if there is none. Throws UNAVAILABLE. */
	get(path: string): Promise<StoredText | null>;
	/** The names directly below a path, sorted; none if there is no such path. Throws UNAVAILABLE. */
	list(path: string): Promise<readonly string[]>;
	/**
	 * Applies all changes or none of them. Throws CONFLICT, with `details.path`,
	 * if a path is not as expected, and nothing has changed then. Throws
	 * UNAVAILABLE if the store does not answer: `details.isUnknown` is true if
	 * the changes may have been applied, and may be applied later still. The caller
	 * then reads again, and relies only on a path whose revision the changes expected.
	 */
	write(changes: readonly StoreChange[]): Promise<void>;
	/**
	 * Calls `hint` when the path or something below it may have changed, and after
	 * each reconnection. It never says what: the caller reads again.
	 */
	watch(path: string, hint: () => void): Disposable;
	/**
	 * Keeps a text at a path for as long as this process lives and reaches the
	 * store, and writes it again after each lost session. Nobody else may write the path.
	 */
	announce(path: string): Announcement;
}

export interface StoredText {
	readonly text: string;
	/** Opaque. Differs after each write of the path, even after a deletion and another creation. */
	readonly revision: string;
}

export interface StoreChange {
	readonly path: string;
	/** As the path must be now; null: it must not exist. */
	readonly revision: string | null;
	/** Null deletes the path. */
	readonly text: string | null;
}

export interface Announcement extends AsyncDisposable {
	/**
	 * Resolves when the store has the text. Throws UNAVAILABLE if it cannot be
	 * reached; the newest text is then written as soon as it can.
	 */
	set(text: string): Promise<void>;
}

/** What a server uses: it reads, and says what it serves. Operations write, and a server only that a failover lost something (guards/losses.ts). */
export type ReadableStore = Omit<TopologyStore, "write">;

/** The topology in use, as JSON. */
export const TOPOLOGY = "topology";
/** The newest lock file of the model that the tables were made for. */
export const MODEL = "model";
/** Which tables were made. */
export const MADE = "tables";

/** `history/0000000017` */
export function historyPath(version: number): string {
	return `history/${String(version).padStart(10, "0")}`;
}

const PATH = /^[A-Za-z0-9._:-]+(?:\/[A-Za-z0-9._:-]+)*$/;

/** Throws TypeError for what is no path of a topology store: paths are names of files and of ZooKeeper's nodes. */
export function checkPath(path: string): void {
	const isPath =
		PATH.test(path) &&
		path.split("/").every((name) => name !== "." && name !== "..");
	if (isPath) return;
	throw new TypeError(
		`expected names of letters, digits, ".", "_", ":" and "-", separated by "/", but got: ${path}`,
	);
}

/** Writes what `change` makes of the text of a path, again if another was first. Returns whether it has changed. */
export async function changeText(
	store: Pick<TopologyStore, "get" | "write">,
	path: string,
	change: (text: string | null) => string,
): Promise<boolean> {
	for (;;) {
		const found = await store.get(path);
		const text = change(found?.text ?? null);
		if (text === found?.text) return false;
		try {
			await store.write([{ path, revision: found?.revision ?? null, text }]);
			return true;
		} catch (error) {
			if (error instanceof CorkboardError && error.code === "CONFLICT") {
				continue;
			}
			throw error;
		}
	}
}

/** For a write that found a path not to be as it expected. */
export function conflictAt(path: string): CorkboardError {
	return new CorkboardError(
		"CONFLICT",
		`Somebody else has changed ${path} in the topology store. Look at it again, and try again.`,
		{ details: { path } },
	);
}
