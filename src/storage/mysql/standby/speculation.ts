import { LateCalls } from "./lateCalls.ts";
import { Latencies } from "./latencies.ts";

/** What became of a call to one host. */
export type Outcome<T> =
	| { readonly kind: "answer"; readonly value: T }
	/** The host did not answer in time, or could not be reached. */
	| { readonly kind: "silent"; readonly thrown: unknown }
	/** The host answered, and the answer may not be used, or is an error. */
	| { readonly kind: "refused"; readonly thrown: unknown }
	/** No connection of this process came free: that the load is high is known, and nothing of the host. */
	| { readonly kind: "notSent"; readonly thrown: unknown };

/**
 * Starts a call to one host. `sent` is called when it goes out: before that it waits
 * for a connection of this process, which says nothing of the host. `settle` is
 * called once, unless the returned function, which cancels the call, is called before.
 */
export type Attempt<T> = (
	settle: (outcome: Outcome<T>) => void,
	sent: () => void,
) => () => void;

/** A read that either host of a pair can answer. */
interface SpeculativeRead<T> {
	readonly primary: Attempt<T>;
	/** Refuses where its answer is too old, or older than what the reader has seen. */
	readonly standby: Attempt<T>;
	readonly settle: (outcome: Outcome<T>, served: Served) => void;
}

export interface Served {
	readonly by: "primary" | "standby";
	/** When the standby was asked, after the start of the read. Milliseconds. */
	readonly askedAfterMs: number;
}

/**
 * - `hedge`: the standby was asked because the primary was late. `cancelled`: the slower of two was.
 * - `standbyAnswer`: its answer was used. `standbyRefused`: it was asked, and could not be used.
 * - `mirror`: the standby was asked to keep it warm. `probe`: the primary, to see whether it is well again.
 * - `overBudget`: the primary was late, and the standby was not asked for want of a token.
 */
export type SpeculationEvent =
	| "hedge"
	| "cancelled"
	| "standbyAnswer"
	| "standbyRefused"
	| "mirror"
	| "probe"
	| "overBudget"
	| "switchToStandby"
	| "switchToPrimary";

interface SpeculationOptions {
	/** Milliseconds; only goes forward. */
	readonly now: () => number;
	/** From 0 up to 1. */
	readonly random: () => number;
	/**
	 * Calls `run` once after so many milliseconds, and after everything that had
	 * arrived by then was read: a process that was paused does not take its own
	 * delay for a host's. Returns a function that cancels it.
	 */
	readonly after: (ms: number, run: () => void) => () => void;
	/** Whether an answer of the standby is likely to be recent enough. */
	readonly isFit: () => boolean;
	/** A small read of the primary, for when there are too few calls to see whether it is well again. */
	readonly probe: Attempt<unknown>;
	/** The deadline of a call. Milliseconds. */
	readonly deadlineMs: number;
	readonly onEvent?: (event: SpeculationEvent, reason?: string) => void;
}

/** The part of the calls that may take longer than the delay of a hedge, and how it is measured. */
const QUANTILE = 0.999;
const WINDOW_MS = 5 * 60_000;
const ENOUGH_CALLS = 10_000;
const DELAY_BEFORE_MS = 50;
/** A quiet process has too few calls for minutes. From so many on nearly all of the next ones keep its slowest one with some room. */
const SOME_CALLS = 500;
const ROOM = 1.5;
const LEAST_DELAY_MS = 10;
const DELAY_EVERY_MS = 1_000;

/** Hedges allowed: one for each hundred calls, and a store of so many. */
const TOKENS_A_CALL = 0.01;
const MOST_TOKENS = 100;

/** A call that has not waited for a connection. */
const SENT_AT_ONCE_MS = 2;

/** The part of the calls that goes to the standby too, to keep it warm; and while it is not known whether it is late as well. */
const MIRRORED = 0.005;
const MIRRORED_IN_DOUBT = 0.05;

/** Silence: so many times the delay, but not less than that. */
const SILENCE_DELAYS = 5;
const LEAST_SILENCE_MS = 100;
const SILENT_CALLS = 10;
/** Calls in a row without an answer. */
const FAILED_IN_A_ROW = 5;

