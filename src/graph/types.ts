import type { Call } from "../diagnostics.ts";
import type { CorkboardError } from "../errors.ts";
import type { Id } from "../id/ids.ts";
import type { Lookup, Mapping, Model } from "../model/types.ts";
import type { JsonObject } from "../util/json.ts";

/**
 * The graph as one viewer sees it, for one request. What the viewer may not
 * see is null here, like what does not exist: no path around this leads to an
 * object. Every read takes many keys and answers each in the order asked, an
 * error standing for its own key only; reads made in one tick share their
 * storage calls.
 */
export interface Graph {
	readonly model: Model;
	readonly viewer: Id | null;

	/** Objects the viewer may see. */
	objects(
		ids: readonly Id[],
		call?: Call,
	): Promise<readonly (Node | null | CorkboardError)[]>;

	/** One page of each list. `after` and `before` are cursors as clients send them. A cursor that is not of that list is an error BAD_USER_INPUT in its place. */
	pages(
		mapping: Mapping,
		froms: readonly Id[],
		page: PageArguments,
		call?: Call,
	): Promise<readonly (Page | CorkboardError)[]>;

	/** Whether each edge is present. */
	contains(
		mapping: Mapping,
		from: Id,
		tos: readonly Id[],
		call?: Call,
	): Promise<readonly (boolean | CorkboardError)[]>;

	/** The ids that hold these natural keys, as they were given: folded here. */
	lookup(
		lookup: Lookup,
		keys: readonly string[],
		call?: Call,
	): Promise<readonly (Id | null | CorkboardError)[]>;
}

/** One object, shared by all who read it: never changed. */
export interface Node {
	readonly id: Id;
	/** The type's name. */
	readonly type: string;
	readonly data: JsonObject;
}

/** What a page was asked for, after `coercePage`: exactly one of first and last. */
export interface PageArguments {
	readonly first?: number;
	readonly last?: number;
	readonly after?: string;
	readonly before?: string;
	readonly want: PageParts;
}

/** What of a page will be looked at; the rest is not read. */
export interface PageParts {
	readonly edges: boolean;
	readonly hasNextPage: boolean;
	readonly hasPreviousPage: boolean;
	/** Also cursors of the page's ends. */
	readonly cursors: boolean;
	readonly totalCount: boolean;
}

export interface Page {
	/** In the mapping's order. */
	readonly edges: readonly PageEdge[];
	readonly hasNextPage: boolean;
	readonly hasPreviousPage: boolean;
	readonly startCursor: string | null;
	readonly endCursor: string | null;
	readonly totalCount: number | null;
}

export interface PageEdge {
	/** An error (`UNAVAILABLE`) where the object's host did not answer. */
	readonly node: Node | CorkboardError;
	/** Spelled only when asked for: it costs an encryption. */
	cursor(): string;
	/** Microseconds since 1970. */
	readonly sequence: number;
}
