import type { Flavor } from "../queries.ts";
import type { Way } from "../variants.ts";
import type { Kind } from "./documents.ts";
import type { Habits } from "./habits.ts";

/** Somebody who uses an app, by the ids of one database. */
export interface Person {
	readonly user: string;
	/** Null for somebody who is not signed in. */
	readonly token: string | null;
	/** Their own ones. */
	readonly boards: readonly string[];
	/** Whom they follow at the beginning. */
	readonly followees: readonly string[];
}

/** Everybody who asks the servers of one database. */
export interface CrowdOf {
	readonly name: string;
	readonly people: readonly Person[];
	/** All users, those with most followers first. */
	readonly popular: readonly string[];
	/** How many sessions are under way. */
	readonly sessions: number;
	readonly habits: Habits;
	readonly seed: number;
}

/** A load of sessions on one server. */
export interface SessionLoad {
	/** Whose sessions go on. */
	readonly crowd: string;
	readonly port: number;
	readonly flavor: Flavor;
	readonly way: Way;
	/** Added to a text for Corkboard, it makes a document that is in no file. */
	readonly suffix: string;
	readonly connections: number;
	readonly patienceMs: number;
	readonly seconds: number;
	/** Requests a second of an open loop; null: a closed one. */
	readonly rate: number | null;
	readonly seed: number;
}

export type ToSender =
	| { readonly crowd: CrowdOf }
	| { readonly load: SessionLoad };

/** What was looked at in answers, and how often it was wrong. */
export const CHECKS = {
	repeats: "a repeat in a scroll",
	ownLike: "an own like not shown",
	likeCount: "a like count without it",
	ownFollow: "an own follow not shown",
	followerCount: "a follower count without it",
	ownPins: "own new pins not on top",
} as const;
export type CheckName = keyof typeof CHECKS;
export type Checked = Readonly<
	Record<CheckName, { readonly of: number; readonly wrong: number }>
>;

export interface SessionResult {
	/** By request, in columns. */
	readonly kind: Uint8Array;
	/** Index in `OUTCOMES`. */
	readonly outcome: Uint8Array;
	/** Milliseconds. */
	readonly ms: Float64Array;
	/** Those of people who are signed in. */
	readonly signedIn: number;
	/** The size of bodies. */
	readonly bytes: number;
	/** Until the last response. */
	readonly seconds: number;
	readonly checked: Checked;
	readonly firstError: string | null;
	/** What the first wrong answer was. */
	readonly firstWrong: string | null;
	/** 99 of 100 requests of an open loop were sent so late at most. Milliseconds. */
	readonly lateMs: number;
	readonly starved: number;
	/** What the people's own process took. Milliseconds. */
	readonly cpuMs: number;
}

export type { Kind };
