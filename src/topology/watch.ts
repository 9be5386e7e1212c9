import { existsSync, type FSWatcher, readFileSync, watch } from "node:fs";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { CHANNELS, type TopologyEvent } from "../diagnostics.ts";
import { CorkboardError } from "../errors.ts";
import { checkTopologyChange } from "./check.ts";
import { parseTopology, prefixErrorsWithPath } from "./file.ts";
import type { Topology } from "./types.ts";

export interface WatchOptions {
	/**
	 * Where a copy of the last good version is kept, passwords and all (0600). At
	 * start the file has to be one that may follow it; where it is not, or is
	 * bad or missing, the copy is used.
	 */
	readonly keptCopy?: string;
	/** Takes a newer version into use. Until it resolves the version is not in use; if it rejects, it is given the version again later. */
	readonly onChange?: (topology: Topology) => void | Promise<void>;
	/** Between two looks at the file where the file system tells nothing: a network's, or one shared with a container. */
	readonly pollMs?: number;
}

/** From a change to the look at it, and from a bad file to the second look: whoever writes it may be half-way. */
const SETTLE_MS = 50;
const POLL_MS = 1_000;

/**
 * The topology in a file, now and after each edit. Throws BAD_TOPOLOGY if there
 * is no good one to begin with. What becomes of each edit is told on
 * `CHANNELS.topology`: of a bad one once, as long as it stands.
 */
export function watchTopology(
	path: string,
	options: WatchOptions = {},
): TopologyWatcher {
	return new TopologyWatcher(path, options, begin(path, options.keptCopy));
}

interface InitialTopology {
	readonly topology: Topology;
	/** Why it is not the file's. */
	readonly trouble: CorkboardError | null;
	/** What the file held then, or why it could not be read. */
	readonly bad: string | null;
}

/** The last good topology of a file, whatever the file has become (PROTOCOLS §6). */
export class TopologyWatcher implements AsyncDisposable {
	readonly #path: string;
	readonly #options: WatchOptions;
	readonly #poll: NodeJS.Timeout;
	#topology: Topology;
	#trouble: CorkboardError | null;
	/** What the file held when it was last found good. */
	#good: string | null = null;
	/** What it held when it was last found bad. */
	#bad: string | null;
	/** Whether that was told. */
	#isTold: boolean;
	#watcher: FSWatcher | null = null;
	#soon: NodeJS.Timeout | null = null;
	#looking: Promise<void> | null = null;
	#closed = false;

	constructor(path: string, options: WatchOptions, begun: InitialTopology) {
		this.#path = path;
		this.#options = options;
		this.#topology = begun.topology;
		this.#trouble = begun.trouble;
		this.#bad = begun.bad;
		this.#isTold = begun.trouble !== null;
		this.#tell(
			begun.trouble === null ? "taken" : "refused",
			begun.trouble ?? undefined,
		);
		this.#watch();
		this.#poll = setInterval(() => {
			this.#watch();
			this.#lookSoon();
		}, options.pollMs ?? POLL_MS).unref();
		this.#looking = this.#keep().finally(() => {
			this.#looking = null;
		});
	}

	/** The version in use. */
	get topology(): Topology {
		return this.#topology;
	}

	/** Why the file as it stands is not in use; null where it is. */
	get problem(): CorkboardError | null {
		return this.#trouble;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#closed = true;
		clearInterval(this.#poll);
		if (this.#soon !== null) clearTimeout(this.#soon);
		this.#watcher?.close();
		await this.#looking;
	}

	/** The folder, not the file: an edit mostly gives another file its name. */
	#watch(): void {
		if (this.#watcher !== null || this.#closed) return;
		try {
			const watcher = watch(dirname(this.#path), { persistent: false }, () =>
				this.#lookSoon(),
			);
			watcher.on("error", () => {
				watcher.close();
				this.#watcher = null;
			});
			this.#watcher = watcher;
		} catch {
			// No such folder, or no watches left on this machine: there is the poll.
		}
	}

	/** One look at a time. */
	#lookSoon(): void {
		if (this.#closed || this.#soon !== null) return;
		this.#soon = setTimeout(() => {
			this.#soon = null;
			if (this.#looking !== null) return this.#lookSoon();
			this.#looking = this.#look().finally(() => {
				this.#looking = null;
			});
		}, SETTLE_MS).unref();
	}

	async #look(): Promise<void> {
		let text = "";
		try {
			text = await readFile(this.#path, "utf8");
			if (this.#closed) return;
			if (text !== this.#good) await this.#take(text);
			this.#good = text;
			this.#bad = null;
			this.#trouble = null;
		} catch (thrown) {
			this.#refuse(text, inPath(this.#path, thrown));
		}
	}

	async #take(text: string): Promise<void> {
		const next = parseTopology(this.#path, text);
		prefixErrorsWithPath(this.#path, () =>
			checkTopologyChange(this.#topology, next),
		);
		if (next.version === this.#topology.version) return;
		await this.#options.onChange?.(next);
		this.#topology = next;
		this.#tell("taken");
		await this.#keep();
	}

	#refuse(text: string, error: CorkboardError): void {
		// A missing file has no text, but a reason.
		const bad = text || error.message;
		if (bad !== this.#bad) {
			this.#bad = bad;
			this.#isTold = false;
			this.#lookSoon();
		} else if (!this.#isTold) {
			this.#isTold = true;
			this.#trouble = error;
			this.#tell("refused", error);
		}
	}

	async #keep(): Promise<void> {
		const { keptCopy: keptAt } = this.#options;
		if (keptAt === undefined) return;
		const beside = `${keptAt}.${process.pid}`;
		try {
			const text = `${JSON.stringify(this.#topology, null, "\t")}\n`;
			await writeFile(beside, text, { mode: 0o600 });
			await rename(beside, keptAt);
		} catch (error) {
			this.#tell("unkept", error);
			await rm(beside, { force: true }).catch(() => {});
		}
	}

	#tell(state: TopologyEvent["state"], error?: unknown): void {
		const news: TopologyEvent = {
			path: this.#path,
			state,
			version: this.#topology.version,
			...(error !== undefined && { error }),
		};
		CHANNELS.topology.publish(news);
	}
}

function begin(path: string, keptAt: string | undefined): InitialTopology {
	const kept = readKept(keptAt);
	let text = "";
	try {
		text = prefixErrorsWithPath(path, () => readFileSync(path, "utf8"));
		const topology = parseTopology(path, text);
		if (kept !== null)
			prefixErrorsWithPath(path, () => checkTopologyChange(kept, topology));
		return { topology, trouble: null, bad: null };
	} catch (thrown) {
		if (kept === null) throw thrown;
		const { message } = thrown as CorkboardError;
		const trouble = new CorkboardError(
			"BAD_TOPOLOGY",
			`${message}\n${keptAt}: version ${kept.version}, the last good one, is used instead; remove this copy if ${path} is right`,
			{ cause: thrown },
		);
		return { topology: kept, trouble, bad: text || message };
	}
}

/** A copy that is bad is none: the file decides. */
function readKept(keptAt: string | undefined): Topology | null {
	if (keptAt === undefined || !existsSync(keptAt)) return null;
	try {
		return parseTopology(keptAt, readFileSync(keptAt, "utf8"));
	} catch {
		return null;
	}
}

function inPath(path: string, thrown: unknown): CorkboardError {
	if (thrown instanceof CorkboardError) return thrown;
	const reason = thrown instanceof Error ? thrown.message : String(thrown);
	return new CorkboardError("BAD_TOPOLOGY", `${path}: ${reason}`, {
		cause: thrown,
	});
}