/** Back to the primary: so many probes in a row in time, not before so long. */
const GOOD_PROBES = 20;
const PROBED = 0.01;
const PROBE_EVERY_MS = 500;
const MOST_PROBES = 4;
const FIRST_HOLD_MS = 10_000;
const LONGEST_HOLD_MS = 5 * 60_000;
const HOLD_GROWS_WITHIN_MS = 10 * 60_000;
/** After the standby failed too. */
const STAY_MS = 1_000;
/** After the standby was late, too, once it had the calls: the load is too high for either. Twice as long each time it happens again. */
const FIRST_LATE_STAY_MS = 60_000;
const LONGEST_LATE_STAY_MS = 10 * 60_000;

/**
 * Decides for each read of a pair of hosts which of them is asked, and when. It
 * does no I/O: calls, clock and chance are given to it.
 *
 * *calm*: the primary is asked. If it has not answered after a delay that all but
 * one in a thousand of its answers keep, and a token is left, the standby is asked
 * too, and the first answer is used. Tokens bound how much hedges add to the load,
 * so they alone would turn an outage into errors: hence the second state.
 *
 * *switched*: when the primary is silent, or half of its answers are late while
 * those of the standby are not, the standby is asked, and the primary by some
 * probes only. That moves load and doubles none. If both are late, the load is too
 * high: there is neither hedge nor switch. docs/consistency.md, "9. Standby reads".
 */
export class Speculation {
	readonly #options: SpeculationOptions;
	readonly #latencies = new Latencies(WINDOW_MS);
	#lateCalls = new LateCalls();
	#isSwitched = false;
	#delayMs = DELAY_BEFORE_MS;
	/** Whether it was measured with enough calls once. */
	#isMeasured = false;
	#delayAt: number;
	#tokens = MOST_TOKENS;
	/** Overdue, and not answered by anyone yet. */
	readonly #late = new Set<LateRead>();
	/** Since when the primary leaves calls without an answer; null while it does not. */
	#silentSince: number | null = null;
	/** Calls to the primary in a row that failed, and that the standby answered first. */
	#failed = 0;
	/** Whether the last of them failed at once: nobody waited for it. */
	#isRefusing = false;
	#lost = 0;
	#stopWatch: (() => void) | null = null;
	#stopProbes: (() => void) | null = null;
	#standbyFailed = 0;
	#switchedAt = Number.NEGATIVE_INFINITY;
	#holdMs = FIRST_HOLD_MS;
	#staysUntil = Number.NEGATIVE_INFINITY;
	#switchedFor = "";
	/** No switch for lateness before. */
	#lateStaysUntil = Number.NEGATIVE_INFINITY;
	#lateStayMs = FIRST_LATE_STAY_MS;
	#goodProbes = 0;
	#probesRunning = 0;
	#probedAt = Number.NEGATIVE_INFINITY;
	#isClosed = false;

	constructor(options: SpeculationOptions) {
		this.#options = options;
		this.#delayAt = options.now();
	}

	get isSwitched(): boolean {
		return this.#isSwitched;
	}

	/** After which the standby is asked. Milliseconds. */
	get delayMs(): number {
		return this.#delayMs;
	}

