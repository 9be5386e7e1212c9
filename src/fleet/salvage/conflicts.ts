import type { Id } from "../../id/ids.ts";
import type { Edge } from "../../storage/rows.ts";
import type { JsonObject } from "../../util/json.ts";
import type { LookupValue } from "./lostRows.ts";

interface Sides<Row> {
	/** As it was before the first lost change; null: there was none. */
	readonly base: Row | null;
	/** As the old primary has it. */
	readonly lost: Row | null;
	/** As it was found. */
	readonly current: Row | null;
	/** Which of them stands now. */
	readonly kept: "lost" | "current";
	/** The last lost transaction that changed it, and when that was: ISO 8601, in UTC. */
	readonly gtid: string;
	readonly at: string;
}

/** What was changed on both sides, with both: one line of the file of conflicts. */
export type Conflict =
	| ({
			readonly kind: "object";
			readonly type: string;
			readonly id: Id;
	  } & Sides<JsonObject>)
	| ({
			readonly kind: "edge";
			readonly mapping: string;
			readonly from: Id;
			readonly to: Id;
	  } & Sides<Edge>)
	| ({
			readonly kind: "lookup";
			readonly name: string;
			readonly key: string;
	  } & Sides<LookupValue>);

/** What became of the lost changes of one kind. */
export interface Outcome {
	/** Rows that lost transactions changed. */
	readonly lost: number;
	/** Brought back; in a dry run, those that would be. */
	readonly back: number;
	/** As the old primary has them, or newer by what was written on that. */
	readonly there: number;
	readonly conflicts: readonly Conflict[];
}

/** What is to be done with one lost change, as things stand. */
export type Decision = "bring back" | "there" | "conflict";
