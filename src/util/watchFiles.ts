import { type FSWatcher, watch } from "node:fs";
import { basename, dirname } from "node:path";

/** From a change to its check, because a writer may still be writing the file. */
const DEBOUNCE_MS = 50;
const POLL_MS = 1_000;

interface FileWatcher extends AsyncDisposable {
	/** Checks the files again after a short pause, although nothing changed. */
	checkSoon(): void;
}

/**
 * Calls `check` after a change in the folders of these files, and also every
 * `pollMs`, because network file systems and container mounts report no
 * changes. Only one check runs at a time. `check` must not reject. The folders
 * are watched, not the files, because most editors replace a file with another
 * one of the same name.
 */
export function watchFiles(
	paths: readonly string[],
	check: () => Promise<void>,
	{
		pollMs = POLL_MS,
		ownMs = DEBOUNCE_MS,
	}: {
		readonly pollMs?: number | undefined;
		/** From a change of one of these very files to its check; others in their folders, as the target of a link, take longer. */
		readonly ownMs?: number | undefined;
	} = {},
): FileWatcher {
	const watchers = new Map<string, FSWatcher>();
	const names = new Set(paths.map((path) => basename(path)));
	let timer: NodeJS.Timeout | null = null;
	let dueAt = 0;
	let running: Promise<void> | null = null;
	let isClosed = false;

	const checkIn = (ms: number) => {
		const at = performance.now() + ms;
		if (isClosed || (timer !== null && dueAt <= at)) return;
		if (timer !== null) clearTimeout(timer);
		dueAt = at;
		timer = setTimeout(() => {
			timer = null;
			if (running !== null) return checkSoon();
			running = check().finally(() => {
				running = null;
			});
		}, ms).unref();
	};
	const checkSoon = () => checkIn(DEBOUNCE_MS);
	const watchFolders = () => {
		for (const folder of new Set(paths.map((path) => dirname(path)))) {
			if (watchers.has(folder)) continue;
			try {
				const watcher = watch(folder, { persistent: false }, (_, name) =>
					checkIn(name !== null && names.has(name) ? ownMs : DEBOUNCE_MS),
				);
				watchers.set(folder, watcher);
				watcher.on("error", () => {
					watcher.close();
					watchers.delete(folder);
				});
			} catch {
				// The folder does not exist, or the machine has no watches left: polling remains.
			}
		}
	};
	watchFolders();
	const poll = setInterval(() => {
		watchFolders();
		checkSoon();
	}, pollMs).unref();

	return {
		checkSoon,
		async [Symbol.asyncDispose]() {
			isClosed = true;
			clearInterval(poll);
			if (timer !== null) clearTimeout(timer);
			for (const watcher of watchers.values()) watcher.close();
			await running;
		},
	};
}
