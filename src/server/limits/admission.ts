import type { Refusals } from "../http/refusals.ts";

/** What a request gets that is not carried out. */
export const NO_PLACE = [
	"UNAVAILABLE",
	"The server has as many requests in progress as it may. Retry in 1 s.",
] as const;

/** In an overload, a request that would wait longer for its start is refused at once. Milliseconds. */
const MOST_WAIT_MS = 100;
/**
 * It may be an overload when requests have waited for so long without a moment in
 * which none did. Until then only what would wait beyond its deadline is refused: an
 * idle process works off the rest. Milliseconds.
 */
const OVERLOAD_AFTER_MS = 1_000;
/**
 * What comes at once is taken for what came in a pause, and is worked off. For each of
 * these requests so many more may wait than otherwise: the clients may hold back as
 * many, and the process may be slower at first.
 */
const SPARE = 2;
/** Each start takes so many of them away: the spare of one request lasts for twenty starts. */
const SPENT = 0.1;
/** As many requests may wait for their start as `limit` times this: one that waits takes little beside one that runs. */
const WAITING_PLACES = 4;
/**
 * How long one turn of the event loop starts requests, whatever else it has done. If
 * a long turn started only one, what waits after a pause of the process would be
 * worked off too slowly. If a long turn started more of them, the next one would be
 * longer still. A write waits for several turns, one for each answer of a database or
 * cache, so a turn is short while few requests wait. Milliseconds.
 */
const START_MS = 1;
/** The same while many wait: in fewer turns more of them are started. */
const START_MANY_MS = 3;
/**
 * While requests wait, a turn also answers for so long, as they arrive, those whose
 * answers were kept: to refuse one of them costs about as much. Milliseconds.
 */
const LOOK_MS = 3;
/** A turn looks for no more kept answers once it has missed so many more than it found: a look in vain costs as much as a refusal. */
const MOST_MISSED = 4;
/** The part of the free places that one sender may take. */
const SHARE = 7 / 8;
/** So many are few. They may wait in any case: a few clients who wait for their answers are no overload. */
const FEW_WAITING = 32;
/** The time from one start to the next is that of about so many latest starts. */
const LATEST_STARTS = 100;
/** A longer turn counts as one of this length: the process may have been paused in it. Milliseconds. */
const LONGEST_TURN_MS = 20;

/** A request that waits for its start. Exactly one of the two is called. */
export interface Candidate {
	start(): void;
	refuse(): void;
}

/** All requests of one viewer, or from one address. */
interface Sender {
	readonly key: string;
	/** Requests that were started and have not ended. */
	running: number;
	readonly waiting: Candidate[];
}

/**
 * Decides which requests a process carries out, and when each is started.
 *
 * A request takes a place from the last byte of its body to the first of its
 * response: neither a client that sends slowly nor one that reads slowly takes one.
 * At most `limit` of them run, and more wait for their start. What is known without
 * work is answered at once; while others wait, for a few milliseconds of each turn of
 * the event loop. Everything else waits for its start. A turn starts requests for a
 * few milliseconds too, after it has handled what came back from caches and
 * databases, so that a turn stays short however many requests arrive.
 *
 * While more arrive than are started, the senders take turns. Whether that is an
 * overload, only time shows: what came in a pause of the process waits as well,
 * and is worked off. What would wait beyond its deadline, by the measured time from one
 * start to the next, is always refused. For a second without an empty queue nothing
 * else is. After that as many wait as will be started within a tenth of a second, and
 * what is left of twice what came in a pause. If there are ever more, it is an
 * overload. Then pauses no longer count until the queue is empty, and what is beyond
 * the tenth of a second is refused at once: the newest of the sender who has most
 * waiting.
 */
export class Admission {
	readonly limit: number;
	/** The deadline of a request, waiting and running. Milliseconds. */
	readonly #deadlineMs: number;
	readonly #refusals: Refusals;
	readonly #now: () => number;
	readonly #inNextTurn: (call: () => void) => void;
	readonly #afterPromises: (call: () => void) => void;
	readonly #senders = new Map<string, Sender>();
	/** Those of whom a request waits, in the order in which they have their turn. */
	readonly #queue: Sender[] = [];
	#count = 0;
	#waiting = 0;
	/** Whether `#turn` is to be called. */
	#isCalled = false;
	#started = 0;
	#startsUntil = 0;
	/** When the first request of this turn arrived while others waited; null until then. */
	#arrivingSince: number | null = null;
	/** How many more of the requests looked at in this turn were not kept than were. */
	#missed = 0;
	/** For how long every turn has left requests waiting; null if none waits. Milliseconds. */
	#waitedMs: number | null = null;
	/** When the latest turn left requests waiting, and how many. */
	#stoppedAt = 0;
	#leftWaiting = 0;
	/** How many more may wait because of a pause. */
	#spare = 0;
	/** Whether more have waited than may, since the queue was empty. */
	#isOverload = false;
	/** Since then, of the latest starts: their number, and the time from one to the next, together. */
	#latestStarts = 0;
	#latestMs = 0;

