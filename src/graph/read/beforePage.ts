import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import type { CallOptions } from "../../trace.ts";
import { andThen, type MaybePromise } from "../../util/maybePromise.ts";
import type { Page, PageArguments } from "../types.ts";
import type { ReadCounter } from "./readCounter.ts";

/**
 * Called before the first page of the viewer's own list of a mapping is read from
 * its start, so that it may add to the list. It does not throw, and bounds its time.
 */
export type BeforePage = (look: {
	readonly viewer: Id;
	readonly call?: CallOptions | undefined;
}) => MaybePromise<BeforePageResult>;

interface BeforePageResult {
	/** Edges and objects that it read. */
	readonly reads: number;
	/** For how long another call would add nothing: an answer may be used again for so long. Milliseconds. */
	readonly validMs: number;
}

/**
 * Called when a page reaches the end of the viewer's own list of a mapping, so
 * that the list may be continued there. It does not throw, and bounds its time.
 */
export type AtEnd = (look: {
	readonly viewer: Id;
	/** Whether it is enough to know if more would follow: the page is full, or shows the start of the list. */
	readonly isProbe: boolean;
	readonly call?: CallOptions | undefined;
}) => Promise<AtEndResult>;

export interface AtEndResult {
	/**
	 * - `ended`: nothing follows.
	 * - `continued`: the list has more edges at its end now.
	 * - `more`: more may follow, which was not added now.
	 */
	readonly outcome: "ended" | "continued" | "more";
	/** Edges and objects that it read. */
	readonly reads: number;
	/** How long another call would say the same: the answer may be used again for so long. Milliseconds. */
	readonly validMs: number;
}

/** What is called before pages of lists and at their end, by mapping, for one request. */
export interface PageHooks {
	readonly before: ReadonlyMap<string, BeforePage>;
	readonly atEnd: ReadonlyMap<string, AtEnd>;
	/** Called with how long the answer of the request may be used again. */
	readonly limitAge: (ms: number) => void;
}

export const NO_PAGE_HOOKS: PageHooks = {
	before: new Map(),
	atEnd: new Map(),
	limitAge() {},
};

/** The hooks of one request, each called once: fields that read the same list share a call. */
export class PageHookCalls {
	readonly #viewer: Id | null;
	readonly #hooks: PageHooks;
	readonly #counter: ReadCounter;
	/** By mapping. */
	readonly #started = new Map<string, MaybePromise<BeforePageResult>>();

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

	/**
	 * What `AtEnd` says of the viewer's own list, if this page reaches its end; null
	 * if nothing is called for this list.
	 */
	async atEnd(
		{ name }: Mapping,
		page: PageArguments,
		shown: Page,
		call: CallOptions | undefined,
		/** Whether the list was continued just now, for this page. */
		isContinued = false,
	): Promise<AtEndResult["outcome"] | null> {
		const atEnd = this.#hooks.atEnd.get(name);
		const viewer = this.#viewer;
		if (atEnd === undefined || viewer === null) return null;
		const isProbe =
			isContinued ||
			page.after === undefined ||
			shown.nodes.length >= (page.first ?? 0);
		const { outcome, reads, validMs } = await atEnd({ viewer, isProbe, call });
		this.#counter.addEdges(reads);
		this.#hooks.limitAge(validMs);
		return outcome;
	}

	/** Whether `atEnd` has to be called for a page of this list that reaches the end. */
	mayContinue(
		{ name }: Mapping,
		froms: readonly Id[],
		{ first = 0, before, fields }: PageArguments,
	): boolean {
		return (
			this.#hooks.atEnd.has(name) &&
			this.#viewer !== null &&
			froms.includes(this.#viewer) &&
			first > 0 &&
			before === undefined &&
			(fields.edges || fields.cursors || fields.hasNextPage)
		);
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
