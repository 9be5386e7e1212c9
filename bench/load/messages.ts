/** What the process that sends the load is asked to do. */
export interface LoadRequest {
	readonly port: number;
	/** Names `requests`, which the process keeps. */
	readonly set: string;
	/** Whole HTTP requests, as they go over the wire; null if the process has those of this name. */
	readonly requests: readonly string[] | null;
	/** Which request is next, over and over. */
	readonly order: Uint32Array;
	/** Where in `order` to begin. */
	readonly from: number;
	/** Each has one request under way. */
	readonly connections: number;
	/** No request is sent after this time. */
	readonly ms: number;
	/** Nor after so many. */
	readonly most: number;
}

export interface LoadResult {
	readonly requests: number;
	readonly errors: number;
	/** What the first error looked like. */
	readonly firstError: string | null;
	/** The size of bodies. */
	readonly bytes: number;
	readonly seconds: number;
	/** Milliseconds. */
	readonly p50: number;
	readonly p99: number;
	readonly most: number;
}
