import type { QueryName } from "../queries.ts";

/** What the server under guard counts between `start` and `stop`. */
export interface Counts {
	/** Without those that the process sends by itself. */
	readonly statements: number;
	readonly commits: number;
	/** Commands to memcached and Redis: one batch to one host is one. */
	readonly cacheCommands: number;
	/** MACs: each cursor takes one. */
	readonly cursors: number;
	/** Zero unless they were asked for: to count them changes what is allocated. */
	readonly promises: number;
	/** Bytes of heap and buffers; null if garbage was collected meanwhile. */
	readonly bytes: number | null;
}

export const GUARDED_WRITES = ["createPin", "likePin"] as const;
export type GuardedWrite = (typeof GUARDED_WRITES)[number];

/** Writers, each on a shard of its own. */
export const WRITERS = 8;

export type GuardRequest =
	| { readonly kind: "start"; readonly promises: boolean }
	| { readonly kind: "stop" }
	| {
			/** One write by each writer. */
			readonly kind: "write";
			readonly mutation: GuardedWrite;
			/** All in one turn of the event loop, or one after the other. */
			readonly together: boolean;
			/** How often such writes were asked for before: none is asked for twice. */
			readonly turn: number;
	  }
	/** Empties the cache in the process, or all caches, also those of other processes: nobody else may use them. */
	| { readonly kind: "forget"; readonly shared: boolean };

export type GuardMessage =
	| {
			readonly kind: "ready";
			readonly port: number;
			readonly ids: Readonly<Record<QueryName, string>>;
	  }
	| { readonly kind: "started" }
	| { readonly kind: "written" }
	| { readonly kind: "forgotten" }
	| { readonly kind: "counts"; readonly counts: Counts };
