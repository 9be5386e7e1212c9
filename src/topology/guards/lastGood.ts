import { existsSync, readFileSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { CorkboardError } from "../../errors.ts";
import { reasonOf } from "../../util/reasonOf.ts";
import { temporaryName } from "../../util/temporaryName.ts";
import { checkTopologyChange } from "../checkChange.ts";
import {
	TOPOLOGY_AGES,
	TOPOLOGY_CHANNELS,
	type TopologyEvent,
} from "../diagnostics.ts";
import { parseTopology, prefixErrorsWithPath } from "../parseTopology.ts";
import { type ReadableStore, TOPOLOGY } from "../store.ts";
import type { Topology } from "../types.ts";
import { type ConfirmedTopology, type Moment, moment } from "./writeGuard.ts";

export interface LastGoodOptions {
	/**
	 * Path of the copy of the last good version, with its passwords (mode 0600).
	 * At the start the store's version must be a valid successor of this copy. The
	 * copy is used if the store's is not, or is bad or missing, or the store does not answer.
	 */
	readonly keptCopy?: string | undefined;
	/** Whether newer versions are kept there. */
	readonly keeps?: boolean;
	/** How often the store is read without a hint. Milliseconds. */
	readonly pollMs?: number | undefined;
}

/** The part of a store that is read. */
type Source = Pick<ReadableStore, "name" | "get" | "watch">;

/** Hints may be lost with the connection that they would have come over. */
const POLL_MS = 10_000;
/** From a bad text to its second look: its writer may have been half-way. */
const SECOND_LOOK_MS = 50;

/**
 * Reads the topology of a store, or its kept copy if the store's cannot be
 * used. Throws BAD_TOPOLOGY or UNAVAILABLE if neither can. `TOPOLOGY_CHANNELS.topology`
 * reports the result, and the result of each later change; a bad text is reported
 * once, as long as it stays the same.
 */
export async function openLastGood(
	source: Source,
	options: LastGoodOptions = {},
): Promise<LastGoodTopology> {
	return new LastGoodTopology(
		source,
		options,
		await readInitial(source, options.keptCopy),
	);
}

interface InitialTopology {
	readonly topology: Topology;
	/** Why the topology is not the store's; null if it is. */
	readonly problem: CorkboardError | null;
	/** The text that cannot be used, or why it cannot be read. */
	readonly rejected: string | null;
}

/** The last good topology of a store, whatever has become of the store and of its text (docs/consistency.md, "6. Topology"). */
export class LastGoodTopology implements ConfirmedTopology, AsyncDisposable {
	readonly #source: Source;
	readonly #options: LastGoodOptions;
	#topology: Topology;
	#problem: CorkboardError | null;
	/** The text when it was last accepted. */
	#accepted: string | null = null;
	/** The text when it was last rejected. */
	#rejected: string | null;
	/** Whether the rejection has been reported. */
	#isReported: boolean;
	/** When the last read began that said that the store's text is what is in use. */
	#confirmed: Moment;
	#onChange: (topology: Topology) => void | Promise<void> = () => {};
	#watch: Disposable | null = null;
	#poll: NodeJS.Timeout | undefined;
	#secondLook: NodeJS.Timeout | undefined;
	#firstCopy: Promise<void> | null = null;
	#checking: Promise<void> | null = null;
	#isHinted = false;
	#isCopyFailing = false;
	#isClosed = false;

	constructor(
		source: Source,
		options: LastGoodOptions,
		initial: InitialTopology,
	) {
		this.#source = source;
		this.#options = options;
		this.#topology = initial.topology;
		this.#problem = initial.problem;
		this.#rejected = initial.rejected;
		this.#isReported = initial.problem !== null;
		this.#confirmed = moment();
		if (initial.problem === null) this.#report("loaded");
		else this.#report(stateOf(initial.problem), initial.problem);
	}

	/** The version in use. */
	get topology(): Topology {
		return this.#topology;
	}

	/** Why the text as it stands is not in use, or is not known; null if it is in use. */
	get problem(): CorkboardError | null {
		return this.#problem;
	}

	get confirmed(): Moment {
		return this.#confirmed;
	}

	async look(): Promise<void> {
		this.#look();
		await this.#checking;
	}

	/**
	 * Keeps a copy of the topology, and from now on calls `onChange` with each
	 * newer version, changes since it was opened included. A version is in
	 * use once `onChange` resolves; if it rejects, it is called again later.
	 */
	follow(onChange: (topology: Topology) => void | Promise<void>): void {
		if (this.#watch !== null) throw new TypeError("already followed");
		this.#onChange = onChange;
		this.#firstCopy = this.#keepCopy();
		this.#watch = this.#source.watch(TOPOLOGY, () => this.#look());
		this.#poll = setInterval(
			() => this.#look(),
			this.#options.pollMs ?? POLL_MS,
		).unref();
		this.#look();
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#isClosed = true;
		this.#reported[Symbol.dispose]();
		this.#watch?.[Symbol.dispose]();
		clearInterval(this.#poll);
		clearTimeout(this.#secondLook);
		await this.#checking;
		await this.#firstCopy;
	}

	/** One look at a time; a hint during one brings another. */
	#look(): void {
		// The second look is soon, and not before its time.
		if (this.#isClosed || this.#secondLook !== undefined) return;
		this.#isHinted = true;
		this.#checking ??= this.#checkHinted().finally(() => {
			this.#checking = null;
		});
	}

	async #checkHinted(): Promise<void> {
		await this.#firstCopy;
		while (this.#isHinted && !this.#isClosed && !this.#secondLook) {
			this.#isHinted = false;
			await this.#check();
		}
	}

	async #check(): Promise<void> {
		const began = moment();
		let text = "";
		try {
			text = await readText(this.#source);
			const { version } = this.#topology;
			if (text !== this.#accepted) await this.#apply(text);
			const isRepaired = this.#problem !== null;
			this.#accepted = text;
			this.#rejected = null;
			this.#problem = null;
			this.#confirmed = began;
			// The text is again what is in use: nobody else says that it is good now.
			if (isRepaired && version === this.#topology.version) {
				this.#report("loaded");
			}
		} catch (thrown) {
			this.#reject(text, inPath(this.#source.name, thrown));
		}
	}

	async #apply(text: string): Promise<void> {
		const { name } = this.#source;
		const next = parseTopology(name, text);
		prefixErrorsWithPath(name, () => checkTopologyChange(this.#topology, next));
		if (next.version === this.#topology.version) return;
		await this.#onChange(next);
		this.#topology = next;
		this.#report("loaded");
		await this.#keepCopy();
	}

	/** Reports a bad text at the second look, because its writer may have been half-way at the first. */
	#reject(text: string, error: CorkboardError): void {
		// A missing text has none, but a reason. A store says the same thing in many words.
		const rejected =
			error.code === "UNAVAILABLE" ? error.code : text || error.message;
		if (rejected !== this.#rejected) {
			this.#rejected = rejected;
			this.#isReported = false;
			this.#secondLook = setTimeout(() => {
				this.#secondLook = undefined;
				this.#look();
			}, SECOND_LOOK_MS).unref();
		} else if (!this.#isReported) {
			this.#isReported = true;
			this.#problem = error;
			this.#report(stateOf(error), error);
		}
	}

	async #keepCopy(): Promise<void> {
		const { keptCopy, keeps = true } = this.#options;
		if (keptCopy === undefined || !keeps) return;
		const temporary = temporaryName(keptCopy);
		try {
			const text = `${JSON.stringify(this.#topology, null, "\t")}\n`;
			await writeFile(temporary, text, { mode: 0o600 });
			await rename(temporary, keptCopy);
			this.#isCopyFailing = false;
		} catch (error) {
			// On a mount that is read-only, each version would say it again.
			if (!this.#isCopyFailing) this.#report("copyFailed", error);
			this.#isCopyFailing = true;
			await rm(temporary, { force: true }).catch(() => {});
		}
	}

	readonly #reported = TOPOLOGY_AGES.add(
		() => (performance.now() - this.#confirmed.at) / 1_000,
	);

	#report(state: TopologyEvent["state"], error?: unknown): void {
		const event: TopologyEvent = {
			path: this.#source.name,
			state,
			version: this.#topology.version,
			...(error !== undefined && { error }),
		};
		TOPOLOGY_CHANNELS.topology.publish(event);
	}
}

