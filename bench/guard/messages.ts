import type { QueryName } from "../queries.ts";

/** What the server under guard counts between `start` and `stop`. */
export interface Counts {
	/** Statements of reads. */
	readonly statements: number;
	/** Commands to memcached and Redis: one batch to one host is one. */
	readonly cacheCommands: number;
	/** MACs: each cursor takes one. */
	readonly cursors: number;
	/** Zero unless they were asked for: to count them changes what is allocated. */
	readonly promises: number;
	/** Of heap and buffers; null if garbage was collected meanwhile. */
	readonly bytes: number | null;
}

export type GuardRequest =
	| { readonly kind: "start"; readonly promises: boolean }
	| { readonly kind: "stop" }
	/** Empties the cache in the process, or all caches, also those of other processes: nobody else may use them. */
	| { readonly kind: "forget"; readonly shared: boolean };

export type GuardMessage =
	| {
			readonly kind: "ready";
			readonly port: number;
			readonly ids: Readonly<Record<QueryName, string>>;
	  }
	| { readonly kind: "started" }
	| { readonly kind: "forgotten" }
	| { readonly kind: "counts"; readonly counts: Counts };
