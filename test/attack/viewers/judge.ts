import { setTimeout as sleep } from "node:timers/promises";

/** What a server answers; null: it did not, or only that something is unavailable. */
export type Ask = () => Promise<string | null>;

export type Verdict =
	/** As the server that keeps nothing answers, at once or within the bound. */
	| { readonly kind: "equal"; readonly lagMs: number }
	/** Nothing was compared: one of the two gave no answer, or the run ended first. */
	| { readonly kind: "failed" | "undecided" }
	| {
			readonly kind: "wrong";
			readonly shown: string;
			readonly stored: string;
			readonly lagMs: number;
	  };

export interface JudgeOptions {
	/** Since `since` nothing that the question is about has changed: from when on each server has to show it. Milliseconds of `now`. */
	readonly dueBy: (since: number) => number;
	readonly now?: () => number;
	/** Between two tries, where what is shown may still lag. */
	readonly pause?: () => Promise<unknown>;
	/** Ends it. */
	readonly signal?: AbortSignal;
}

const PAUSE_MS = 50;

/**
 * Asks a server that keeps nothing, one that caches, and the first one again. The
 * answer between must be one of the two others. It may be another one for a
 * moment: where several things changed one after another, and while what was written
 * elsewhere is not due yet. So it is wrong if what is stored is still the same when it is due.
 */
export async function judge(
	stored: Ask,
	shown: Ask,
	{
		dueBy,
		now = () => performance.now(),
		pause = () => sleep(PAUSE_MS),
		signal,
	}: JudgeOptions,
): Promise<Verdict> {
	let before = await stored();
	const began = now();
	let since = began;
	for (;;) {
		const askedAt = now();
		const answer = await shown();
		const after = await stored();
		if (answer === null || before === null || after === null) {
			return { kind: "failed" };
		}
		const lagMs = Math.round(askedAt - began);
		if (answer === before || answer === after) return { kind: "equal", lagMs };
		if (before !== after) since = now();
		else if (askedAt > dueBy(since)) {
			return { kind: "wrong", shown: answer, stored: after, lagMs };
		}
		if (signal?.aborted) return { kind: "undecided" };
		before = after;
		await pause();
	}
}
