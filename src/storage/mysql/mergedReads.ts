import type { StatementTrace } from "../../trace.ts";
import { SharedCall } from "../../util/sharedCall.ts";
import { StorageFailure } from "../storageFailure.ts";
import type { Host } from "./driver/host.ts";
import type { QueryOptions } from "./driver/queryOptions.ts";
import { mergeTraces } from "./mergeTraces.ts";
import type { KeyOnShard } from "./shards.ts";

/**
 * How many statements of one kind a host gets at a time, before what comes next
 * waits for one of them to end, together.
 */
const RUNNING = 4;

/** But not longer than this: what runs may be slow. Milliseconds. */
const LONGEST_WAIT_MS = 10;

/**
 * A host is slow if each of its answers takes longer than this. Then no more than
 * `RUNNING` statements begin in the time of one answer: a further one would wait as
 * long for a connection as for its answer. Milliseconds.
 */
const SLOW_MS = 250;

/** Most rows of one merged statement, so that nobody waits long for the rows of others. */
const MAX_ROWS = 2_000;

/** How keys of one kind are read, for all callers. */
interface MergedRead<Key, Result> {
	/** The results of keys of one host, in one statement. */
	readonly read: (
		host: Host,
		keys: readonly KeyOnShard<Key>[],
		options: QueryOptions,
	) => Promise<readonly Result[]>;
	/** Most keys of one statement. */
	readonly maxKeys: number;
	/** Most rows that are read for a key. */
	readonly rowsOf: (key: Key) => number;
}

/**
 * Reads of one kind, for all requests: those that start in one turn of the event
 * loop, and those that meet a busy host, become one statement. A statement costs
 * this process and the server more than several keys do. So the busier a process
 * is, the less a request costs both. One that comes alone waits for nothing.
 *
 * A merged statement is sent after all its callers asked, so what they get is as
 * new as if each had sent its own. If the server refuses it, for example
 * because one shard has lost a table, each caller's keys are read by themselves.
 */
export class MergedReads<Key, Result> {
	readonly #lanes = new Map<Host, Lane<Key, Result>>();
	/** Lanes of reads that decide a write. */
	readonly #decisive = new Map<Host, Lane<Key, Result>>();
	readonly #kind: MergedRead<Key, Result>;

	constructor(kind: MergedRead<Key, Result>) {
		this.#kind = kind;
	}

