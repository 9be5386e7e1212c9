import { z } from "zod";
import { CorkboardError } from "../../errors.ts";
import { WAVE_STATES } from "./moveTable.ts";

/** The lists of a map whose ranges move. */
export const MOVED_LISTS = ["shards", "lookups", "feeds", "pools"] as const;

/** Which of the two pairs a wave's databases are served by. */
export type Side = "from" | "to";

const host = z.object({
	/** `host:port` */
	name: z.string(),
	/** As the map has it, or will. */
	url: z.string(),
	/** Null: it has no replica. */
	replica: z.string().nullable(),
});

const wave = z.object({
	/** First and last number. */
	range: z.tuple([z.int().nonnegative(), z.int().nonnegative()]),
	/** See `ABOUT_WAVE_STATES`. */
	state: z.enum(WAVE_STATES),
	/** Who serves it. */
	at: z.enum(["from", "to"]),
	/** How often it has switched sides. */
	switches: z.int().nonnegative(),
	/** What the side that served it before had executed under the fence; null: it never switched. */
	left: z.string().nullable(),
	/** What the side that serves it had executed then: where the way back begins. */
	back: z.string().nullable(),
	/** The version that the last switch has published. */
	version: z.int().nullable(),
	/** From the fence to the publication, in milliseconds, of each switch. */
	pauses: z.array(z.number()),
	/** Tries of the next cut-over that were given up. */
	tries: z.int().nonnegative(),
	/** Where it goes by itself, for good, whatever the others do. */
	alone: z.enum(["from", "to"]).optional(),
	/** Transactions of a process that was paused, which came to the former copy after the switch. */
	late: z.array(z.string()),
});

/** As the record of a move has them. */
export const facts = z.object({
	list: z.enum(MOVED_LISTS),
	from: host,
	to: host,
	waves: z.array(wave),
	/** Where the waves are to be. */
	aim: z.enum(["from", "to"]),
	/** What it is about to do. */
	goal: z.enum(["move", "reverse", "complete", "cancel"]),
	/** Whether a way stays open after `reverse`. */
	keepsWay: z.boolean(),
	/** Whether `complete` and what follows `reverse` drop copies without a rehearsal of the way back. */
	skipsRehearsal: z.boolean(),
});

/** What of a move cannot be looked up: stored in the record of its operation. */
export type MoveFacts = z.infer<typeof facts>;
export type Wave = MoveFacts["waves"][number];
export type MoveHost = MoveFacts["from"];

export const otherSide = (side: Side): Side => (side === "to" ? "from" : "to");

/** What a record says. Throws INTERNAL if another version has written it otherwise. */
export function moveFactsIn(record: {
	readonly id: string;
	readonly move?: unknown;
}): MoveFacts {
	const parsed = facts.safeParse(record.move);
	if (parsed.success) return parsed.data;
	throw new CorkboardError(
		"CONFLICT",
		`The record of ${record.id} is not that of a move which this version knows: ${z.prettifyError(parsed.error)}`,
	);
}

/** The facts with another state of one wave. */
export function withWave(
	all: MoveFacts,
	index: number,
	patch: Partial<Wave>,
): MoveFacts {
	return {
		...all,
		waves: all.waves.map((each, at) =>
			at === index ? { ...each, ...patch } : each,
		),
	};
}
