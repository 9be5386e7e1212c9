import type { Id } from "../../id/ids.ts";
import type { JsonObject } from "../../util/json.ts";

/** What one transaction did to one object or to the lists of one. One line of the stream. */
export interface Change {
	readonly type: string;
	readonly id: Id;
	/** `edges`: the object itself did not change. `erase`: it was deleted before, and its content is gone now: delete it from every copy. */
	readonly op: "create" | "update" | "delete" | "erase" | "edges";
	/** The selected fields, by the names of the SDL; null: there was no such object for anybody, or there is none any more. Absent with `erase` and `edges`. */
	readonly before?: JsonObject | null;
	readonly after?: JsonObject | null;
	/** What changed in its lists, in order. Absent if nothing did. */
	readonly edges?: readonly EdgeChange[];
	readonly shard: number;
	/** When the transaction was committed, in whole seconds. */
	readonly at: string;
	/** The transaction. */
	readonly position: string;
}

export interface EdgeChange {
	/** The field that lists it. */
	readonly field: string;
	/** `move`: it has another place in its list. */
	readonly op: "add" | "remove" | "move";
	readonly to: Id;
	/** Its place: the list is in this order, or in the reverse. */
	readonly sequence: number;
}