	constructor(
		{
			limit,
			deadlineMs,
		}: { readonly limit: number; readonly deadlineMs: number },
		refusals: Refusals,
		/** In milliseconds. */
		now: () => number = () => performance.now(),
		inNextTurn: (call: () => void) => void = setImmediate,
		/** Calls it when all promises have settled that can. */
		afterPromises: (call: () => void) => void = (call) =>
			queueMicrotask(() => process.nextTick(call)),
	) {
		this.limit = limit;
		this.#deadlineMs = deadlineMs;
		this.#refusals = refusals;
		this.#now = now;
		this.#inNextTurn = inNextTurn;
		this.#afterPromises = afterPromises;
	}

	/** Requests that have a place. */
	get count(): number {
		return this.#count;
	}

	/** Those of them that were not started yet. */
	get waiting(): number {
		return this.#waiting;
	}

	/** Whether it refuses some of the requests that arrive now. */
	get isBusy(): boolean {
		return !this.#hasPlace || this.#isCrowded(1);
	}

	get #running(): number {
		return this.#count - this.#waiting;
	}

	/** For a request that arrives. */
	get #hasPlace(): boolean {
		return (
			this.#running < this.limit && this.#waiting < WAITING_PLACES * this.limit
		);
	}

	/**
	 * Whether a request that arrives will not be carried out. It counts as a refusal
	 * then. This is asked before anything else of the request is looked at, because
	 * that is most of what a refusal costs. So `key` is its sender as far as that is
	 * known by then. Not refused here are requests of the first milliseconds of a turn,
	 * and those of a sender who has fewer waiting than the others have: such a request
	 * takes the place of another one.
	 */
	isRefused(key: () => string): boolean {
		if (this.isFull()) return true;
		if (!this.#isCrowded(1) || this.mayLookEarly()) return false;
		const own = this.#senders.get(key())?.waiting.length ?? 0;
		if ((own + 1) * this.#queue.length < this.#waiting) return false;
		this.#isOverload = true;
		this.#refusals.count("requests");
		return true;
	}

	/** Whether a request that arrives now is answered before its start, if its answer was kept. */
	mayLookEarly(): boolean {
		if (this.#waiting === 0) return true;
		const now = this.#now();
		this.#arrivingSince ??= now;
		return this.#missed < MOST_MISSED && now - this.#arrivingSince < LOOK_MS;
	}

	/** Whether the answer to a request that was looked at was kept. */
	countLook(isKept: boolean): void {
		this.#missed += isKept ? -1 : 1;
	}

	/** Whether there is no place; counted as a refusal then. */
	isFull(): boolean {
		if (this.#hasPlace) return false;
		// More than any pause leaves: who may wait is decided by sender from now on.
		if (this.#waiting >= WAITING_PLACES * this.limit) this.#isOverload = true;
		this.#refusals.count("requests");
		return true;
	}

	/** Takes a place. */
	enter(): void {
		this.#count++;
	}

	/** Gives a place back: of a request that was started, with the key of its sender. */
	leave(key: string | null): void {
		this.#count--;
		const sender = key === null ? undefined : this.#senders.get(key);
		if (sender === undefined) return;
		sender.running--;
		this.#forget(sender);
	}

	/** Starts a request that has a place when it is its sender's turn, or refuses it. */
	awaitStart(key: string, candidate: Candidate): void {
		const sender = this.#senderOf(key);
		const own = sender.waiting.length;
		const others = this.#waiting - own;
		if (own >= shareOf(WAITING_PLACES * this.limit - others)) {
			this.#forget(sender);
			this.#refuse(candidate);
			return;
		}
		if (sender.waiting.push(candidate) === 1) this.#queue.push(sender);
		this.#waiting++;
		this.#callTurn();
		this.#refuseBeyond();
	}

	/**
	 * Called once in a turn of the event loop, which Node promises: what is given to
	 * `setImmediate` while such calls run is called in the next turn. With a call for
	 * each request, some of them would be of this turn and some of the next, and
	 * nobody could say which is the last one.
	 */
	readonly #turn = (): void => {
		this.#isCalled = false;
		this.#arrivingSince = null;
		this.#missed = 0;
		this.#beginTurn();
		this.#startNext();
	};

	/** Requests start one after the other, each with the promises that it resolved. */
	readonly #startNext = (): void => {
		if (
			this.#waiting > 0 &&
			(this.#started === 0 || this.#now() < this.#startsUntil)
		) {
			this.#started++;
			this.#endWait();
			this.#afterPromises(this.#startNext);
		} else this.#endTurn();
	};

	#callTurn(): void {
		if (this.#isCalled) return;
		this.#isCalled = true;
		this.#inNextTurn(this.#turn);
	}

	#beginTurn(): void {
		const now = this.#now();
		if (this.#waitedMs === null) this.#stoppedAt = now;
		this.#startsUntil =
			now + (this.#waiting > FEW_WAITING ? START_MANY_MS : START_MS);
		this.#started = 0;
	}

	#endTurn(): void {
		if (this.#waiting === 0) {
			this.#waitedMs = null;
			this.#leftWaiting = 0;
			this.#spare = 0;
			this.#isOverload = false;
			this.#latestStarts = 0;
			this.#latestMs = 0;
			return;
		}
		this.#spare = Math.max(
			this.#spare - SPENT * this.#started,
			SPARE * (this.#waiting - this.#leftWaiting),
		);
		const now = this.#now();
		const tookMs = Math.min(now - this.#stoppedAt, LONGEST_TURN_MS);
		this.#stoppedAt = now;
		this.#waitedMs = (this.#waitedMs ?? 0) + tookMs;
		this.#latestStarts += this.#started;
		this.#latestMs += tookMs;
		if (this.#latestStarts > LATEST_STARTS) {
			this.#latestStarts /= 2;
			this.#latestMs /= 2;
		}
		// Also of what came before it was known that this is an overload.
		this.#refuseBeyond();
		this.#leftWaiting = this.#waiting;
		this.#callTurn();
	}

	/** Whether to start so many takes longer, by the latest starts. */
	#lasts(requests: number, ms: number): boolean {
		return requests * this.#latestMs > ms * this.#latestStarts;
	}

	/** Whether the last one that waits, with so many more, would be started too late. */
	#isCrowded(more: number): boolean {
		const waiting = this.#waiting + more;
		if (this.#waitedMs === null || waiting <= FEW_WAITING) return false;
		if (this.#waitedMs > OVERLOAD_AFTER_MS) {
			const spare = this.#isOverload ? 0 : this.#spare;
			if (this.#lasts(waiting - spare, MOST_WAIT_MS)) return true;
		}
		// The time of a few starts says little.
		return (
			this.#latestStarts >= FEW_WAITING &&
			this.#lasts(waiting, this.#deadlineMs)
		);
	}

	#refuseBeyond(): void {
		while (this.#isCrowded(0)) {
			this.#isOverload = true;
			this.#refuseOne();
		}
	}

	/** Starts the first of the sender whose turn it is, if it may run. */
	#endWait(): void {
		const sender = this.#queue.shift() as Sender;
		const candidate = sender.waiting.shift() as Candidate;
		if (sender.waiting.length > 0) this.#queue.push(sender);
		const others = this.#running - sender.running;
		this.#waiting--;
		if (sender.running >= shareOf(this.limit - others)) {
			this.#refuse(candidate);
			this.#forget(sender);
			return;
		}
		sender.running++;
		candidate.start();
	}

	/** Refuses the newest request of the longest queue; if several are as long, of the one that came last. */
	#refuseOne(): void {
		const longest = this.#queue.reduce((most, sender) =>
			sender.waiting.length >= most.waiting.length ? sender : most,
		);
		const candidate = longest.waiting.pop() as Candidate;
		this.#waiting--;
		if (longest.waiting.length === 0) {
			this.#queue.splice(this.#queue.indexOf(longest), 1);
			this.#forget(longest);
		}
		this.#refuse(candidate);
	}

	#refuse(candidate: Candidate): void {
		this.#refusals.count("requests");
		candidate.refuse();
	}

	#senderOf(key: string): Sender {
		let sender = this.#senders.get(key);
		if (sender === undefined) {
			sender = { key, running: 0, waiting: [] };
			this.#senders.set(key, sender);
		}
		return sender;
	}

	#forget({ key, running, waiting }: Sender): void {
		if (running === 0 && waiting.length === 0) this.#senders.delete(key);
	}
}

function shareOf(places: number): number {
	return Math.ceil(places * SHARE);
}
