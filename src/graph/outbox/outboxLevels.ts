import type { Outbox } from "../../storage/rows.ts";
import type { Storage } from "../../storage/storage.ts";
import { deadlineIn, withDeadline } from "../../util/deadline.ts";
import type { OutboxLevel } from "./diagnostics.ts";

/** Entries of an outbox that are counted: with more, it is enough to know that. */
export const MAX_COUNTED = 1_000;
/** Those who ask sooner get the same answer. Milliseconds. */
const FRESH_MS = 5_000;
/** Nobody waits longer for the hosts. Milliseconds. */
const DEADLINE_MS = 2_000;

/**
 * How much is in the outboxes of each host, for metrics: asked
 * of the hosts at most every five seconds, and one question at a time. A host
 * that does not answer in time is left out, and its answer, if it comes, is
 * used for those who ask next.
 */
export class OutboxLevels {
	readonly #storage: Pick<Storage, "map" | "read">;
	readonly #now: () => number;
	/** By host. */
	readonly #known = new Map<string, Known>();
	readonly #running = new Map<string, Promise<void>>();

	constructor(
		storage: Pick<Storage, "map" | "read">,
		/** Milliseconds. */
		now: () => number = () => performance.now(),
	) {
		this.#storage = storage;
		this.#now = now;
	}

	/** Never rejects. */
	async levels(): Promise<readonly OutboxLevel[]> {
		const { outboxes } = this.#storage.map;
		const asked = outboxes.map((outbox) => this.#ask(outbox));
		await withDeadline(Promise.all(asked), deadlineIn(DEADLINE_MS)).catch(
			() => {},
		);
		return outboxes.flatMap(({ host }) => {
			const known = this.#known.get(host);
			if (known === undefined || !this.#isFresh(known)) return [];
			const { pending, oldestAt } = known;
			const oldestMs =
				oldestAt === null ? 0 : Math.max(0, Date.now() - oldestAt / 1_000);
			return [{ host, pending, oldestMs }];
		});
	}

	#isFresh({ at }: Known): boolean {
		return this.#now() - at < FRESH_MS;
	}

	async #ask(outbox: Outbox): Promise<void> {
		const { host } = outbox;
		const known = this.#known.get(host);
		if (known !== undefined && this.#isFresh(known)) return;
		let running = this.#running.get(host);
		if (running === undefined) {
			running = this.#read(outbox)
				.catch(() => {})
				.finally(() => this.#running.delete(host));
			this.#running.set(host, running);
		}
		await running;
	}

	async #read(outbox: Outbox): Promise<void> {
		const query = { outbox, limit: MAX_COUNTED };
		const [size] = await this.#storage.read("outboxSizes", [query]);
		if (size === undefined || size instanceof Error) return;
		this.#known.set(outbox.host, {
			at: this.#now(),
			pending: size.entries,
			oldestAt: size.oldestAt,
		});
	}
}

interface Known {
	readonly at: number;
	readonly pending: number;
	/** Microseconds since 1970. */
	readonly oldestAt: number | null;
}
