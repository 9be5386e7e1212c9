import type { WorkerLimits } from "./limits.ts";

type Limits = Pick<
	WorkerLimits,
	"firstIdleMs" | "mostIdleMs" | "hintedIdleMs" | "followingMs" | "missedMs"
>;

/** What a claim loop remembers between its actions. Times are those of one clock, in milliseconds. */
export interface Pace {
	/** The pause after the next probe that finds nothing. */
	readonly idleMs: number;
	readonly probedAt: number;
	/** The next probe, unless something makes it worth while before. */
	readonly probeAt: number;
	/** The last probe saw jobs that could not be claimed: of a queue with limits, or others were at it. */
	readonly isBlocked: boolean;
}

/** What a claim loop sees when it decides. */
export interface WorkerState {
	readonly now: number;
	/** Whether the worker has room for jobs. */
	readonly wants: boolean;
	/** A job may be due somewhere. */
	readonly isHinted: boolean;
	/** Places are known where a job may be due. */
	readonly hasHintedPlaces: boolean;
	/** Hints of other processes arrive. */
	readonly isConnected: boolean;
}

export type ClaimAction =
	/** The worker has no room: waits until something wakes it. */
	| { readonly kind: "rest" }
	| { readonly kind: "wait"; readonly ms: number }
	| { readonly kind: "claimHinted" }
	| {
			readonly kind: "probe";
			/** Nothing was found for a while: what is found now is published for the others. */
			readonly isIdle: boolean;
			/** Only if no other process probes for all. */
			readonly unlessFollowing: boolean;
	  };

export function startingPace({ firstIdleMs }: Limits): Pace {
	return {
		idleMs: firstIdleMs,
		probedAt: Number.NEGATIVE_INFINITY,
		probeAt: Number.NEGATIVE_INFINITY,
		isBlocked: false,
	};
}

export function nextAction(
	{ idleMs, probedAt, probeAt }: Pace,
	{ now, wants, isHinted, hasHintedPlaces, isConnected }: WorkerState,
	{ mostIdleMs, followingMs }: Limits,
): ClaimAction {
	if (!wants) return { kind: "rest" };
	if (probeAt > now && !isHinted) {
		return hasHintedPlaces
			? { kind: "claimHinted" }
			: { kind: "wait", ms: probeAt - now };
	}
	const isIdle = idleMs >= mostIdleMs && !isHinted && !hasHintedPlaces;
	// One of the idle processes probes for all; the others wait for its hints.
	const unlessFollowing = isIdle && isConnected && now - probedAt < followingMs;
	return { kind: "probe", isIdle, unlessFollowing };
}

export function afterWait(pace: Pace, wasWoken: boolean): Pace {
	// A job has ended, so a limit may let another one start.
	return wasWoken && pace.isBlocked ? { ...pace, ...AT_ONCE } : pace;
}

export function afterHinted(
	pace: Pace,
	{
		claimed,
		isDrained,
	}: { readonly claimed: number; readonly isDrained: boolean },
	now: number,
	{ firstIdleMs, missedMs }: Limits,
): Pace {
	return {
		...pace,
		idleMs: claimed > 0 ? firstIdleMs : pace.idleMs,
		// What a claim passed over, since another had locked it, is looked for soon.
		probeAt: isDrained
			? Math.min(pace.probeAt, now + missedMs)
			: AT_ONCE.probeAt,
	};
}

/** Another process probes for all. */
export function afterFollowing(
	pace: Pace,
	now: number,
	{ hintedIdleMs }: Limits,
): Pace {
	return { ...pace, probeAt: now + hintedIdleMs };
}

export function afterProbe(
	pace: Pace,
	found: {
		readonly probedAt: number;
		readonly claimed: number;
		/** Nothing was left where jobs were due. */
		readonly isDrained: boolean;
		/** Places where jobs were due. */
		readonly due: number;
		/** Until a job is due; null: none is known. */
		readonly nextMs: number | null;
		readonly isConnected: boolean;
	},
	now: number,
	{ firstIdleMs, mostIdleMs, hintedIdleMs, missedMs }: Limits,
): Pace {
	const { probedAt, claimed, isDrained, due, nextMs, isConnected } = found;
	if (claimed > 0) {
		// What comes now has hints: a probe for each few jobs costs as much as they do.
		const probeAt =
			isDrained && isConnected
				? now + Math.min(missedMs, nextMs ?? missedMs)
				: AT_ONCE.probeAt;
		return { ...pace, probedAt, idleMs: firstIdleMs, probeAt };
	}
	const { idleMs } = pace;
	const longest = isConnected ? hintedIdleMs : mostIdleMs;
	const pauseMs = idleMs >= mostIdleMs ? longest : idleMs;
	return {
		probedAt,
		idleMs: Math.min(mostIdleMs, idleMs * 2),
		probeAt: now + Math.min(pauseMs, nextMs ?? pauseMs),
		isBlocked: due > 0,
	};
}

const AT_ONCE = { probeAt: Number.NEGATIVE_INFINITY };
