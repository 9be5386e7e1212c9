import { existsSync, readFileSync } from "node:fs";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { CHANNELS, type TopologyEvent } from "../diagnostics.ts";
import { CorkboardError } from "../errors.ts";
import { type FileWatcher, watchFiles } from "../util/watchFiles.ts";
import { checkTopologyChange } from "./check.ts";
import { parseTopology, prefixErrorsWithPath } from "./parseTopology.ts";
import type { Topology } from "./types.ts";

export interface TopologyFileOptions {
	/**
	 * Path of the copy of the last good version, with its passwords (mode 0600).
	 * At the start the file must be a valid successor of this copy. The copy is
	 * used where the file is not, or is bad or missing.
	 */
	readonly keptCopy?: string;
	/** How often the file is read where the file system reports no changes. Milliseconds. */
	readonly pollMs?: number;
}

/**
 * Reads the topology of a file, or its kept copy where the file cannot be used.
 * Throws BAD_TOPOLOGY if neither can. `CHANNELS.topology` reports the result,
 * and the result of each later edit; a bad edit is reported once, as long as it
 * stays the same.
 */
export function openTopologyFile(
	path: string,
	options: TopologyFileOptions = {},
): TopologyFile {
	return new TopologyFile(path, options, readInitial(path, options.keptCopy));
}

interface InitialTopology {
	readonly topology: Topology;
	/** Why the topology is not the file's; null where it is. */
	readonly problem: CorkboardError | null;
	/** The text of a file that cannot be used, or why it cannot be read. */
	readonly rejected: string | null;
}

/** The last good topology of a file, whatever the file has become (docs/consistency.md, "6. Topology"). */
export class TopologyFile implements AsyncDisposable {
	readonly #path: string;
	readonly #options: TopologyFileOptions;
	#topology: Topology;
	#problem: CorkboardError | null;
	/** The text of the file when it was last accepted. */
	#accepted: string | null = null;
	/** The text of the file when it was last rejected. */
	#rejected: string | null;
	/** Whether the rejection has been reported. */
	#isReported: boolean;
	#onChange: (topology: Topology) => void | Promise<void> = () => {};
	#watcher: FileWatcher | null = null;
	#firstCopy: Promise<void> | null = null;

	constructor(
		path: string,
		options: TopologyFileOptions,
		initial: InitialTopology,
	) {
		this.#path = path;
		this.#options = options;
		this.#topology = initial.topology;
		this.#problem = initial.problem;
		this.#rejected = initial.rejected;
		this.#isReported = initial.problem !== null;
		this.#report(
			initial.problem === null ? "loaded" : "rejected",
			initial.problem ?? undefined,
		);
	}

	/** The version in use. */
	get topology(): Topology {
		return this.#topology;
	}

	/** Why the file as it stands is not in use; null where it is. */
	get problem(): CorkboardError | null {
		return this.#problem;
	}

	/**
	 * Keeps a copy of the topology, and from now on calls `onChange` with each
	 * newer version, edits since the file was opened included. A version is in
	 * use once `onChange` resolves; if it rejects, it is called again later.
	 */
	follow(onChange: (topology: Topology) => void | Promise<void>): void {
		if (this.#watcher !== null) throw new TypeError("already followed");
		this.#onChange = onChange;
		this.#firstCopy = this.#keepCopy();
		this.#watcher = watchFiles([this.#path], () => this.#check(), {
			pollMs: this.#options.pollMs,
		});
		this.#watcher.checkSoon();
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#watcher?.[Symbol.asyncDispose]();
		await this.#firstCopy;
	}

	async #check(): Promise<void> {
		await this.#firstCopy;
		let text = "";
		try {
			text = await readFile(this.#path, "utf8");
			const { version } = this.#topology;
			if (text !== this.#accepted) await this.#apply(text);
			const isRepaired = this.#problem !== null;
			this.#accepted = text;
			this.#rejected = null;
			this.#problem = null;
			// The file is again what is in use: nobody else says that it is good now.
			if (isRepaired && version === this.#topology.version) {
				this.#report("loaded");
			}
		} catch (thrown) {
			this.#reject(text, inPath(this.#path, thrown));
		}
	}

	async #apply(text: string): Promise<void> {
		const next = parseTopology(this.#path, text);
		prefixErrorsWithPath(this.#path, () =>
			checkTopologyChange(this.#topology, next),
		);
		if (next.version === this.#topology.version) return;
		await this.#onChange(next);
		this.#topology = next;
		this.#report("loaded");
		await this.#keepCopy();
	}

	/** Reports a bad file at the second check, because its writer may have been half-way at the first. */
	#reject(text: string, error: CorkboardError): void {
		// A missing file has no text, but a reason.
		const rejected = text || error.message;
		if (rejected !== this.#rejected) {
			this.#rejected = rejected;
			this.#isReported = false;
			this.#watcher?.checkSoon();
		} else if (!this.#isReported) {
			this.#isReported = true;
			this.#problem = error;
			this.#report("rejected", error);
		}
	}

	async #keepCopy(): Promise<void> {
		const { keptCopy } = this.#options;
		if (keptCopy === undefined) return;
		const temporary = `${keptCopy}.${process.pid}`;
		try {
			const text = `${JSON.stringify(this.#topology, null, "\t")}\n`;
			await writeFile(temporary, text, { mode: 0o600 });
			await rename(temporary, keptCopy);
		} catch (error) {
			this.#report("copyFailed", error);
			await rm(temporary, { force: true }).catch(() => {});
		}
	}

	#report(state: TopologyEvent["state"], error?: unknown): void {
		const event: TopologyEvent = {
			path: this.#path,
			state,
			version: this.#topology.version,
			...(error !== undefined && { error }),
		};
		CHANNELS.topology.publish(event);
	}
}

function readInitial(
	path: string,
	keptCopy: string | undefined,
): InitialTopology {
	const kept = readKeptCopy(keptCopy);
	let text = "";
	try {
		text = prefixErrorsWithPath(path, () => readFileSync(path, "utf8"));
		const topology = parseTopology(path, text);
		if (kept !== null)
			prefixErrorsWithPath(path, () => checkTopologyChange(kept, topology));
		return { topology, problem: null, rejected: null };
	} catch (thrown) {
		if (kept === null) throw thrown;
		const { message } = thrown as CorkboardError;
		const problem = new CorkboardError(
			"BAD_TOPOLOGY",
			`${message}\n${keptCopy}: version ${kept.version}, the last good one, is used instead; remove this copy if ${path} is right`,
			{ cause: thrown },
		);
		return { topology: kept, problem, rejected: text || message };
	}
}

/** A bad copy counts as no copy. */
function readKeptCopy(keptCopy: string | undefined): Topology | null {
	if (keptCopy === undefined || !existsSync(keptCopy)) return null;
	try {
		return parseTopology(keptCopy, readFileSync(keptCopy, "utf8"));
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
