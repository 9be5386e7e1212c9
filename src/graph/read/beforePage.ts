import type { CallOptions } from "../../diagnostics.ts";
import type { Id } from "../../id/ids.ts";
import type { MaybePromise } from "../../util/maybePromise.ts";

/**
 * Called before the first page of the viewer's own list of a mapping is read from
 * its start, so that it may add to the list. It does not throw, and bounds its time.
 */
export type BeforePage = (look: {
	readonly viewer: Id;
	readonly call?: CallOptions | undefined;
}) => MaybePromise<PageLook>;

export interface PageLook {
	/** Edges and objects that it read. */
	readonly reads: number;
	/** For how long another call would add nothing: an answer may be used again for so long. Milliseconds. */
	readonly validMs: number;
}

/** What is called before pages of lists, by mapping, for one request. */
export interface PageHooks {
	readonly before: ReadonlyMap<string, BeforePage>;
	/** Called with how long the answer of the request may be used again. */
	readonly limitAge: (ms: number) => void;
}

export const NO_PAGE_HOOKS: PageHooks = { before: new Map(), limitAge() {} };
