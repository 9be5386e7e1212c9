import type { Shard } from "../../storage/mysql/shards.ts";
import { Batcher } from "../../util/batcher.ts";
import type { Receiver } from "./pools.ts";
import type { StoredPush } from "./statements.ts";

/** How many merged pushes a host gets at a time from this process, before what comes next waits for one of them to end. */
const RUNNING = 2;
/** A push to so many receivers of a shard is a statement of its own, which has the item once: merging gains nothing there. */
const LARGE = 64;
/** Most rows of one transaction: its locks are held for as long as it takes. */
const MAX_ROWS = 1_000;

/** One item for receivers of one pool shard. */
export interface ShardPush {
	readonly to: Pick<Shard, "number" | "database">;
	readonly item: StoredPush;
	readonly receivers: readonly Receiver[];
	readonly activeSince: number;
}

/** What is written to one shard. */
export interface ShardBatch {
	readonly to: ShardPush["to"];
	readonly pushes: readonly ShardPush[];
}

/** Writes what can be repeated without harm, in one transaction, by ascending shards. Returns the number of new rows of each; an error for a shard that failed. */
type WritePushes = (
	batches: readonly ShardBatch[],
) => Promise<readonly (number | Error)[]>;

interface Waiting extends ShardPush {
	readonly resolve: (rows: number) => void;
	readonly reject: (error: unknown) => void;
}

/**
 * The pushes to the pool shards of one host. An item has few followers mostly, a few
 * on each shard, and a statement with its commit costs far more than a row. So pushes
 * that start in one turn of the event loop, or meet a busy host, are written together: one
 * statement a shard, one commit. A push that comes alone waits for nothing.
 */
export class MergedPushes {
	readonly #write: WritePushes;
	readonly #waiting = new Batcher<Waiting>({
		send: (pushes) => this.#writeAll(pushes),
		countOf: countOfNext,
		maxRunning: RUNNING,
	});

	constructor(write: WritePushes) {
		this.#write = write;
	}

	/** Returns how many rows are new; where pushes were merged, the push's part of them. */
	add(push: ShardPush): Promise<number> {
		const { promise, resolve, reject } = Promise.withResolvers<number>();
		const one: Waiting = { ...push, resolve, reject };
		if (push.receivers.length >= LARGE) {
			void this.#writeAll([one]);
			return promise;
		}
		this.#waiting.add(one);
		return promise;
	}

	/** Never rejects. */
	async #writeAll(pushes: readonly Waiting[]): Promise<void> {
		const batches = [...Map.groupBy(pushes, ({ to }) => to.number).values()]
			.map((some) => ({ to: (some[0] as Waiting).to, pushes: some }))
			.sort((a, b) => a.to.number - b.to.number);
		try {
			const results = await this.#write(batches);
			for (const [at, { pushes }] of batches.entries()) {
				divide(pushes, results[at] ?? 0);
			}
		} catch (error) {
			for (const { reject } of pushes) reject(error);
		}
	}
}

/** How many of the pushes fit into a transaction: at least one. */
function countOfNext(pushes: readonly Waiting[]): number {
	let rows = 0;
	const end = pushes.findIndex(({ receivers }, at) => {
		rows += receivers.length;
		return at > 0 && rows > MAX_ROWS;
	});
	return end < 0 ? pushes.length : end;
}

function divide(pushes: readonly Waiting[], result: number | Error): void {
	let rows = typeof result === "number" ? result : 0;
	for (const { receivers, resolve, reject } of pushes) {
		if (typeof result !== "number") {
			reject(result);
			continue;
		}
		const part = Math.min(rows, receivers.length);
		rows -= part;
		resolve(part);
	}
}
