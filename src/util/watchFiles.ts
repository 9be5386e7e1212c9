import { type FSWatcher, watch } from "node:fs";
import { dirname } from "node:path";

/** From a change to the look at it: whoever writes a file may be half-way. */
const SETTLE_MS = 50;
const POLL_MS = 1_000;

/**
 * Calls `look` after anything changed in the folders of these files, and every
 * second besides: some file systems (a network's, one shared with a container)
 * tell nothing. One look at a time; `look` must not reject. The folders are
 * watched, not the files, because an edit mostly gives another file its name.
 */
export function watchFiles(
	paths: readonly string[],
	look: () => Promise<void>,
	{ pollMs = POLL_MS }: { readonly pollMs?: number | undefined } = {},
): AsyncDisposable {
	const watchers = new Map<string, FSWatcher>();
	let soon: NodeJS.Timeout | null = null;
	let looking: Promise<void> | null = null;
	let isClosed = false;

	const lookSoon = () => {
		if (isClosed || soon !== null) return;
		soon = setTimeout(() => {
			soon = null;
			if (looking !== null) return lookSoon();
			looking = look().finally(() => {
				looking = null;
			});
		}, SETTLE_MS).unref();
	};
	const watchFolders = () => {
		for (const folder of new Set(paths.map((path) => dirname(path)))) {
			if (watchers.has(folder)) continue;
			try {
				const watcher = watch(folder, { persistent: false }, lookSoon);
				watchers.set(folder, watcher);
				watcher.on("error", () => {
					watcher.close();
					watchers.delete(folder);
				});
			} catch {
				// No such folder, or no watches left on this machine: there is the poll.
			}
		}
	};
	watchFolders();
	const poll = setInterval(() => {
		watchFolders();
		lookSoon();
	}, pollMs).unref();

	return {
		async [Symbol.asyncDispose]() {
			isClosed = true;
			clearInterval(poll);
			if (soon !== null) clearTimeout(soon);
			for (const watcher of watchers.values()) watcher.close();
			await looking;
		},
	};
}
