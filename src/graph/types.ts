import type { CorkboardError } from "../errors.ts";
import type { Id } from "../id/ids.ts";
import type { GivenKey, Lookup, Mapping, Model } from "../model/types.ts";
import type { CallOptions } from "../trace.ts";
import type { JsonObject } from "../util/json.ts";
import type { MaybePromise } from "../util/maybePromise.ts";

/**
 * The graph as one viewer sees it, for one request. An object that the viewer may
 * not see is null, like one that does not exist; `readStored` and `readPublic` are
 * the only other paths to an object, and both are for decisions. Each read takes many keys and returns one result for each, in order; an
 * error concerns its own key only. What is in memory is returned at once; reads
 * started in one tick that miss something share their storage calls.
 */
export interface Graph {
	readonly model: Model;
	readonly viewer: Id | null;

	/** Objects the viewer may see. */
	readObjects(
		ids: readonly Id[],
		call?: CallOptions,
	): MaybePromise<readonly (Node | null | CorkboardError)[]>;

	/**
	 * Active objects as stored, hidden ones too: to decide what the viewer may
	 * remove without seeing it. Nothing but their ids may reach an answer.
	 */
	readStored(
		ids: readonly Id[],
		call?: CallOptions,
	): MaybePromise<readonly (Node | null | CorkboardError)[]>;

	/** Objects as a visitor sees them who is not signed in. */
	readPublic(
		ids: readonly Id[],
		call?: CallOptions,
	): MaybePromise<readonly (Node | null | CorkboardError)[]>;

	/** One page of each list; null for a list that the viewer may not read. `after` and `before` are cursors from clients. A cursor of another list is the error BAD_USER_INPUT for this list. */
	readPages(
		mapping: Mapping,
		froms: readonly Id[],
		page: PageArguments,
		call?: CallOptions,
	): MaybePromise<readonly (Page | null | CorkboardError)[]>;

	/** Whether each edge is present. */
	hasEdges(
		mapping: Mapping,
		from: Id,
		tos: readonly Id[],
		call?: CallOptions,
	): MaybePromise<readonly (boolean | CorkboardError)[]>;

	/** Each edge as a page has it; null if it is not present, the viewer may not see its object, or may not read the list. */
	readEdges(
		mapping: Mapping,
		ends: readonly EdgeEnds[],
		call?: CallOptions,
	): MaybePromise<readonly (PageEdge | null | CorkboardError)[]>;

	/**
	 * The owners of the longest lists of a mapping, the longest first: up to 100 that
	 * the viewer may see, by counts of some minutes ago at most.
	 */
	longestLists(
		mapping: Mapping,
		first: number,
		call?: CallOptions,
	): MaybePromise<readonly Node[]>;

	/**
	 * The objects of each group of a grouped list: at most `limit`, and
	 * none if the viewer may not read the list. Of a group, 20 edges at most are
	 * looked at.
	 */
	readGroups(
		mapping: Mapping,
		from: Id,
		groups: readonly Id[],
		limit: number,
		call?: CallOptions,
	): MaybePromise<
		readonly (readonly (Node | CorkboardError)[] | CorkboardError)[]
	>;

	/**
	 * Objects of the lists by prefix of a mapping, one of whose words begins with the
	 * text, in any case and with or without accents: up to `first` that the viewer may
	 * see, the newest first, of the newest edges of one list.
	 */
	findByPrefix(
		mapping: Mapping,
		text: string,
		first: number,
		call?: CallOptions,
	): MaybePromise<readonly (Node | CorkboardError)[]>;

	/** The ids of the objects that hold these natural keys, hidden ones too. Keys are given as clients send them and are normalized here; those of several parts by field. */
	lookUp(
		lookup: Lookup,
		keys: readonly GivenKey[],
		call?: CallOptions,
	): MaybePromise<readonly (Id | null | CorkboardError)[]>;
}

/** One object. All its readers share it, so it is never changed. */
export interface Node {
	readonly id: Id;
	/** The name of the type. */
	readonly type: string;
	readonly data: JsonObject;
}

/** What a write committed, so that its request need not read it again. */
export interface WrittenState {
	readonly objects: readonly Node[];
	/** Present edges of lists whose edges it wrote, by `listName`. Null: the list has to be read. Nothing caches them: others may write the list at once. */
	readonly counts: ReadonlyMap<string, number | null>;
}