	/** At most `maxKeys` keys. Rejects with the reason of the signal when that is aborted. */
	read(
		host: Host,
		keys: readonly KeyOnShard<Key>[],
		options: QueryOptions,
	): Promise<readonly Result[]> {
		const lanes = options.decides ? this.#decisive : this.#lanes;
		let lane = lanes.get(host);
		if (lane === undefined) {
			lane = { waiting: [], running: 0, immediate: null, timer: null };
			lanes.set(host, lane);
		}
		const { promise, resolve, reject } =
			Promise.withResolvers<readonly Result[]>();
		lane.waiting.push({ keys, options, resolve, reject });
		const answerMs = host.leastAnswerMs;
		const isSlow = answerMs > SLOW_MS && !host.isFree;
		if (lane.running >= RUNNING || (isSlow && lane.running > 0)) {
			const ms = isSlow ? answerMs / RUNNING : LONGEST_WAIT_MS;
			lane.timer ??= setTimeout(this.#sendAll, ms, host, lane);
		} else {
			// After the sockets that are ready now: other requests may want something too.
			lane.immediate ??= setImmediate(this.#sendAll, host, lane);
		}
		return promise;
	}

	readonly #sendAll = (host: Host, lane: Lane<Key, Result>): void => {
		if (lane.timer !== null) clearTimeout(lane.timer);
		if (lane.immediate !== null) clearImmediate(lane.immediate);
		lane.timer = lane.immediate = null;
		for (const callers of this.#groups(lane.waiting.splice(0))) {
			const [only] = callers.length === 1 ? callers : [];
			const shared = new SharedCall<readonly Result[]>();
			const { keys, options } = only ?? merged(callers, shared.signal);
			const sent = this.#kind.read(host, keys, options);
			lane.running += 1;
			const answered =
				only === undefined
					? this.#divide(host, callers, shared, sent)
					: sent.then(only.resolve, only.reject);
			void answered.finally(() => {
				lane.running -= 1;
				if (lane.waiting.length === 0) return;
				lane.immediate ??= setImmediate(this.#sendAll, host, lane);
			});
		}
	};

	/** As many callers as fit into one statement. */
	*#groups(
		waiting: readonly Caller<Key, Result>[],
	): Generator<readonly Caller<Key, Result>[]> {
		const { maxKeys, rowsOf } = this.#kind;
		let some: Caller<Key, Result>[] = [];
		let keys = 0;
		let rows = 0;
		for (const caller of waiting) {
			const { signal } = caller.options.deadline;
			if (signal?.aborted) {
				caller.reject(signal.reason);
				continue;
			}
			let more = 0;
			for (const { key } of caller.keys) more += rowsOf(key);
			const isFull =
				keys + caller.keys.length > maxKeys || rows + more > MAX_ROWS;
			if (isFull && some.length > 0) {
				yield some;
				some = [];
				keys = rows = 0;
			}
			some.push(caller);
			keys += caller.keys.length;
			rows += more;
		}
		if (some.length > 0) yield some;
	}

	/** Gives each caller what it asked for of a statement that they share. */
	async #divide(
		host: Host,
		callers: readonly Caller<Key, Result>[],
		shared: SharedCall<readonly Result[]>,
		sent: Promise<readonly Result[]>,
	): Promise<void> {
		shared.settleWith(sent);
		let end = 0;
		await Promise.all(
			callers.map(async ({ keys, options, resolve, reject }) => {
				const { signal } = options.deadline;
				end += keys.length;
				const own = [end - keys.length, end] as const;
				try {
					resolve((await shared.wait(signal)).slice(...own));
				} catch (thrown) {
					if (signal?.aborted || isOfHost(thrown)) reject(thrown);
					else await this.#kind.read(host, keys, options).then(resolve, reject);
				}
			}),
		);
	}
}

interface Question<Key> {
	readonly keys: readonly KeyOnShard<Key>[];
	readonly options: QueryOptions;
}

interface Caller<Key, Result> extends Question<Key> {
	readonly resolve: (results: readonly Result[]) => void;
	readonly reject: (reason: unknown) => void;
}

/** The reads of one kind from one host. */
interface Lane<Key, Result> {
	waiting: Caller<Key, Result>[];
	running: number;
	immediate: NodeJS.Immediate | null;
	/** Runs while something waits for what is running. */
	timer: NodeJS.Timeout | null;
}

/** Whether each caller would meet it too: the server said nothing about the statement. */
function isOfHost(thrown: unknown): boolean {
	return thrown instanceof StorageFailure && thrown.errno === null;
}

/** The statement of several callers. */
function merged<Key>(
	callers: readonly Question<Key>[],
	signal: AbortSignal,
): Question<Key> {
	const traces: StatementTrace[] = [];
	const listeners: (() => void)[] = [];
	let shard = 0;
	let until = 0;
	for (const { options } of callers) {
		shard ||= options.shard;
		// They asked within milliseconds of each other, and have the same time.
		until = Math.max(until, options.deadline.until);
		if (options.trace !== undefined) traces.push(options.trace);
		if (options.onSent !== undefined) listeners.push(options.onSent);
	}
	const options = {
		shard,
		deadline: { until, signal },
		trace: mergeTraces(traces),
		onSent:
			listeners.length === 0
				? undefined
				: () => {
						for (const listener of listeners) listener();
					},
		requests: callers.length,
		...(callers[0]?.options.decides && { decides: true }),
	};
	return { keys: callers.flatMap(({ keys }) => keys), options };
}
