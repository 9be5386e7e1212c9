import type {
	RetryReason,
	Statement,
	Trace,
	WriteDescription,
	WriteSummary,
	WriteTrace,
} from "../../src/trace.ts";

/** A trace of one write that records what storage reports. */
export interface RecordedWriteTrace extends WriteTrace {
	readonly statements: Statement[];
	readonly retries: RetryReason[];
	/** How many others each transaction of the database was shared with. */
	readonly others: number[];
}

export function recordWriteTrace(): RecordedWriteTrace {
	const statements: Statement[] = [];
	const kept: RetryReason[] = [];
	const others: number[] = [];
	const notByStorage = () => {
		throw new TypeError("storage reports nothing of caches and entries");
	};
	return {
		statements,
		retries: kept,
		others,
		statement: (statement) => void statements.push(statement),
		retry: (why) => void kept.push(why),
		grouped: (number) => void others.push(number),
		cache: notByStorage,
		end: notByStorage,
		fail: notByStorage,
		delivered: notByStorage,
	};
}

/** What was recorded of one write. */
export interface RecordedWrite {
	readonly description: WriteDescription;
	readonly statements: Statement[];
	ended: WriteSummary | null;
	failed: unknown;
	delivered: boolean;
	/** As `redis 1 true`. */
	readonly caches: string[];
}

/** A trace that records writes. */
export function recordWrites() {
	const writes: RecordedWrite[] = [];
	const reads: Statement[] = [];
	const trace: Trace = {
		statement: (statement) => void reads.push(statement),
		cache() {},
		hiddenEdges() {},
		startWrite(description) {
			const one: RecordedWrite = {
				description,
				statements: [],
				ended: null,
				failed: null,
				delivered: false,
				caches: [],
			};
			writes.push(one);
			return {
				statement: (statement) => void one.statements.push(statement),
				retry() {},
				grouped() {},
				cache: (...parts) => void one.caches.push(parts.join(" ")),
				end(ended) {
					one.ended = ended;
				},
				fail(thrown) {
					one.failed = thrown;
				},
				delivered() {
					one.delivered = true;
				},
			};
		},
	};
	return { writes, reads, trace };
}
