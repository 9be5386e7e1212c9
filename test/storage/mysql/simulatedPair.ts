import {
	type Attempt,
	Speculation,
	type SpeculationEvent,
} from "../../../src/storage/mysql/standby/speculation.ts";

type Span = readonly [from: number, to: number];

/** Trouble of one host. Milliseconds since the start. */
interface Trouble {
	/** It answers nothing before the end. */
	readonly stall?: Span;
	readonly stalls?: readonly Span[];
	readonly refuses?: Span;
	readonly slow?: {
		readonly from: number;
		readonly to: number;
		readonly factor: number;
	};
}

export interface Scenario {
	readonly seconds: number;
	readonly readsPerSecond: number;
	readonly primary?: Trouble;
	readonly standby?: Trouble;
	/** The workers of each host; without a limit if absent. */
	readonly workers?: number;
	/** Calls that may wait for a connection of the process to either host, before they are sent; it has one for each worker. */
	readonly mostWaiting?: number;
	readonly burst?: {
		readonly from: number;
		readonly to: number;
		readonly factor: number;
	};
	readonly standbyIsUnfit?: boolean;
	/** Others read from it as much as this process from the primary. */
	readonly standbyIsBusyToo?: boolean;
	/** Its timers and answers come at the end of these. */
	readonly processStandsStill?: readonly Span[];
}

export interface Run {
	readonly reads: number;
	readonly failed: number;
	readonly primaryCalls: number;
	readonly standbyCalls: number;
	readonly events: Readonly<Record<SpeculationEvent, number>>;
	readonly switches: readonly {
		readonly to: "standby" | "primary";
		readonly at: number;
	}[];
	/** What reads took that began then. */
	between(
		from: number,
		to: number,
	): { readonly p50: number; readonly p99: number; readonly failed: number };
}

const DEADLINE_MS = 500;
/** Latency of a host in calm: p50, and p99.9 of 15 ms. */
const P50_MS = 1.8;
const SIGMA = Math.log(15 / P50_MS) / 3.09;

/** Runs the reads of a process against two hosts that exist in numbers only. The same seed gives the same run. */
export function simulate(scenario: Scenario, seed: number): Run {
	const random = randomOf(seed);
	const timeline = new Timeline(scenario.processStandsStill ?? []);
	const primary = new SimulatedHost(
		timeline,
		random,
		scenario.primary ?? {},
		scenario,
	);
	const standby = new SimulatedHost(
		timeline,
		random,
		scenario.standby ?? {},
		scenario,
	);
	const events = {
		hedge: 0,
		cancelled: 0,
		standbyAnswer: 0,
		standbyRefused: 0,
		mirror: 0,
		probe: 0,
		overBudget: 0,
		switchToStandby: 0,
		switchToPrimary: 0,
	} satisfies Record<SpeculationEvent, number>;
	const switches: Run["switches"][number][] = [];
	const speculation = new Speculation({
		now: () => timeline.now,
		random,
		after: (ms, run) => timeline.after(ms, run),
		isFit: () => scenario.standbyIsUnfit !== true,
		probe: primary.call,
		deadlineMs: DEADLINE_MS,
		onEvent(event) {
			events[event] += 1;
			const at = timeline.now;
			if (event === "switchToStandby") switches.push({ to: "standby", at });
			if (event === "switchToPrimary") switches.push({ to: "primary", at });
		},
	});
	const ended: { at: number; ms: number; ok: boolean }[] = [];
	let reads = 0;
	const endsAt = scenario.seconds * 1_000;
	/** Arrivals do not know of each other. */
	const waitMs = () => {
		const { burst, readsPerSecond } = scenario;
		const { now } = timeline;
		const isBurst = burst !== undefined && now >= burst.from && now < burst.to;
		const rate = readsPerSecond * (isBurst ? burst.factor : 1);
		return (-Math.log(1 - random()) * 1_000) / rate;
	};
	const start = () => {
		const at = timeline.now;
		if (at >= endsAt) return;
		reads += 1;
		speculation.read({
			primary: primary.call,
			standby: standby.call,
			settle: ({ kind }) => {
				ended.push({ at, ms: timeline.now - at, ok: kind === "answer" });
			},
		});
		timeline.after(waitMs(), start);
	};
	if (scenario.standbyIsBusyToo) {
		const others = () => {
			if (timeline.now >= endsAt) return;
			standby.call(
				() => {},
				() => {},
			);
			timeline.after(waitMs(), others);
		};
		timeline.after(0, others);
	}
	timeline.after(0, start);
	timeline.runUntil(endsAt + 2 * DEADLINE_MS);
	speculation[Symbol.dispose]();
	return {
		reads,
		failed: ended.filter(({ ok }) => !ok).length + (reads - ended.length),
		primaryCalls: primary.calls,
		standbyCalls: standby.calls,
		events,
		switches,
		between(from, to) {
			const some = ended.filter(({ at }) => at >= from && at < to);
			const ms = some.map((one) => one.ms).sort((a, b) => a - b);
			return {
				p50: ms[Math.floor(ms.length * 0.5)] ?? 0,
				p99: ms[Math.floor(ms.length * 0.99)] ?? 0,
				failed: some.filter(({ ok }) => !ok).length,
			};
		},
	};
}

