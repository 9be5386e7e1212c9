import type { Time, Timeline } from "./timeline.ts";

/** A process of a server: `1#3` is the third process of server 1. */
export type ProcessName = string;

/** How it ended, as far as its client knows. What is unknown may happen at any later time. */
export type Outcome = "running" | "done" | "refused" | "unknown";

/** A write that a client sent. */
export interface Operation {
	readonly name: string;
	/** The ids of the objects that it concerns. */
	readonly objects: readonly string[];
	process: ProcessName;
	readonly invokedAt: Time;
	endedAt: Time;
	outcome: Outcome;
	/** What was sent, for the report. */
	readonly detail: string;
	/** Whether it hides something from somebody: it is acknowledged once the others are informed. */
	readonly hides?: boolean;
}

/** Who read when. */
export interface Reading {
	readonly process: ProcessName;
	readonly from: Time;
	readonly to: Time;
	/** The write whose payload this is: it is in force. */
	readonly after?: Operation;
}

/**
 * How soon a write is seen. `source`: at once by the process that acknowledged
 * it. `delivered`: part of the outbox entry, which may have to wait for a host.
 */
export type Rule = "source" | "delivered";

/** The bounds that docs/guarantees.md and docs/consistency.md give. Milliseconds. */
export interface Bounds {
	/** After all links work again, and after a write with nothing wrong. */
	readonly quiet: number;
	/** After a write that hides something, with nothing wrong. */
	readonly hidden: number;
	/** How long some server has to be able to deliver before it has. */
	readonly delivery: number;
	/** What a process may keep showing after that, until it finds out that it is not informed. */
	readonly cached: number;
	/** How long before a write nothing may have been wrong for its entry to be delivered at its first attempt. */
	readonly before: number;
}

export const BOUNDS: Bounds = {
	quiet: 3_000,
	hidden: 1_000,
	delivery: 11_000,
	cached: 2_000,
	before: 5_000,
};

/** When each write holds for those who did not acknowledge it. */
export class Freshness {
	readonly timeline: Timeline;
	readonly bounds: Bounds;
	/** From here on all that was written before is in force everywhere. */
	settledAt = Number.POSITIVE_INFINITY;
	readonly #known = new WeakMap<Operation, Map<Rule, Time>>();

	constructor(timeline: Timeline, bounds: Bounds = BOUNDS) {
		this.timeline = timeline;
		this.bounds = bounds;
	}

	/** The time from which every reading of this process has to show a write, unless a later one replaced it. */
	freshBy(write: Operation, rule: Rule, reading: Reading): Time {
		if (write.outcome !== "done") return Number.POSITIVE_INFINITY;
		if (reading.after === write) return Number.NEGATIVE_INFINITY;
		if (rule === "source" && write.process === reading.process) {
			return write.endedAt;
		}
		if (Number.isFinite(this.settledAt) && this.settledAt >= write.endedAt) {
			return this.settledAt;
		}
		const known = this.#known.get(write)?.get(rule);
		if (known !== undefined) return known;
		const time = this.#elsewhere(write, rule);
		if (time === "not yet") return Number.POSITIVE_INFINITY;
		const rules = this.#known.get(write) ?? new Map<Rule, Time>();
		this.#known.set(write, rules.set(rule, time));
		return time;
	}

	#elsewhere(write: Operation, rule: Rule): Time | "not yet" {
		const { timeline } = this;
		const { quiet, hidden, delivery, cached, before } = this.bounds;
		const { endedAt, invokedAt } = write;
		const now = timeline.now();
		if (
			write.hides &&
			now > endedAt + hidden &&
			timeline.isQuiet(invokedAt - before, endedAt + hidden) &&
			!timeline.wasBusy(invokedAt)
		) {
			return endedAt + hidden;
		}
		if (rule === "delivered") {
			if (now <= endedAt + quiet) return "not yet";
			// Else it waits for its next attempt, which may be a minute away.
			return timeline.isQuiet(invokedAt - before, endedAt + quiet) &&
				!timeline.wasBusy(invokedAt - before)
				? endedAt + quiet
				: Number.POSITIVE_INFINITY;
		}
		const time = Math.min(
			timeline.quietAfter(endedAt, quiet),
			timeline.deliverableAfter(endedAt, delivery) + cached,
		);
		return Number.isFinite(time) ? time : "not yet";
	}
}

interface Write<V> {
	readonly value: V;
	readonly operation: Operation;
}

/** A value that is written and read concurrently: which values may a reading show? */
export class Register<V> {
	readonly rule: Rule;
	readonly initial: V;
	readonly #writes: Write<V>[] = [];

	constructor(initial: V, rule: Rule = "source") {
		this.initial = initial;
		this.rule = rule;
	}

	write(value: V, operation: Operation): void {
		this.#writes.push({ value, operation });
	}

	get writes(): readonly Write<V>[] {
		return this.#writes;
	}

	/**
	 * Those of writes that may be in force, or may not be replaced yet, at some time
	 * of the reading. A write is replaced for certain once another, sent after it
	 * was acknowledged, has to be shown. A write of unknown outcome never is: it may
	 * still happen.
	 */
	possible(
		reading: Reading,
		freshness: Freshness,
		rule: Rule = this.rule,
	): ReadonlySet<V> {
		let certain = Number.NEGATIVE_INFINITY;
		for (const { operation } of this.#writes) {
			if (operation.invokedAt <= certain) continue;
			if (freshness.freshBy(operation, rule, reading) < reading.from) {
				certain = operation.invokedAt;
			}
		}
		const values = new Set<V>();
		if (certain === Number.NEGATIVE_INFINITY) values.add(this.initial);
		for (const { value, operation } of this.#writes) {
			const { outcome, invokedAt, endedAt } = operation;
			if (outcome === "refused" || invokedAt > reading.to) continue;
			if (outcome === "done" && endedAt < certain) continue;
			values.add(value);
		}
		return values;
	}

	/** The value, if no write is under way or of unknown outcome, and the last one began after all others; else undefined. */
	definite(): V | undefined {
		const operations = this.#writes.filter(
			({ operation }) => operation.outcome !== "refused",
		);
		const last = operations.at(-1);
		if (last === undefined) return this.initial;
		const isCertain = operations.every(
			({ operation }) =>
				operation.outcome === "done" &&
				(operation === last.operation ||
					operation.endedAt < last.operation.invokedAt),
		);
		return isCertain ? last.value : undefined;
	}

	/** The value of the last write that was acknowledged: what its writer takes for current. */
	latest(): V {
		return (
			this.#writes.findLast(({ operation }) => operation.outcome === "done")
				?.value ?? this.initial
		);
	}
}
