import { CorkboardError } from "../../errors.ts";
import type { KeyAt } from "../../storage/driver.ts";
import { selectAll } from "../../storage/mysql/dialect.ts";
import { readByHost } from "../../storage/readByHost.ts";
import type { Select } from "../../storage/statements/dialect.ts";
import { StorageFailure } from "../../storage/storageFailure.ts";
import { deadlineIn } from "../../util/deadline.ts";
import type {
	Due,
	DueRange,
	ExpiryRange,
	QueueRow,
	ShardOfQueue,
} from "../jobStore.ts";
import { unknownQueueShard } from "../portChecks.ts";
import { expiredClaims, firstDue } from "../statements/claims.ts";
import { allQueues } from "../statements/queues.ts";
import { tablesOf } from "./dialect.ts";
import { isNoTable, type QueueShard, toQueueError } from "./queueCall.ts";

/** Ranges of one statement. */
const RANGES = 100;

type Shards = ReadonlyMap<number, QueueShard>;

/** What is read of ranges of queues: a statement of a host has a part for each. */
interface RangeRead<Range, Found, Answer> {
	readonly select: (
		range: Range,
		shard: QueueShard,
	) => Select<Found> | Promise<Select<Found>>;
	readonly answer: (found: readonly Found[]) => Answer;
	/** If there is no such table (default: that there is no such queue). */
	readonly noTable?: Answer;
}

export const DUE: RangeRead<DueRange, Due, Due | null> = {
	select: (range, shard) => firstDue(tablesOf(shard, range.at.queue), range),
	answer: ([due = null]) => due,
};

export const HAS_EXPIRED: RangeRead<ExpiryRange, unknown, boolean> = {
	async select(range, shard) {
		const now = await shard.clock.now(shard.number);
		const tables = tablesOf(shard, range.at.queue);
		return expiredClaims(tables, range, now, { limit: 1 });
	},
	answer: (found) => found.length > 0,
};

/** The queues of whole shards. One whose tables have not been created has none. */
export const QUEUES: RangeRead<
	{ readonly at: ShardOfQueue },
	QueueRow,
	readonly QueueRow[]
> = {
	select: ({ at }, shard) => allQueues(tablesOf(shard, at.queue)),
	answer: (queues) => queues,
	noTable: [],
};

/** One statement for each host, unless a queue does not exist: then one for each range, so that only its own fail. */
export async function readRanges<
	Range extends { readonly at: ShardOfQueue },
	Found,
	Answer,
>(
	shards: Shards,
	ranges: readonly Range[],
	{ select, answer, noTable }: RangeRead<Range, Found, Answer>,
	readMs: number,
): Promise<readonly (Answer | CorkboardError)[]> {
	const read = async (
		host: QueueShard["host"],
		some: readonly KeyAt<Range, QueueShard>[],
	): Promise<readonly (Answer | CorkboardError)[]> => {
		const [first] = some;
		if (first === undefined) return [];
		try {
			const selects = some.map(({ key, shard }) => select(key, shard));
			const found = await selectAll(host, await Promise.all(selects), {
				shard: first.shard.number,
				deadline: deadlineIn(readMs),
			});
			return found.map(answer);
		} catch (thrown) {
			if (!isNoTable(thrown)) throw thrown;
			if (some.length === 1) return [noTable ?? failed(thrown, first.key)];
			const each = some.map((one) =>
				read(host, [one]).catch((failure) => [failed(failure, one.key)]),
			);
			return (await Promise.all(each)).flat();
		}
	};
	return readByHost<QueueShard, Range, Answer | CorkboardError>(ranges, {
		locationOf: ({ at }) => shards.get(at.shard),
		absent: ({ at }) => unknownQueueShard(at.shard),
		maxKeys: RANGES,
		read,
	});
}

function failed(
	thrown: unknown,
	{ at }: { readonly at: ShardOfQueue },
): CorkboardError {
	const error = toQueueError(thrown, at);
	if (error instanceof CorkboardError) return error;
	throw thrown instanceof StorageFailure ? error : thrown;
}
