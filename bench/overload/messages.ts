/** Clients of one kind: an open loop, whose requests come at their times whether or not others were answered. */
export interface Clients {
	readonly name: string;
	/** The address of the machine: 127.0.0.2 is another one than 127.0.0.1. */
	readonly address: string;
	readonly connections: number;
	/** Requests a second, one phase after the other; null: each connection sends when it was answered. */
	readonly phases: readonly {
		readonly seconds: number;
		readonly rate: number | null;
	}[];
	/** Whole HTTP requests, in their order. */
	readonly requests: readonly string[];
	readonly seed: number;
}

export interface OpenLoad {
	readonly port: number;
	/** A client gives up after this time. Milliseconds. */
	readonly patienceMs: number;
	readonly clients: readonly Clients[];
}

export const OUTCOMES = [
	/** A response without errors. */
	"answered",
	/** A response with errors, such as those of a host that is away. */
	"errors",
	/** 503 or 429, with `Retry-After`. */
	"refused",
	/** The same without. */
	"refusedWithout",
	/** The client gave up. */
	"late",
	/** The connection ended, or the response was another one. */
	"failed",
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** What became of the requests, in columns. */
export interface OpenResult {
	readonly name: string;
	/** When it was due. Seconds since the beginning. */
	readonly at: Float64Array;
	/** From then to the response. Milliseconds. */
	readonly ms: Float64Array;
	/** Index in `OUTCOMES`. */
	readonly outcome: Uint8Array;
	/** Its index among the requests of its client. */
	readonly request: Uint32Array;
	/** After its time so late at most was one of a hundred sent, or given to clients that wait for a connection: what the sender itself adds. Milliseconds. */
	readonly lateMs: number;
	/** The first that was neither answered nor refused. */
	readonly firstError: string | null;
}
