import { z } from "zod";
import { type Id, parseId } from "../id/ids.ts";

/** Items for the pools of followers. */
export const ITEM_QUEUE = "feedItem";
/** What concerns the pool of one user. */
export const USER_QUEUE = "feedUser";
/** A host that is down for hours makes no job fail for good. */
export const JOB_ATTEMPTS = 30;

const id = z.custom<Id>((value) => {
	if (typeof value !== "string") return false;
	const parsed = parseId(value);
	return parsed !== "malformed" && parsed !== "reserved";
}, "expected an id");

export const itemBody = z.object({
	item: id,
	/** Where to continue: which producer, and the last follower that was pushed to. */
	at: z
		.object({
			producer: z.int().nonnegative(),
			after: z.object({ sequence: z.int().nonnegative(), to: id }).optional(),
		})
		.optional(),
});

export const userBody = z.discriminatedUnion("do", [
	/** The newest items of somebody or something that the user has begun to follow. */
	z.object({ do: z.literal("follow"), user: id, via: id }),
	/** Its items leave the pool and the feed. `isAgain`: for what was under way at the first time. */
	z.object({
		do: z.literal("unfollow"),
		user: id,
		via: id,
		isAgain: z.boolean().optional(),
	}),
	/** Items that are saved next to one that the user saved or liked. */
	z.object({ do: z.literal("related"), user: id, item: id }),
	/** What a look at the feed has left undone. */
	z.object({ do: z.literal("take"), user: id }),
	/** Fills the pool from what the user follows. */
	z.object({ do: z.literal("rebuild"), user: id }),
]);

export type UserBody = z.infer<typeof userBody>;