async function readInitial(
	source: Source,
	keptCopy: string | undefined,
): Promise<InitialTopology> {
	const { name } = source;
	const kept = readKeptCopy(keptCopy);
	let text = "";
	try {
		text = await readText(source);
		const topology = parseTopology(name, text);
		if (kept !== null)
			prefixErrorsWithPath(name, () => checkTopologyChange(kept, topology));
		return { topology, problem: null, rejected: null };
	} catch (thrown) {
		const error = inPath(name, thrown);
		if (kept === null) throw error;
		const isLost = error.code === "UNAVAILABLE";
		const hint = isLost ? "" : `; remove this copy if ${name} is right`;
		const problem = new CorkboardError(
			error.code,
			`${error.message}\n${keptCopy}: version ${kept.version}, the last good one, is used instead${hint}`,
			{ cause: thrown },
		);
		return {
			topology: kept,
			problem,
			rejected: isLost ? error.code : text || error.message,
		};
	}
}

async function readText(source: Source): Promise<string> {
	const found = await source.get(TOPOLOGY);
	if (found !== null) return found.text;
	throw new CorkboardError(
		"BAD_TOPOLOGY",
		`${source.name}: expected a topology but got: nothing. Put one there with map publish.`,
	);
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

function stateOf({ code }: CorkboardError): TopologyEvent["state"] {
	return code === "UNAVAILABLE" ? "unreachable" : "rejected";
}

function inPath(path: string, thrown: unknown): CorkboardError {
	if (thrown instanceof CorkboardError) return thrown;
	const reason = reasonOf(thrown);
	return new CorkboardError("BAD_TOPOLOGY", `${path}: ${reason}`, {
		cause: thrown,
	});
}
