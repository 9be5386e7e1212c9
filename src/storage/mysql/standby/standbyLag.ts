/**
 * How far a standby is behind its primary. A *beat* is the primary's clock,
 * written into a row there twice a second; the standby has the beat of the moment
 * up to which it has applied everything. Both numbers are of the primary's clock,
 * so that clocks of hosts and processes are never compared.
 *
 * While the primary answers, the standby is behind by the primary's time of now
 * less the beat that the standby has. When the primary is dead its beats have
 * ended too: nothing is written there any more, so what counts is how far the
 * standby was behind when the primary last answered. If the standby has beats
 * from well after that, only this process is cut off from a primary that lives,
 * and the time continues.
 *
 * Milliseconds are those of a clock of this process that only goes forward, beats
 * microseconds since 1970.
 */
export class StandbyLag {
	/** The primary's clock and when it was asked for; null before that. */
	#clock: { readonly us: number; readonly at: number } | null = null;
	#answeredAt = Number.NEGATIVE_INFINITY;
	#beat: number | null = null;

	/**
	 * The primary's clock, as it was at `askedAt` or later, and its own beat. One
	 * without beats says nothing: it may be back for a moment, and the standby has
	 * all that it had.
	 */
	notePrimary(us: number, beat: number, askedAt: number, now: number): void {
		if (beat < us - LIVE_US) return;
		this.#clock = { us, at: askedAt };
		this.noteAnswer(now);
	}

	/** The primary answered something. */
	noteAnswer(now: number): void {
		if (this.#clock === null) return;
		const until = Math.min(now, this.#clock.at + LIVE_US / 1_000);
		this.#answeredAt = Math.max(this.#answeredAt, until);
	}

	/** The newest beat that was read from the standby. */
	noteBeat(beat: number): void {
		if (this.#beat === null || beat > this.#beat) this.#beat = beat;
	}

	/** How far the standby is behind now; null while that is not known. */
	lagMs(now: number): number | null {
		return this.#beat === null ? null : this.lagOf(this.#beat, now);
	}

	/** How far behind an answer with that beat is; null while that is not known. */
	lagOf(beat: number, now: number): number | null {
		if (this.#clock === null || beat <= 0) return null;
		const { us, at } = this.#clock;
		const timeAt = (moment: number) => us + (moment - at) * 1_000;
		const last = timeAt(Math.min(now, this.#answeredAt));
		const until = beat > last + CUT_OFF_US ? timeAt(now) : last;
		return Math.max(0, (until - beat) / 1_000);
	}
}

/** A primary whose newest beat is older has none now. */
const LIVE_US = 1_500_000;

/** Beats from so long after the primary's last answer: it lives. Longer than the time between two beats and two questions. */
const CUT_OFF_US = 2_000_000;

/** A standby that is further behind is not used. */
export const MAX_LAG_MS = 5_000;
