import type { QueryName } from "./queries.ts";
import type { VariantName } from "./variants.ts";

/** One measurement: a variant, what it was asked, and what that took. */
export interface Cell {
	/** What is compared: cells of one section, question and round are paired. */
	readonly section: string;
	readonly round: number;
	readonly variant: VariantName;
	/** A query, or what else was done. */
	readonly question: QueryName | string;
	readonly connections: number;
	readonly requests: number;
	readonly errors: number;
	readonly firstError?: string;
	readonly seconds: number;
	/** CPU of the server process per request, of the databases, and of the shared caches. Milliseconds. */
	readonly cpuMs: number;
	readonly databaseMs: number;
	readonly cacheMs: number;
	/** The part of its core that the server used. */
	readonly busy: number;
	/** Milliseconds. */
	readonly p50: number;
	readonly p99: number;
	readonly most: number;
	/** The size of a body, on average. */
	readonly bytes: number;
	readonly residentMb: number;
	/** The part of all cores that the host gave to others. */
	readonly stolen: number;
	/** What a section measures besides, by name. */
	readonly figures?: Readonly<Record<string, number>>;
}
