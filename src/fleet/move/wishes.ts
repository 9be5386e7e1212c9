import { z } from "zod";
import { CorkboardError } from "../../errors.ts";
import {
	changeText,
	type StoreChange,
	type TopologyStore,
} from "../../topology/store.ts";

/** What operators ask of a move that another process runs, at `wishes/ID`. It looks each second. */
const wishes = z.object({
	isPaused: z.boolean().default(false),
	/** Rows a second; null: no limit. */
	rate: z.number().positive().nullable().default(null),
	maxPauseMs: z.number().positive().default(1_000),
	maxLagMs: z.number().positive().default(200),
	/** Between the switch of a wave and the renaming of its former copy. */
	settleMs: z.number().nonnegative().default(30_000),
	/** `auto`, `ask` (it waits for `moves cut-over`), or hours of the day in UTC, `22:00-04:00`. */
	cutOver: z.string().default("auto"),
	/** Whether transactions that hold a fence up are ended. */
	killsBlockers: z.boolean().default(false),
	/** How many waves `moves cut-over` lets switch, in the end. */
	allowed: z.int().nonnegative().default(0),
	/** Its runner leaves it at the next safe point, to a command that waits for it. */
	isLeaving: z.boolean().default(false),
});

export type Wishes = z.infer<typeof wishes>;

export const DEFAULT_WISHES: Wishes = wishes.parse({});

const pathOf = (id: string) => `wishes/${id}`;

export async function readWishes(
	store: Pick<TopologyStore, "get">,
	id: string,
): Promise<Wishes> {
	const found = await store.get(pathOf(id));
	return found === null ? DEFAULT_WISHES : wishesIn(id, found.text);
}

function wishesIn(id: string, text: string): Wishes {
	const parsed = wishes.safeParse(JSON.parse(text));
	if (parsed.success) return parsed.data;
	throw new CorkboardError(
		"CONFLICT",
		`What was asked of ${id} is not what this version of corkboard knows: ${z.prettifyError(parsed.error)}`,
	);
}

/** Those that a move begins with, to be written with its record. */
export function firstWishes(id: string, given: Partial<Wishes>): StoreChange {
	const text = JSON.stringify({ ...DEFAULT_WISHES, ...given });
	return { path: pathOf(id), revision: null, text };
}

export async function wish(
	store: Pick<TopologyStore, "get" | "write">,
	id: string,
	change: (now: Wishes) => Partial<Wishes>,
): Promise<Wishes> {
	let next = DEFAULT_WISHES;
	await changeText(store, pathOf(id), (text) => {
		const now = text === null ? DEFAULT_WISHES : wishesIn(id, text);
		next = { ...now, ...change(now) };
		return JSON.stringify(next);
	});
	return next;
}

/** The change of the store that forgets them, to be written with the end of the operation. */
export async function forgottenWishes(
	store: Pick<TopologyStore, "get">,
	id: string,
) {
	const path = pathOf(id);
	const found = await store.get(path);
	return found === null ? [] : [{ path, revision: found.revision, text: null }];
}

const HOURS = /^([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)$/;

export function isCutOverWish(text: string): boolean {
	return text === "auto" || text === "ask" || HOURS.test(text);
}

/** Why a wave may not switch now, by what operators wish; null: it may. `switched`: how many have. */
export function forbidden(
	{ cutOver, allowed, isPaused }: Wishes,
	id: string,
	switched: number,
	now: Date,
): string | null {
	if (isPaused) return `it is paused: corkboard moves resume ${id}`;
	if (allowed > switched || cutOver === "auto") return null;
	if (cutOver === "ask")
		return `it is asked for: corkboard moves cut-over ${id}`;
	const [, ...parts] = HOURS.exec(cutOver) ?? [];
	const [fromHour = 0, fromMinute = 0, toHour = 0, toMinute = 0] =
		parts.map(Number);
	const minute = now.getUTCHours() * 60 + now.getUTCMinutes();
	const from = fromHour * 60 + fromMinute;
	const to = toHour * 60 + toMinute;
	const isWithin =
		from <= to ? minute >= from && minute < to : minute >= from || minute < to;
	return isWithin ? null : `the hours ${cutOver} UTC`;
}
