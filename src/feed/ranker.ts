import { Worker } from "node:worker_threads";
import { CorkboardError } from "../errors.ts";
import type { Id } from "../id/ids.ts";
import {
	type Arrangement,
	arrange,
	type Candidates,
	type FeedViewer,
} from "./arrange.ts";
import { FEED_CHANNELS, type RankerFellBack } from "./diagnostics.ts";
import type { Source } from "./sources.ts";

/**
 * What a file of `CORKBOARD_RANKER` exports: one of these functions or both. The
 * default stands in for the other. They may return promises. The file runs in a
 * thread of its own, so whatever it does, it keeps no request waiting for longer
 * than RANKER_MS: then, and if it throws or its answer is not usable, the
 * default answers, and that is counted (docs/feed.md, "A ranker of your own").
 */
export interface Ranker {
	/** The value of an item to each of the users who are about to receive it, 0 to 1,000, in their order. */
	score?(
		item: RankedItem,
		via: RankedVia,
		receivers: readonly Id[],
	): readonly number[] | Promise<readonly number[]>;
	/** Composes what a look at the feed adds: at most `size` of the candidates. */
	arrange?(
		pools: Candidates,
		size: number,
		viewer: FeedViewer,
	): Arrangement | Promise<Arrangement>;
}

interface RankedItem {
	readonly id: Id;
	/** The item it was first saved from, or itself. */
	readonly origin: Id;
	readonly owner: Id;
	/** Milliseconds since 1970. */
	readonly createdAt: number;
}

interface RankedVia {
	readonly source: Source;
	/** The user, board or interest that the receivers follow, or the item it is related to. */
	readonly id: Id;
}

/** How long a call of a ranker may take. */
const RANKER_MS = 20;
/** A call that has not ended by then is hanging: the thread is replaced. */
const HANGS_MS = 1_000;
/** How long the file may take to load. */
const LOAD_MS = 30_000;
const MAX_VALUE = 1_000;

export type RankerCall =
	| { readonly name: "score"; readonly arguments: Parameters<ScoreFunction> }
	| {
			readonly name: "arrange";
			readonly arguments: Parameters<ArrangeFunction>;
	  };
type ScoreFunction = NonNullable<Ranker["score"]>;
type ArrangeFunction = NonNullable<Ranker["arrange"]>;

/** What the thread sends. */
export type RankerMessage =
	| { readonly kind: "ready"; readonly functions: readonly string[] }
	| { readonly kind: "unusable"; readonly message: string }
	| {
			readonly kind: "answer";
			readonly number: number;
			readonly result?: unknown;
			readonly error?: string;
	  };

/** Asks the ranker of a file, and the default if that does not answer well and in time. */
export class BoundedRanker implements AsyncDisposable {
	readonly #file: string | null;
	readonly #timeoutMs: number;
	#thread: Worker | null = null;
	/** Loads the file, and answers nothing yet. */
	#loading: Worker | null = null;
	#isDisposed = false;
	#functions: ReadonlySet<string> = new Set();
	/** Calls that wait for the thread. */
	readonly #pending = new Map<number, (message: Answer) => void>();
	#calls = 0;

	/** Use `open`. */
	private constructor(file: string | null, timeoutMs: number) {
		this.#file = file;
		this.#timeoutMs = timeoutMs;
	}

	/** Null: the default. Throws BAD_CONFIG for a file that cannot be loaded or exports no function of a ranker. */
	static async open(
		file: string | null,
		{ timeoutMs = RANKER_MS } = {},
	): Promise<BoundedRanker> {
		const ranker = new BoundedRanker(file, timeoutMs);
		if (file !== null) await ranker.#start(file);
		return ranker;
	}

