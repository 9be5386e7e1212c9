import { deadlineIn, withDeadline } from "../../util/deadline.ts";
import {
	type AdminResponse,
	type AskAdmin,
	LIVE_PATH,
	METRICS_PATH,
	plainText,
	READY_PATH,
} from "./adminServer.ts";

/** Milliseconds. */
export interface AdminResponseLimits {
	/** How long an answer of now is waited for if there is one of before. */
	readonly patienceMs: number;
	/** How long an answer is waited for if there is none. */
	readonly deadlineMs: number;
	/** By path. */
	readonly kept: Readonly<Record<string, KeptLimits>>;
}

interface KeptLimits {
	/** An older answer is not given. */
	readonly oldestMs: number;
	/** How often it is asked for besides; null: once, at the start. */
	readonly everyMs: number | null;
}

export const ADMIN_RESPONSE_LIMITS: AdminResponseLimits = {
	// The rest of a tenth of a second is for a thread that gets no core at once.
	patienceMs: 40,
	// Less than the five seconds that Prometheus and our own commands wait.
	deadlineMs: 3_000,
	kept: {
		// A thread that has been paused for ten seconds serves nobody any more.
		[LIVE_PATH]: { oldestMs: 10_000, everyMs: 1_000 },
		// It reads a row of each host. One that leaves says so for five seconds.
		[READY_PATH]: { oldestMs: 10_000, everyMs: 2_000 },
		// Twice what scrapes are usually apart. Some of them are of the time since they
		// were last asked for, so that nobody else may ask.
		[METRICS_PATH]: { oldestMs: 120_000, everyMs: null },
	},
};

/**
 * Asks another thread, and answers with its last answer if that thread is
 * late. The late one is the last of the next time. Never rejects, as `ask` does
 * not.
 */
export function keepAdminResponses(
	ask: AskAdmin,
	{ patienceMs, deadlineMs, kept }: AdminResponseLimits = ADMIN_RESPONSE_LIMITS,
): AskAdmin {
	const keepers = new Map(
		Object.entries(kept).map(([path, limits]) => [
			path,
			keepAdminResponse(() => ask(path), { ...limits, deadlineMs }),
		]),
	);
	return async (path, isFresh = false) => {
		const keeper = keepers.get(path);
		const asked = keeper?.ask() ?? ask(path);
		const early =
			keeper &&
			!isFresh &&
			((await within(patienceMs, asked)) ?? keeper.last());
		return (
			(early || (await within(deadlineMs, asked))) ??
			plainText(
				503,
				`The process is busy, or is paused: no answer in ${deadlineMs} ms.`,
			)
		);
	};
}

function keepAdminResponse(
	askNow: () => Promise<AdminResponse>,
	{
		oldestMs,
		everyMs,
		deadlineMs,
	}: KeptLimits & Pick<AdminResponseLimits, "deadlineMs">,
) {
	let last: { readonly answer: AdminResponse; readonly at: number } | null =
		null;
	let asked: Promise<AdminResponse> | null = null;
	let askedAt = 0;
	/** One question at a time: a thread that is late has enough to do. One whose answer nobody waits for any more may be lost. */
	const ask = (): Promise<AdminResponse> => {
		const now = performance.now();
		if (asked !== null && now - askedAt < deadlineMs) return asked;
		const asking = askNow().then((answer) => {
			last = { answer, at: performance.now() };
			if (asked === asking) asked = null;
			return answer;
		});
		askedAt = now;
		asked = asking;
		return asking;
	};
	void ask();
	if (everyMs !== null) setInterval(ask, everyMs).unref();
	return {
		ask,
		last(): AdminResponse | null {
			if (last === null) return null;
			const ageMs = performance.now() - last.at;
			if (ageMs > oldestMs) return null;
			return { ...last.answer, age: Math.floor(ageMs / 1_000) };
		},
	};
}

/** Null if it does not come in time. */
function within(
	ms: number,
	asked: Promise<AdminResponse>,
): Promise<AdminResponse | null> {
	return withDeadline(asked, deadlineIn(ms)).catch(() => null);
}
