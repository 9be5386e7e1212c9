import type { Id } from "../id/ids.ts";

/**
 * What a command that writes needs is an embedded folder of its own; one that
 * only reads may do so beside the server that owns it.
 */
export type Access = "read" | "write";

/** A graph with all that works on it, opened from the settings. Disposing of it closes everything. */
export interface Opened extends AsyncDisposable {
	/** Make on every shard what is missing there. */
	init(progress?: (done: number, total: number) => void): Promise<void>;
	/** Whether there is no object in it yet. */
	isEmpty(): Promise<boolean>;
	import(
		lines: AsyncIterable<string>,
		options: ImportOptions,
	): Promise<Imported>;
	verify(options: VerifyOptions): Promise<Verified>;
	/** Runs an operation and tells, as text, what its plan did. */
	explain(operation: {
		readonly document: string;
		readonly variables: Readonly<Record<string, unknown>>;
		readonly viewer: Id | null;
	}): Promise<string>;
	/** An active user by id or username. */
	user(idOrUsername: string): Promise<Account | null>;
	signToken(user: Id): Promise<string>;
	serve(options: { readonly demo?: Demo }): Promise<Serving>;
}

export interface Account {
	readonly id: Id;
	readonly username: string;
}

export interface Demo {
	readonly username: string;
	readonly token: string;
	/** What GraphiQL opens with. */
	readonly query: string;
}

export interface Serving {
	/** Without a path: `http://127.0.0.1:4000`. */
	readonly url: string;
	/** Refuse what is new, let what runs end, within a deadline. */
	close(): Promise<void>;
}

export interface ImportOptions {
	/** Stop at the first bad line. */
	readonly strict: boolean;
	/** Ends the import cleanly, between two batches. */
	readonly signal: AbortSignal;
	progress(lines: number): void;
	badLine(line: number, reason: string): void;
}

export interface Imported {
	readonly lines: number;
	/** How many objects and edges there were, and how many of them were new or changed. */
	readonly objects: number;
	readonly edges: number;
	readonly changed: number;
	readonly badLines: number;
	/** It was stopped before its end; a further run goes on from there. */
	readonly interrupted: boolean;
}

export interface VerifyOptions {
	readonly repair: boolean;
	progress(done: number, total: number): void;
	/** One disagreement, as a sentence. */
	fault(sentence: string): void;
}

export interface Verified {
	readonly objects: number;
	readonly edges: number;
	readonly lookups: number;
	readonly faults: number;
	readonly repaired: number;
}