/** Virtual time: a heap of what happens next. */
class Timeline {
	now = 0;
	readonly #heap: { at: number; order: number; run: (() => void) | null }[] =
		[];
	readonly #still: readonly Span[];
	#order = 0;

	constructor(still: readonly Span[]) {
		this.#still = still;
	}

	/** A timer of the process. It may run later; what arrived by then is read first. */
	after(ms: number, run: () => void): () => void {
		return this.#add(this.#awake(this.now + ms), 1e9, run);
	}

	/** An answer of a host. The process reads it when it is awake. */
	arrives(at: number, run: () => void): () => void {
		return this.#add(this.#awake(at), 0, run);
	}

	runUntil(end: number): void {
		for (;;) {
			const next = this.#pop();
			if (next === undefined || next.at > end) return;
			this.now = Math.max(this.now, next.at);
			next.run?.();
		}
	}

	#awake(at: number): number {
		const still = this.#still.find(([from, to]) => at >= from && at < to);
		return still === undefined ? at : still[1];
	}

	#add(at: number, later: number, run: () => void): () => void {
		const entry = {
			at,
			order: later + this.#order++,
			run: run as (() => void) | null,
		};
		const heap = this.#heap;
		heap.push(entry);
		let index = heap.length - 1;
		while (index > 0) {
			const parent = (index - 1) >> 1;
			if (!isBefore(heap[index] as typeof entry, heap[parent] as typeof entry))
				break;
			[heap[index], heap[parent]] = [
				heap[parent] as typeof entry,
				heap[index] as typeof entry,
			];
			index = parent;
		}
		return () => {
			entry.run = null;
		};
	}

	#pop() {
		const heap = this.#heap;
		const top = heap[0];
		const last = heap.pop();
		if (top === undefined || last === undefined || heap.length === 0)
			return top;
		heap[0] = last;
		let index = 0;
		for (;;) {
			const left = 2 * index + 1;
			let least = index;
			for (const child of [left, left + 1]) {
				const one = heap[child];
				if (one !== undefined && isBefore(one, heap[least] as typeof one))
					least = child;
			}
			if (least === index) return top;
			[heap[index], heap[least]] = [
				heap[least] as typeof last,
				heap[index] as typeof last,
			];
			index = least;
		}
	}
}

function isBefore(
	a: { at: number; order: number },
	b: { at: number; order: number },
): boolean {
	return a.at < b.at || (a.at === b.at && a.order < b.order);
}

/** A host with workers, which take calls in the order they come. */
class SimulatedHost {
	calls = 0;
	readonly call: Attempt<null>;
	readonly #freeAt: number[];

	constructor(
		timeline: Timeline,
		random: () => number,
		{ stall, stalls = [], refuses, slow }: Trouble,
		{ workers = 10_000, mostWaiting }: Scenario,
	) {
		this.#freeAt = new Array<number>(Math.min(workers, 64)).fill(0);
		const isLimited = workers < 64;
		const all = stall === undefined ? stalls : [...stalls, stall];
		let underWay = 0;
		const most = workers + (mostWaiting ?? Number.POSITIVE_INFINITY);
		this.call = (settleFirst, sent) => {
			this.calls += 1;
			const { now } = timeline;
			if (underWay >= most) {
				settleFirst({ kind: "notSent", thrown: "poolExhausted" });
				return () => {};
			}
			underWay += 1;
			const settle: typeof settleFirst = (outcome) => {
				underWay -= 1;
				settleFirst(outcome);
			};
			if (refuses !== undefined && now >= refuses[0] && now < refuses[1]) {
				return timeline.arrives(now + 0.2, () =>
					settle({ kind: "silent", thrown: "refused" }),
				);
			}
			const factor =
				slow !== undefined && now >= slow.from && now < slow.to
					? slow.factor
					: 1;
			const ms = P50_MS * Math.exp(SIGMA * normal(random)) * factor;
			let begins = now;
			let worker = 0;
			if (isLimited) {
				for (const [index, free] of this.#freeAt.entries()) {
					if (free < (this.#freeAt[worker] as number)) worker = index;
				}
				begins = Math.max(now, this.#freeAt[worker] as number);
				// A server notices that a caller is gone when it comes to its statement.
				if (begins - now < DEADLINE_MS) this.#freeAt[worker] = begins + ms;
			}
			// If it waits for the server's worker, it has been sent.
			const sentAt = mostWaiting === undefined ? now : begins;
			let cancelSent = () => {};
			if (sentAt > now) cancelSent = timeline.after(sentAt - now, sent);
			else sent();
			let done = begins + ms;
			for (const [from, to] of all) {
				if (done >= from && now < to) done = Math.max(done, to + ms);
			}
			const cancelTimeout = timeline.after(DEADLINE_MS, () => {
				cancelAnswer();
				cancelSent();
				settle({ kind: "silent", thrown: "timeout" });
			});
			const cancelAnswer = timeline.arrives(done, () => {
				cancelTimeout();
				settle({ kind: "answer", value: null });
			});
			return () => {
				cancelTimeout();
				cancelAnswer();
				cancelSent();
				underWay -= 1;
			};
		};
	}
}

function normal(random: () => number): number {
	return (
		Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
	);
}

/** mulberry32 */
function randomOf(seed: number): () => number {
	let state = seed * 0x9e3779b9;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
	};
}
