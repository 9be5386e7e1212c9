const SLICE_MS = 100;
/** The window is a second, or longer if that has too few calls: ten seconds at most. */
const SHORTEST = 10;
const LONGEST = 100;
/** Calls after which a share means something. */
const CALLS = 200;
const STANDBY_CALLS = 10;
/** Shares of late calls from which the primary counts as late, and up to which the standby does not. */
const PRIMARY_SHARE = 0.5;
const STANDBY_SHARE = 0.1;

type LateHosts = "none" | "primary" | "both" | "primaryAndPerhapsBoth";

interface Slice {
	number: number;
	calls: number;
	late: number;
	standbyCalls: number;
	standbyLate: number;
}

/** How many of the calls of the last seconds took longer than they should, at the primary and at its standby. */
export class LateCalls {
	readonly #slices: Slice[] = Array.from({ length: LONGEST }, () => ({
		number: -1,
		calls: 0,
		late: 0,
		standbyCalls: 0,
		standbyLate: 0,
	}));

	primary(isLate: boolean, now: number): void {
		const slice = this.#slice(now);
		slice.calls += 1;
		if (isLate) slice.late += 1;
	}

	standby(isLate: boolean, now: number): void {
		const slice = this.#slice(now);
		slice.standbyCalls += 1;
		if (isLate) slice.standbyLate += 1;
	}

	lateHosts(now: number): LateHosts {
		const sum = this.#sum(now, "calls");
		if (sum.calls < CALLS || sum.late < PRIMARY_SHARE * sum.calls)
			return "none";
		if (sum.standbyCalls < STANDBY_CALLS) return "primaryAndPerhapsBoth";
		return sum.standbyLate <= STANDBY_SHARE * sum.standbyCalls
			? "primary"
			: "both";
	}

	/** Whether the standby is as late as a primary that is left for that. To ask while it has all calls. */
	isStandbyLate(now: number): boolean {
		const { standbyCalls, standbyLate } = this.#sum(now, "standbyCalls");
		return standbyCalls >= CALLS && standbyLate >= PRIMARY_SHARE * standbyCalls;
	}

	/** Sums the last second, or longer if that has too few of these calls. */
	#sum(now: number, enough: "calls" | "standbyCalls") {
		const newest = Math.floor(now / SLICE_MS);
		const sum = { calls: 0, late: 0, standbyCalls: 0, standbyLate: 0 };
		for (let back = 0; back < LONGEST; back++) {
			if (back >= SHORTEST && sum[enough] >= CALLS) break;
			const number = newest - back;
			const slice = this.#slices[(number + LONGEST) % LONGEST] as Slice;
			if (slice.number !== number) continue;
			sum.calls += slice.calls;
			sum.late += slice.late;
			sum.standbyCalls += slice.standbyCalls;
			sum.standbyLate += slice.standbyLate;
		}
		return sum;
	}

	#slice(now: number): Slice {
		const number = Math.floor(now / SLICE_MS);
		const slice = this.#slices[number % LONGEST] as Slice;
		if (slice.number !== number) {
			slice.number = number;
			slice.calls = slice.late = slice.standbyCalls = slice.standbyLate = 0;
		}
		return slice;
	}
}