/** The arguments of a page after coercion: exactly one of first and last. */
export interface PageArguments {
	readonly first?: number;
	readonly last?: number;
	readonly after?: string;
	readonly before?: string;
	/** Where the page of a list that is ordered by a field starts, unless `after` says so. */
	readonly startAt?: string | number;
	readonly fields: PageFields;
}

/** The fields of a page that are used; only these are read. */
export interface PageFields {
	readonly edges: boolean;
	readonly hasNextPage: boolean;
	readonly hasPreviousPage: boolean;
	/** Whether cursors of the edges and of both ends of the page are wanted. */
	readonly cursors: boolean;
	readonly totalCount: boolean;
}

export interface Page {
	/** In the mapping's order. */
	readonly edges: readonly PageEdge[];
	/** The objects of the edges. */
	readonly nodes: readonly (Node | CorkboardError)[];
	readonly hasNextPage: boolean;
	readonly hasPreviousPage: boolean;
	readonly startCursor: string | null;
	readonly endCursor: string | null;
	readonly totalCount: number | null;
}

/** The object that owns a list, and one that the list may lead to. */
export interface EdgeEnds {
	readonly from: Id;
	readonly to: Id;
}

export interface PageEdge {
	/** The error UNAVAILABLE if the host of the object did not respond. */
	readonly node: Node | CorkboardError;
	/** Encoded only when called: it costs an encryption. */
	cursor(): string;
	/** Microseconds since 1970. */
	readonly sequence: number;
}

/** An object to create. */
export interface NewObject {
	/** The name of the type. */
	readonly type: string;
	/** Its stored JSON, references included. */
	readonly data: JsonObject;
	readonly idempotency?: {
		/** Whose key it is, and for which mutation. */
		readonly scope: string;
		readonly key: string;
		/** The whole request: repeats must equal it. */
		readonly request: JsonObject;
	};
	/**
	 * Edges from the new object, in this order, to objects whose ids are known or
	 * that are found by natural key and created if there are none. They are
	 * there when `create` resolves, or as soon as the shards they need answer.
	 */
	readonly links?: readonly ({ readonly mapping: Mapping } & LinkTarget)[];
}

/** Where an edge leads: to an object whose id is known, or to the one that holds a natural key, which is created if there is none. */
interface LinkTarget {
	readonly to: Id | { readonly type: string; readonly data: JsonObject };
}

/**
 * Changes to the graph, for one request. None of them checks whether the viewer
 * is allowed to: the mutation that calls them does. Each resolves when its
 * transaction is committed, caches are invalidated, and what it promises
 * elsewhere is delivered or in the outbox. Errors: `CONFLICT` for a natural key
 * that is taken, `NOT_FOUND` for an object that does not exist, `UNAVAILABLE`
 * for a host that does not answer.
 */
export interface Writes {
	/**
	 * Create an object. Its natural keys are reserved, and it is put on the lists
	 * that follow its references. With `idempotency`, a repeated request gets the
	 * object of the first; the same key with another `request` is `BAD_USER_INPUT`.
	 */
	create(object: NewObject): Promise<Id>;

	/**
	 * Read, change and write an object under its lock. `change` is synchronous,
	 * may be called again, and gives the whole new content, or null for none.
	 * Natural keys may change, and references: the lists that follow them do too.
	 */
	modify(
		id: Id,
		change: (data: JsonObject) => JsonObject | null,
	): Promise<void>;

	/** Delete an object: `active` becomes false, and the lists that follow its references lose it. Repeating it is no error. */
	remove(id: Id): Promise<void>;

	/** Make an edge present or removed, and its inverse with it. Repeating it changes nothing. */
	setEdge(mapping: Mapping, from: Id, to: Id, present: boolean): Promise<void>;

	/**
	 * Make some edges of a list present and remove others, in one transaction. Of
	 * the new edges the last one given is the newest.
	 */
	setEdges(
		mapping: Mapping,
		from: Id,
		changes: {
			readonly add: readonly LinkTarget[];
			readonly remove: readonly Id[];
		},
	): Promise<void>;

	/**
	 * Move an object to a position on the list of `from`: before or after a
	 * neighbor, or to the top. Its reference changes if it was on another list. A
	 * neighbor that is not on the list is `NOT_FOUND`.
	 */
	move(move: {
		/** A mapping ordered by POSITION that follows a reference. */
		readonly mapping: Mapping;
		readonly object: Id;
		readonly from: Id;
		/** What else changes of the object in the same transaction, its other references too. May be called again. */
		readonly change?: (data: JsonObject) => JsonObject;
		readonly before?: Id;
		readonly after?: Id;
	}): Promise<void>;
}
