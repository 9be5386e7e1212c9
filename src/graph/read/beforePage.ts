import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import type { CallOptions } from "../../trace.ts";
import { andThen, type MaybePromise } from "../../util/maybePromise.ts";
import type { PageArguments } from "../types.ts";
import type { ReadCounter } from "./readCounter.ts";

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

/** The hooks of one request, each called once: fields that read the same list share a call. */
export class PageLooks {
	readonly #viewer: Id | null;
	readonly #hooks: PageHooks;
	readonly #counter: ReadCounter;
	/** By mapping. */
	readonly #started = new Map<string, MaybePromise<PageLook>>();

	constructor(viewer: Id | null, hooks: PageHooks, counter: ReadCounter) {
		this.#viewer = viewer;
		this.#hooks = hooks;
		this.#counter = counter;
	}

	/** What has to happen before these pages are read; undefined if nothing has to, or it has. */
	before(
		{ name }: Mapping,
		froms: readonly Id[],
		page: PageArguments,
		call: CallOptions | undefined,
	): MaybePromise<void> {
		const before = this.#hooks.before.get(name);
		const viewer = this.#viewer;
		if (before === undefined || viewer === null) return;
		if (!showsStart(page) || !froms.includes(viewer)) return;
		const started = this.#started.get(name);
		const look = started ?? before({ viewer, call });
		this.#started.set(name, look);
		return andThen(look, (ended) => {
			// From now on nothing waits for it.
			this.#started.set(name, ended);
			if (started === undefined) this.#counter.addEdges(ended.reads);
			this.#hooks.limitAge(ended.validMs);
		});
	}
}

/** Whether the page shows the start of its list, and something of it. */
function showsStart({ first, after, before, fields }: PageArguments): boolean {
	return (
		after === undefined &&
		before === undefined &&
		first !== undefined &&
		first > 0 &&
		(fields.edges || fields.cursors)
	);
}
