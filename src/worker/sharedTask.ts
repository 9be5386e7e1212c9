import type { JobHints } from "../queue/hints.ts";
import { monotonicMs } from "../util/monotonic.ts";

/** Lengths of a lease: one turn that came late does not lose it. */
const LEASE = 3;
/** After so many turns in which others had the lease, a process does the task all the same: the others may not reach a shard. */
const FOLLOWED = 12;

/**
 * A task that recurs and that one process does for all that serve the same
 * queues, by a lease of its own. If hints of others do not arrive, each
 * process does it.
 */
export class SharedTask {
	readonly #hints: JobHints;
	readonly #queues: readonly string[];
	readonly #name: string;
	readonly #everyMs: number;
	/** Its last turn, or the first time it could have had one. */
	#doneAt = monotonicMs();

	constructor(options: {
		readonly hints: JobHints;
		readonly queues: readonly string[];
		readonly name: string;
		/** Between two turns. */
		readonly everyMs: number;
	}) {
		this.#hints = options.hints;
		this.#queues = options.queues;
		this.#name = options.name;
		this.#everyMs = options.everyMs;
	}

	/** Asked at each turn: whether this process is to do the task now. */
	async isMine(): Promise<boolean> {
		const lease = { name: this.#name, ms: LEASE * this.#everyMs };
		const mayFollow =
			this.#hints.isConnected &&
			monotonicMs() - this.#doneAt < FOLLOWED * this.#everyMs;
		if (mayFollow && !(await this.#hints.leads(this.#queues, lease))) {
			return false;
		}
		this.#doneAt = monotonicMs();
		return true;
	}
}
