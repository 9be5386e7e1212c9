/**
 * What ran on one day (UTC), summed up over all processes. Nothing here is of a
 * request's variables or of a person.
 */
export interface UsageDay {
	/** `2026-11-22` */
	readonly day: string;
	/** When its counting began. ISO 8601. */
	readonly since: string;
	/** What each document uses of the schema, by its key. */
	readonly documents: ReadonlyMap<string, readonly string[]>;
	/** Requests by client, and of each by the document's key; those of no document of its own under `OTHER`. */
	readonly requests: Counts;
	/** Uses by client, and of each by schema coordinate, in requests that count under `OTHER`. */
	readonly fields: Counts;
}

export type Counts = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** Documents that are in no file, or beyond the limit; and clients beyond the limit. */
export const OTHER = "other";

/** Names a document: the SHA-256 of its text, and the operation if that has a name. */
export function documentKey(sha256: string, operation: string | null): string {
	return operation === null
		? sha256
		: `${sha256} ${operation.slice(0, MAX_NAME)}`;
}

const MAX_NAME = 100;

/** Counts to be added to a day. */
export interface UsageBatch {
	/** The batch's number at its recorder: a batch that was added before, whose acknowledgment was lost, is not added again. */
	readonly number: number;
	readonly day: string;
	/** When it was made. ISO 8601. */
	readonly at: string;
	readonly documents: readonly {
		readonly client: string;
		readonly key: string;
		readonly coordinates: readonly string[];
		readonly count: number;
	}[];
	/** Requests for other documents, and what those used. */
	readonly others: readonly {
		readonly client: string;
		readonly requests: number;
		readonly coordinates: readonly (readonly [string, number])[];
	}[];
}

/** Bounds of one day, so that clients cannot fill the store with names and texts of their own. */
export interface UsageLimits {
	/** Pairs of a client with a document or coordinate. A new pair beyond counts for the client `OTHER`. */
	readonly entries: number;
	/** Most bytes of the keys and coordinates of all documents. A new document beyond counts as `OTHER`. */
	readonly documentBytes: number;
}

export const USAGE_LIMITS: UsageLimits = {
	entries: 10_000,
	documentBytes: 2 * 1_024 * 1_024,
};

/** Where usage is kept. It outlives the process. */
export interface UsageStore extends AsyncDisposable {
	/** False if it could not be stored, so that it has to be offered again. Never rejects. */
	add(batch: UsageBatch): Promise<boolean>;
}

/** `2026-11-22` */
export function dayOf(ms: number): string {
	return new Date(ms).toISOString().slice(0, 10);
}

export const DAY_MS = 86_400_000;

/** The last so many days, today included, oldest first. */
export function lastDays(count: number, now: number): readonly string[] {
	return Array.from({ length: count }, (_, ago) =>
		dayOf(now - (count - 1 - ago) * DAY_MS),
	);
}