	/** 0 for each receiver by default. */
	async score(
		item: RankedItem,
		via: RankedVia,
		receivers: readonly Id[],
	): Promise<readonly number[]> {
		const standIn = () => receivers.map(() => 0);
		if (!this.#functions.has("score")) return standIn();
		const answer = await this.#ask({
			name: "score",
			arguments: [item, via, receivers],
		});
		if (answer === NO_ANSWER) return standIn();
		if (isScores(answer, receivers.length)) return answer;
		fellBack("score", "unusable");
		return standIn();
	}

	async arrange(
		pools: Candidates,
		size: number,
		viewer: FeedViewer,
	): Promise<Arrangement> {
		const standIn = () => arrange(pools, size, viewer);
		if (!this.#functions.has("arrange")) return standIn();
		const answer = await this.#ask({
			name: "arrange",
			arguments: [pools, size, viewer],
		});
		if (answer === NO_ANSWER) return standIn();
		const checked = checkedArrangement(answer, pools, size);
		if (checked !== null) return checked;
		fellBack("arrange", "unusable");
		return standIn();
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#isDisposed = true;
		const threads = [this.#thread, this.#loading];
		this.#thread = null;
		await Promise.all(threads.map((thread) => thread?.terminate()));
	}

	async #start(file: string): Promise<void> {
		const thread = new Worker(new URL("./rankerThread.mjs", import.meta.url), {
			workerData: { file },
		});
		thread.unref();
		this.#loading = thread;
		const loaded = await firstMessage(thread);
		this.#loading = null;
		if (loaded.kind !== "ready") {
			await thread.terminate();
			throw new CorkboardError(
				"BAD_CONFIG",
				`CORKBOARD_RANKER: ${file} cannot be used: ${loaded.kind === "unusable" ? loaded.message : "it sent something else"}.`,
			);
		}
		this.#functions = new Set(loaded.functions);
		thread.on("message", (message: RankerMessage) => {
			if (message.kind !== "answer") return;
			this.#pending.get(message.number)?.(message);
			this.#pending.delete(message.number);
		});
		thread.on("error", () => this.#replace(thread));
		thread.on("exit", () => this.#replace(thread));
		this.#thread = thread;
	}

	/** The default answers until the new thread is ready. */
	#replace(thread: Worker): void {
		if (this.#thread !== thread) return;
		this.#thread = null;
		this.#pending.clear();
		void thread.terminate();
		if (this.#isDisposed) return;
		// It could be loaded before. If it cannot any more, the default stays.
		void this.#start(this.#file as string).catch(() => {});
	}

	#ask(call: RankerCall): Promise<unknown> {
		const thread = this.#thread;
		if (thread === null) {
			fellBack(call.name, "absent");
			return Promise.resolve(NO_ANSWER);
		}
		const number = ++this.#calls;
		return new Promise((resolve) => {
			const timer = setTimeout(() => {
				fellBack(call.name, "late");
				resolve(NO_ANSWER);
				setTimeout(() => {
					if (this.#pending.has(number)) this.#replace(thread);
				}, HANGS_MS).unref();
			}, this.#timeoutMs);
			this.#pending.set(number, ({ result, error }) => {
				clearTimeout(timer);
				if (error !== undefined) fellBack(call.name, "failed");
				resolve(error === undefined ? result : NO_ANSWER);
			});
			thread.postMessage({ number, call });
		});
	}
}

/** Whether the file could be loaded, even if its thread ends over it. */
async function firstMessage(thread: Worker): Promise<RankerMessage> {
	const unusable = (message: string): RankerMessage => ({
		kind: "unusable",
		message,
	});
	const { promise, resolve } = Promise.withResolvers<RankerMessage>();
	const timer = setTimeout(
		() => resolve(unusable("it does not end to load")),
		LOAD_MS,
	);
	thread.once("message", resolve);
	thread.once("error", (error) => resolve(unusable(error.message)));
	thread.once("exit", () => resolve(unusable("its thread ended")));
	try {
		return await promise;
	} finally {
		clearTimeout(timer);
	}
}

type Answer = Extract<RankerMessage, { readonly kind: "answer" }>;

const NO_ANSWER = Symbol("no answer");

function fellBack(call: RankerCall["name"], why: RankerFellBack["why"]): void {
	FEED_CHANNELS.rankerFellBack.publish({ call, why });
}

function isScores(answer: unknown, count: number): answer is readonly number[] {
	return (
		Array.isArray(answer) &&
		answer.length === count &&
		answer.every(
			(value) => typeof value === "number" && value >= 0 && value <= MAX_VALUE,
		)
	);
}

/** Null unless all ids are of candidates, each is named once, and no more are shown than wanted. */
export function checkedArrangement(
	answer: unknown,
	pools: Candidates,
	size: number,
): Arrangement | null {
	if (typeof answer !== "object" || answer === null) return null;
	const { show, drop = [] } = answer as Partial<Arrangement>;
	if (!Array.isArray(show) || !Array.isArray(drop)) return null;
	if (show.length > size) return null;
	const candidates = new Set<unknown>(
		[...pools.values()].flatMap((pool) => pool.map(({ item }) => item)),
	);
	for (const item of [...show, ...drop]) {
		if (!candidates.delete(item)) return null;
	}
	return { show, drop };
}