	/** Starts a read. The returned function gives it up. */
	read<T>(read: SpeculativeRead<T>): () => void {
		const now = this.#options.now();
		this.#tokens = Math.min(MOST_TOKENS, this.#tokens + TOKENS_A_CALL);
		const one = new Read(read, now);
		if (this.#isSwitched && !this.#options.isFit()) {
			this.#switchBack("standbyUnfit");
		}
		if (this.#isSwitched) {
			this.#askStandby(one);
			this.#wait(one, this.#silenceMs(), () => {
				if (this.#take()) this.#askPrimary(one);
			});
			this.#maybeProbe(read.primary, now);
		} else {
			this.#askPrimary(one);
			this.#wait(one, this.#delay(now), () => this.#isLate(one));
			this.#maybeMirror(read.standby, now);
		}
		return () => {
			if (one.isDone) return;
			const waitedMs = this.#options.now() - one.startedAt;
			// A caller that gave up did not learn whether the host is there.
			if (one.cancelPrimary !== null && waitedMs >= this.#silenceMs()) {
				this.#lost += 1;
				this.#considerSwitch();
			}
			this.#end(one);
		};
	}

	[Symbol.dispose](): void {
		this.#isClosed = true;
		this.#stopWatch?.();
		this.#stopProbes?.();
	}

	#delay(now: number): number {
		if (now - this.#delayAt < DELAY_EVERY_MS) return this.#delayMs;
		this.#delayAt = now;
		const most = this.#options.deadlineMs / 3;
		const exact = this.#latencies.quantile(QUANTILE, ENOUGH_CALLS, now);
		if (exact !== null) this.#isMeasured = true;
		// If there are too few calls now, that of before is the better guess.
		const measured =
			exact ?? (this.#isMeasured ? null : this.#slowestWithRoom(now));
		if (measured === null) return this.#delayMs;
		const next = Math.min(Math.max(measured, LEAST_DELAY_MS), most);
		const ratio = next / this.#delayMs;
		// What was late by the former delay says nothing by this one.
		if (ratio > 1.2 || ratio < 1 / 1.2) this.#lateCalls = new LateCalls();
		this.#delayMs = next;
		return next;
	}

	/** At most the first guess; null with too few calls even for that. */
	#slowestWithRoom(now: number): number | null {
		const slowest = this.#latencies.quantile(1, SOME_CALLS, now);
		return slowest === null ? null : Math.min(slowest * ROOM, DELAY_BEFORE_MS);
	}

	#silenceMs(): number {
		return Math.max(SILENCE_DELAYS * this.#delayMs, LEAST_SILENCE_MS);
	}

	#wait<T>(one: Read<T>, ms: number, run: () => void): void {
		// It may have been answered at once.
		if (one.isDone) return;
		one.cancelTimer = this.#options.after(ms, () => {
			one.cancelTimer = null;
			if (!one.isDone) run();
		});
	}

	#askPrimary<T>(one: Read<T>): void {
		if (one.isDone || one.askedPrimary) return;
		one.askedPrimary = true;
		const askedAt = this.#options.now();
		this.#silentSince ??= askedAt;
		const cancel = one.read.primary(
			(outcome) => {
				one.cancelPrimary = null;
				this.#primarySettled(one, outcome, askedAt);
			},
			() => {
				one.primarySentAt ??= this.#options.now();
				if (one.isOverdue) this.#countLate(one);
			},
		);
		if (!one.primarySettled && !one.isDone) one.cancelPrimary = cancel;
	}

	#primarySettled<T>(one: Read<T>, outcome: Outcome<T>, askedAt: number): void {
		one.primarySettled = true;
		const now = this.#options.now();
		if (outcome.kind === "silent") {
			this.#failed += 1;
			this.#isRefusing = now - askedAt < this.#delayMs;
			this.#goodProbes = 0;
			if (!one.isCountedLate) this.#lateCalls.primary(true, now);
			one.isCountedLate = true;
			if (!this.#isSwitched) this.#considerSwitch();
			this.#afterPrimary(one, outcome);
			return;
		}
		if (outcome.kind === "notSent") {
			this.#afterPrimary(one, outcome);
			return;
		}
		const ms = now - askedAt;
		const isInTime = ms <= this.#delayMs;
		this.#primaryAnswered();
		if (this.#isSwitched) this.#probed(isInTime);
		else {
			this.#latencies.add(ms, now);
			if (!one.isCountedLate) this.#lateCalls.primary(false, now);
		}
		this.#settle(one, outcome, "primary");
	}

	/** The primary has no answer for it: the standby may. */
	#afterPrimary<T>(one: Read<T>, outcome: Outcome<T>): void {
		if (one.isDone || (one.askedStandby && !one.standbySettled)) return;
		if (!one.askedStandby && this.#mayHedge(one)) this.#askStandby(one);
		else this.#settle(one, outcome, "primary");
	}

	#primaryAnswered(): void {
		this.#silentSince = null;
		this.#failed = 0;
		this.#lost = 0;
	}

	#isLate<T>(one: Read<T>): void {
		const now = this.#options.now();
		if (!one.primarySettled) {
			one.askStandby = () => this.#askStandby(one);
			this.#late.add(one);
			this.#silentSince ??= now;
			this.#watch();
			one.isOverdue = true;
			this.#countLate(one);
		}
		if (this.#mayHedge(one)) this.#askStandby(one);
	}

	/** Counts a read that waits for the primary as late there, once its call has been out for so long. */
	#countLate(one: LateRead): void {
		if (one.isDone || one.primarySettled || one.isCountedLate) return;
		const { now: clock, after } = this.#options;
		const now = clock();
		if (one.primarySentAt === null) return;
		const leftMs = one.primarySentAt + this.#delayMs - now;
		if (leftMs > SENT_AT_ONCE_MS) {
			one.cancelTimer = after(leftMs, () => {
				one.cancelTimer = null;
				this.#countLate(one);
			});
			return;
		}
		one.isCountedLate = true;
		this.#lateCalls.primary(true, now);
		if (!this.#isSwitched && this.#lateCalls.lateHosts(now) === "primary") {
			this.#switch("late");
		}
	}

	/** Whether the standby may be asked besides. Takes a token, but while switched: that began before. */
	#mayHedge(one: LateRead): boolean {
		if (one.isDone || one.askedStandby || !this.#options.isFit()) return false;
		if (this.#isSwitched) return true;
		if (this.#lateCalls.lateHosts(this.#options.now()) === "both") return false;
		return this.#take();
	}

	#take(): boolean {
		if (this.#tokens < 1) {
			this.#report("overBudget");
			return false;
		}
		this.#tokens -= 1;
		this.#report("hedge");
		return true;
	}

	#askStandby<T>(one: Read<T>): void {
		if (one.isDone || one.askedStandby) return;
		one.askedStandby = true;
		one.askedStandbyAt = this.#options.now();
		const measured = this.#measureStandby();
		const cancel = one.read.standby((outcome) => {
			one.cancelStandby = null;
			one.standbySettled = true;
			measured.ended(outcome);
			this.#standbyEnded(outcome);
			if (one.isDone) return;
			if (outcome.kind === "answer") {
				this.#report("standbyAnswer");
				this.#settle(one, outcome, "standby");
			} else if (!one.askedPrimary) this.#askPrimary(one);
			else if (one.primarySettled) this.#settle(one, outcome, "standby");
		}, measured.sent);
		if (!one.standbySettled && !one.isDone) {
			one.cancelStandby = () => {
				measured.ended(null);
				cancel();
			};
		}
	}

	/**
	 * Counts a call to the standby as in time or late, once that is known: a late
	 * one must not count later than those in time. At its end, null: cancelled.
	 */
	#measureStandby(): {
		readonly sent: () => void;
		readonly ended: (outcome: Outcome<unknown> | null) => void;
	} {
		let isCounted = false;
		let cancelTimer: (() => void) | null = null;
		const count = (isLate: boolean) => {
			if (isCounted) return;
			isCounted = true;
			this.#lateCalls.standby(isLate, this.#options.now());
			if (isLate) this.#considerStay();
		};
		return {
			sent: () => {
				if (isCounted) return;
				cancelTimer ??= this.#options.after(this.#delayMs, () => count(true));
			},
			ended: (outcome) => {
				cancelTimer?.();
				if (outcome !== null && outcome.kind !== "notSent") {
					count(outcome.kind === "silent");
				}
				isCounted = true;
			},
		};
	}

	/** Whether the switch has only moved a load that neither host carries. */
	#considerStay(): void {
		if (!this.#isSwitched || this.#switchedFor !== "late") return;
		if (this.#lateCalls.isStandbyLate(this.#options.now())) {
			this.#switchBack("standbyLate");
		}
	}

	#standbyEnded(outcome: Outcome<unknown>): void {
		if (outcome.kind !== "answer") this.#report("standbyRefused");
		if (outcome.kind === "notSent") return;
		if (outcome.kind !== "silent") {
			this.#standbyFailed = 0;
			return;
		}
		this.#standbyFailed += 1;
		if (this.#isSwitched && this.#standbyFailed >= FAILED_IN_A_ROW) {
			this.#staysUntil = this.#options.now() + STAY_MS;
			this.#switchBack("standbySilent");
		}
	}

	#settle<T>(one: Read<T>, outcome: Outcome<T>, by: Served["by"]): void {
		if (one.isDone) return;
		const isBoth = one.askedPrimary && one.askedStandby;
		if (by === "standby" && one.cancelPrimary !== null && one.isCountedLate) {
			// How long it would have taken is not known: at least so long.
			const now = this.#options.now();
			if (!this.#isSwitched) this.#latencies.add(now - one.startedAt, now);
			this.#lost += 1;
			this.#considerSwitch();
		}
		if (isBoth && (one.cancelPrimary !== null || one.cancelStandby !== null)) {
			this.#report("cancelled");
		}
		this.#end(one);
		one.read.settle(outcome, {
			by,
			askedAfterMs: Math.max(0, one.askedStandbyAt - one.startedAt),
		});
	}

	#end(one: LateRead): void {
		one.isDone = true;
		this.#late.delete(one);
		one.cancelTimer?.();
		one.cancelPrimary?.();
		one.cancelStandby?.();
		one.cancelTimer = one.cancelPrimary = one.cancelStandby = null;
	}

	/** While something is late: whether the primary has fallen silent. */
	#watch(): void {
		if (this.#stopWatch !== null || this.#isClosed) return;
		const everyMs = Math.max(this.#delayMs, 25);
		const next = () => {
			this.#stopWatch = this.#options.after(everyMs, () => {
				this.#stopWatch = null;
				if (this.#late.size === 0) return;
				if (!this.#isSwitched) this.#considerSwitch();
				if (!this.#isClosed) next();
			});
		};
		next();
	}

	#considerSwitch(): void {
		if (this.#isSwitched) return;
		if (this.#failed >= FAILED_IN_A_ROW && this.#isRefusing) {
			this.#switch("refused");
			return;
		}
		const now = this.#options.now();
		// A host that answers some calls is there, whatever became of the others.
		const silenceMs = this.#silenceMs();
		if (this.#silentSince === null || now - this.#silentSince < silenceMs)
			return;
		if (this.#failed + this.#lost >= FAILED_IN_A_ROW) {
			this.#switch("unanswered");
			return;
		}
		let waiting = 0;
		for (const { startedAt, primarySettled } of this.#late) {
			if (!primarySettled && now - startedAt >= SILENCE_DELAYS * this.#delayMs)
				waiting += 1;
		}
		if (waiting >= SILENT_CALLS) this.#switch("silent");
	}

	#switch(reason: string): void {
		const { isFit, now: clock } = this.#options;
		const now = clock();
		if (this.#isSwitched || this.#isClosed || !isFit()) return;
		if (now < this.#staysUntil) return;
		if (reason === "late" && now < this.#lateStaysUntil) return;
		// It has not answered the hedges either, or is as late: the load is too high.
		if (this.#standbyFailed >= FAILED_IN_A_ROW) return;
		if (this.#lateCalls.lateHosts(now) === "both") return;
		this.#holdMs =
			now - this.#switchedAt < HOLD_GROWS_WITHIN_MS
				? Math.min(this.#holdMs * 2, LONGEST_HOLD_MS)
				: FIRST_HOLD_MS;
		this.#isSwitched = true;
		this.#switchedFor = reason;
		this.#switchedAt = now;
		this.#goodProbes = 0;
		this.#standbyFailed = 0;
		this.#probedAt = now;
		this.#report("switchToStandby", reason);
		this.#probeRegularly();
		for (const one of [...this.#late]) one.askStandby();
	}

	#switchBack(reason: string): void {
		if (!this.#isSwitched) return;
		this.#isSwitched = false;
		if (this.#switchedFor === "late" && reason !== "primaryIsWell") {
			this.#stayThoughLate();
		}
		this.#stopProbes?.();
		this.#stopProbes = null;
		this.#primaryAnswered();
		this.#report("switchToPrimary", reason);
	}

	#stayThoughLate(): void {
		const now = this.#options.now();
		this.#lateStayMs =
			now - this.#lateStaysUntil < HOLD_GROWS_WITHIN_MS
				? Math.min(this.#lateStayMs * 2, LONGEST_LATE_STAY_MS)
				: FIRST_LATE_STAY_MS;
		this.#lateStaysUntil = now + this.#lateStayMs;
	}

	#maybeProbe(primary: Attempt<unknown>, now: number): void {
		const isDue =
			now - this.#probedAt >= PROBE_EVERY_MS || this.#options.random() < PROBED;
		if (isDue) this.#probe(primary, now);
	}

	#probeRegularly(): void {
		if (!this.#isSwitched || this.#isClosed) return;
		this.#stopProbes = this.#options.after(PROBE_EVERY_MS, () => {
			const now = this.#options.now();
			// There are no calls, or too few.
			if (now - this.#probedAt >= PROBE_EVERY_MS * 0.9) {
				this.#probe(this.#options.probe, now);
			}
			this.#probeRegularly();
		});
	}

	#probe(primary: Attempt<unknown>, now: number): void {
		if (this.#probesRunning >= MOST_PROBES) return;
		this.#probedAt = now;
		this.#report("probe");
		this.#probesRunning += 1;
		const switchedAt = this.#switchedAt;
		this.#dropped(primary, this.#delayMs, (outcome) => {
			this.#probesRunning -= 1;
			const hasAnswered =
				outcome?.kind === "answer" || outcome?.kind === "refused";
			if (hasAnswered) this.#primaryAnswered();
			if (this.#switchedAt === switchedAt) this.#probed(hasAnswered);
		});
	}

	#probed(isInTime: boolean): void {
		this.#goodProbes = isInTime ? this.#goodProbes + 1 : 0;
		const heldMs = this.#options.now() - this.#switchedAt;
		if (
			this.#isSwitched &&
			this.#goodProbes >= GOOD_PROBES &&
			heldMs >= this.#holdMs
		) {
			this.#switchBack("primaryIsWell");
		}
	}

	#maybeMirror(standby: Attempt<unknown>, now: number): void {
		const { random, isFit } = this.#options;
		const chance = random();
		if (chance >= MIRRORED_IN_DOUBT || !isFit()) return;
		const isDue =
			chance < MIRRORED ||
			this.#lateCalls.lateHosts(now) === "primaryAndPerhapsBoth";
		if (!isDue) return;
		this.#report("mirror");
		const measured = this.#measureStandby();
		this.#dropped(
			standby,
			this.#silenceMs(),
			(outcome) => {
				measured.ended(outcome ?? SILENT);
				this.#standbyEnded(outcome ?? SILENT);
			},
			measured.sent,
		);
	}

	/** A call whose answer nobody waits for. Null: it took longer than `ms`, and was cancelled. */
	#dropped(
		attempt: Attempt<unknown>,
		ms: number,
		done: (outcome: Outcome<unknown> | null) => void,
		sent = () => {},
	): void {
		let isDone = false;
		let cancelTimer: (() => void) | null = null;
		const end = (outcome: Outcome<unknown> | null) => {
			if (isDone) return;
			isDone = true;
			cancelTimer?.();
			done(outcome);
		};
		const cancel = attempt(end, sent);
		if (isDone) return;
		cancelTimer = this.#options.after(ms, () => {
			cancelTimer = null;
			if (isDone) return;
			cancel();
			end(null);
		});
	}

	#report(event: SpeculationEvent, reason?: string): void {
		this.#options.onEvent?.(event, reason);
	}
}

const SILENT: Outcome<never> = { kind: "silent", thrown: null };

/** A read of whatever is read. */
type LateRead = Omit<Read<never>, "read">;

/** A read that is under way. */
class Read<T> {
	readonly read: SpeculativeRead<T>;
	readonly startedAt: number;
	isDone = false;
	askedPrimary = false;
	primarySettled = false;
	askedStandby = false;
	/** When its call went out to the primary. */
	primarySentAt: number | null = null;
	/** Whether it has waited for the primary for the delay of a hedge, for a connection or for the answer. */
	isOverdue = false;
	standbySettled = false;
	askedStandbyAt = 0;
	isCountedLate = false;
	cancelPrimary: (() => void) | null = null;
	cancelStandby: (() => void) | null = null;
	cancelTimer: (() => void) | null = null;
	/** Set once it is late. */
	askStandby: () => void = () => {};

	constructor(read: SpeculativeRead<T>, startedAt: number) {
		this.read = read;
		this.startedAt = startedAt;
	}
}
