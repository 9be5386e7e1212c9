import {
	STANDBY_STATES,
	STORAGE_CHANNELS,
	type StandbyEvent,
} from "../../diagnostics.ts";
import { StorageFailure } from "../../storageFailure.ts";
import type { Host } from "../driver/host.ts";
import { Beats } from "./beats.ts";
import {
	type Attempt,
	type Outcome,
	type Served,
	Speculation,
} from "./speculation.ts";
import { MAX_LAG_MS, StandbyLag } from "./standbyLag.ts";

/** An answer of the standby, with its beat. */
interface WithBeat<T> {
	readonly value: T;
	/** Null if the standby has none. */
	readonly beat: number | null;
}

interface PairAnswer<T> extends Served {
	readonly value: T;
	/** How far the standby was behind; 0 of the primary. Milliseconds. */
	readonly lagMs: number;
}

/** Both are given the signal that ends them, and call `sent` once they have a connection. */
type Call<T> = (signal: AbortSignal, sent: () => void) => Promise<T>;

/** A read that each host of a pair can answer. */
interface PairRead<T> {
	readonly primary: Call<T>;
	readonly standby: Call<WithBeat<T>>;
	/** Whether an answer of the standby has all that its reader has seen. */
	readonly isNewEnough: (value: T) => boolean;
	readonly signal?: AbortSignal | undefined;
}

/** A primary and its standby: whom to ask is decided by `Speculation`, and whether an answer may be used here. */
export class StandbyPair implements AsyncDisposable {
	readonly standby: Host;
	readonly #primary: Host;
	readonly #lag = new StandbyLag();
	readonly #beats: Beats;
	readonly #speculation: Speculation;
	readonly #reported = STANDBY_STATES.add(() => ({
		host: this.#primary.name,
		standby: this.standby.name,
		isSwitched: this.#speculation.isSwitched,
		delayMs: this.#speculation.delayMs,
		lagMs: this.#lag.lagMs(performance.now()),
	}));

	/** `deadlineMs`: of a read. The standby is closed with the pair, the primary is not. */
	constructor(primary: Host, standby: Host, deadlineMs: number) {
		this.#primary = primary;
		this.standby = standby;
		this.#beats = new Beats(primary, standby, this.#lag);
		this.#speculation = new Speculation({
			now: () => performance.now(),
			random: Math.random,
			after: afterSockets,
			isFit: () => isFit(this.#lag.lagMs(performance.now())),
			probe: attempt(async (signal) => {
				if (!(await this.#beats.askPrimary(signal))) throw this.#noAnswer();
			}),
			deadlineMs,
			onEvent: (event, reason) => this.#report({ event, reason }),
		});
	}

	/** Whether all reads go to the standby now. */
	get isSwitched(): boolean {
		return this.#speculation.isSwitched;
	}

	async read<T>(read: PairRead<T>): Promise<PairAnswer<T>> {
		const { signal } = read;
		signal?.throwIfAborted();
		this.#beats.start();
		let lagMs = 0;
		return new Promise((resolve, reject) => {
			let stop = () => {};
			const giveUp = this.#speculation.read<T>({
				primary: attempt(async (signal, sent) => {
					const value = await read.primary(signal, sent);
					this.#lag.noteAnswer(performance.now());
					return value;
				}),
				standby: attempt(async (signal, sent) => {
					const { value, beat } = await read.standby(signal, sent);
					const lag = this.#lagOf(beat);
					if (!isFit(lag)) throw this.#refused("old");
					if (!read.isNewEnough(value)) throw this.#refused("behindReader");
					lagMs = lag as number;
					return value;
				}),
				settle: (outcome, served) => {
					stop();
					if (outcome.kind !== "answer") {
						reject(outcome.thrown);
						return;
					}
					const isStandby = served.by === "standby";
					if (isStandby) this.#report({ event: "served", lagMs });
					resolve({
						...served,
						value: outcome.value,
						lagMs: isStandby ? lagMs : 0,
					});
				},
			});
			if (signal === undefined) return;
			const onAbort = () => {
				giveUp();
				reject(signal.reason);
			};
			signal.addEventListener("abort", onAbort, { once: true });
			stop = () => signal.removeEventListener("abort", onAbort);
		});
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#reported[Symbol.dispose]();
		this.#speculation[Symbol.dispose]();
		this.#beats[Symbol.dispose]();
		await this.standby[Symbol.asyncDispose]();
	}

	#lagOf(beat: number | null): number | null {
		if (beat === null) return null;
		this.#lag.noteBeat(beat);
		return this.#lag.lagOf(beat, performance.now());
	}

	#refused(why: "old" | "behindReader"): StandbyRefused {
		this.#report({ event: "refused", reason: why });
		return new StandbyRefused(why, this.standby.name);
	}

	#noAnswer(): StorageFailure {
		return new StorageFailure("timeout", "No answer in time.", {
			host: this.#primary.name,
			statement: "beat",
		});
	}

	#report(event: Pick<StandbyEvent, "event" | "reason" | "lagMs">): void {
		if (!STORAGE_CHANNELS.standby.hasSubscribers) return;
		STORAGE_CHANNELS.standby.publish({
			...event,
			host: this.#primary.name,
			standby: this.standby.name,
		});
	}
}

/** An answer of a standby that is not used. */
class StandbyRefused extends StorageFailure {
	constructor(why: "old" | "behindReader", host: string) {
		const reasons = {
			old: "The standby is too far behind its primary.",
			behindReader: "The standby does not have what the reader has seen yet.",
		};
		super("hostDown", reasons[why], { host, statement: "standby" });
	}
}

function isFit(lagMs: number | null): boolean {
	return lagMs !== null && lagMs <= MAX_LAG_MS;
}

/** Timers come before sockets in a turn of the event loop, `setImmediate` after them. */
function afterSockets(ms: number, run: () => void): () => void {
	let immediate: NodeJS.Immediate | undefined;
	const timer = setTimeout(() => {
		immediate = setImmediate(run);
	}, ms);
	return () => {
		clearTimeout(timer);
		clearImmediate(immediate);
	};
}

/** What ends the slower of two calls. Nobody sees it. */
const NOT_NEEDED = new Error("Another host has answered.");

function attempt<T>(start: Call<T>): Attempt<T> {
	return (settle, sent) => {
		const controller = new AbortController();
		let isOver = false;
		const end = (outcome: Outcome<T>) => {
			if (isOver) return;
			isOver = true;
			settle(outcome);
		};
		const onSent = () => {
			if (!isOver) sent();
		};
		start(controller.signal, onSent).then(
			(value) => end({ kind: "answer", value }),
			(thrown: unknown) => end({ kind: kindOf(thrown), thrown }),
		);
		return () => {
			isOver = true;
			controller.abort(NOT_NEEDED);
		};
	};
}

function kindOf(thrown: unknown): "silent" | "refused" | "notSent" {
	if (!(thrown instanceof StorageFailure) || thrown instanceof StandbyRefused) {
		return "refused";
	}
	if (thrown.kind === "poolExhausted") return "notSent";
	return SILENT.has(thrown.kind) ? "silent" : "refused";
}

const SILENT: ReadonlySet<StorageFailure["kind"]> = new Set([
	"connectionLost",
	"timeout",
	"hostDown",
] as const);
