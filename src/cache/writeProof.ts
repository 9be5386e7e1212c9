/**
 * What a server made of a key that was written, read, deleted and read again:
 * true if each read showed it, an error that says what was wrong, null without an
 * answer.
 */
export type WriteTrial = true | Error | null;

/**
 * Whether one server of a shared cache takes writes, and shows them to its
 * readers. A server that answers reads and refuses writes (a Redis whose disk is
 * full, a user that may only read) keeps what a write of any process had to
 * delete there. So does one that a proxy reads elsewhere. Neither is read.
 *
 *     proven ──trial refused──▶ refused ──taken for RESUME_MS──▶ proven
 *
 * A read is trusted if a trial succeeded that began a short time before it. The
 * first read that comes a second after the last trial sends the next one ahead,
 * over the same connection: that costs no round trip. So nothing is asked of a
 * server that nobody reads, and nobody has to know who else writes.
 *
 * After a refusal nobody waits for a trial. Reads begin again only when trials have
 * succeeded for longer than processes pause between two attempts to delete what
 * was refused (pendingDeletes.ts).
 */
export class WriteProof {
	readonly #try: () => Promise<WriteTrial>;
	readonly #onChange: (refusal: Error | null) => void;
	readonly #now: () => number;
	/** When the last trial began that succeeded. */
	#provenAt = Number.NEGATIVE_INFINITY;
	#triedAt = Number.NEGATIVE_INFINITY;
	#isRefused = false;
	/** After a refusal, when the first trial began that succeeded. */
	#takenSince: number | null = null;
	#running: Promise<boolean> | null = null;

	constructor(options: {
		/** Never rejects. */
		readonly tryWrite: () => Promise<WriteTrial>;
		/** With what was wrong; null when it is read again. */
		readonly onChange: (refusal: Error | null) => void;
		readonly now: () => number;
	}) {
		this.#try = options.tryWrite;
		this.#onChange = options.onChange;
		this.#now = options.now;
	}

	/** Before a read is sent: whether it may be trusted. A promise is to be awaited with the read. */
	ask(): boolean | Promise<boolean> {
		const now = this.#now();
		const age = now - this.#provenAt;
		if (this.#isRefused) {
			if (now - this.#triedAt >= RETRY_MS) void this.#begin(now);
			return false;
		}
		if (age < TRIAL_MS) return true;
		const running = this.#begin(now);
		return age < PROVEN_MS || running;
	}

	#begin(now: number): Promise<boolean> {
		this.#running ??= this.#run(now).finally(() => {
			this.#running = null;
		});
		return this.#running;
	}

	async #run(now: number): Promise<boolean> {
		this.#triedAt = now;
		const result = await this.#try();
		if (result === true) this.#taken(now);
		else if (result !== null) this.#refused(result);
		return result === true && !this.#isRefused;
	}

	#taken(at: number): void {
		if (this.#isRefused) {
			this.#takenSince ??= at;
			if (at - this.#takenSince < RESUME_MS) return;
			this.#isRefused = false;
			this.#onChange(null);
		}
		this.#provenAt = at;
	}

	#refused(refusal: Error): void {
		this.#takenSince = null;
		if (this.#isRefused) return;
		this.#isRefused = true;
		this.#onChange(refusal);
	}
}

/** From the last trial to the next. Milliseconds. */
const TRIAL_MS = 1_000;
/** How long a trial proves that what is read is right. */
export const PROVEN_MS = 2_000;
/** Between two trials of a server that refused one. */
const RETRY_MS = 250;
/** Longer than the longest pause of pendingDeletes.ts. */
export const RESUME_MS = 2_000;
