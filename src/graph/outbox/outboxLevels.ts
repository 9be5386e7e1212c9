import type {
	KeyResult,
	OutboxSize,
	OutboxSizeQuery,
	StorageMap,
} from "../../storage/storage.ts";
import { deadlineIn, withDeadline } from "../../util/deadline.ts";
import type { OutboxLevel } from "./diagnostics.ts";

/** Entries of a shard that are counted: with more, it is enough to know that. */
export const MAX_COUNTED = 1_000;
/** Those who ask sooner get the same answer. Milliseconds. */
const FRESH_MS = 5_000;
/** Nobody waits longer for the hosts. Milliseconds. */
const DEADLINE_MS = 2_000;

interface Source {
	readonly map: Pick<StorageMap, "outboxShards" | "hostOf">;
	outboxSizes(
		shards: readonly OutboxSizeQuery[],
	): Promise<readonly KeyResult<OutboxSize>[]>;
}

/**
 * How much is in the outboxes of each host, for whoever scrapes metrics: asked
 * of the hosts at most every five seconds, and one question at a time. A host
 * that does not answer in time is left out, and its answer, if it comes, is
 * used for those who ask next.
 */
export class OutboxLevels {
	readonly #source: Source;
	readonly #now: () => number;
	/** By host. */
	readonly #known = new Map<string, Known>();
	readonly #running = new Map<string, Promise<void>>();

	constructor(
		source: Source,
		/** Milliseconds. */
		now: () => number = () => performance.now(),
	) {
		this.#source = source;
		this.#now = now;
	}

	/** Never rejects. */
	async levels(): Promise<readonly OutboxLevel[]> {
		const { map } = this.#source;
		const hosts = Map.groupBy(
			map.outboxShards,
			(shard) => map.hostOf(shard) ?? "",
		);
		const asked = [...hosts].map(([host, some]) => this.#ask(host, some));
		await withDeadline(Promise.all(asked), deadlineIn(DEADLINE_MS)).catch(
			() => {},
		);
		return [...hosts.keys()].flatMap((host) => {
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

	async #ask(host: string, shards: readonly number[]): Promise<void> {
		const known = this.#known.get(host);
		if (known !== undefined && this.#isFresh(known)) return;
		let running = this.#running.get(host);
		if (running === undefined) {
			running = this.#read(host, shards)
				.catch(() => {})
				.finally(() => this.#running.delete(host));
			this.#running.set(host, running);
		}
		await running;
	}

	async #read(host: string, shards: readonly number[]): Promise<void> {
		const sizes = await this.#source.outboxSizes(
			shards.map((shard) => ({ shard, limit: MAX_COUNTED })),
		);
		const read: OutboxSize[] = [];
		for (const size of sizes) {
			// Of a part of its shards nothing can be said.
			if (size instanceof Error) return;
			read.push(size);
		}
		this.#known.set(host, {
			at: this.#now(),
			pending: read.reduce((sum, { entries }) => sum + entries, 0),
			oldestAt: read.reduce<number | null>(
				(oldest, { oldestAt }) =>
					oldest === null || (oldestAt !== null && oldestAt < oldest)
						? oldestAt
						: oldest,
				null,
			),
		});
	}
}

interface Known {
	readonly at: number;
	readonly pending: number;
	/** Microseconds since 1970. */
	readonly oldestAt: number | null;
}
