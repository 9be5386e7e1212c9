import {
	add,
	type FleetLoad,
	keepsReplica,
	type Load,
	type LoadedRange,
	loadsByHost,
	type MovePlan,
	NO_LOAD,
	type PlannedMove,
	subtract,
	sumOf,
	withMove,
} from "./load.ts";

/** A host that has so much more than the mean is level enough: what a move saves has to be worth a copy. */
const TOLERANCE = 0.1;
/** A move has to take so much of what is uneven. */
const LEAST_GAIN = 0.05;
/** Below, a host's writes are noise. Rows a second, on the mean. */
const LEAST_WRITES = 1;

/**
 * Which few moves would level the sizes and the writes of primaries best: the
 * best one, then the best one after that. Each takes the first or the last shards
 * of a range, so that ranges stay few. No host gets further above the mean than
 * one was, and nothing goes to a host without a replica that had one.
 */
export function planBalance(fleet: FleetLoad, most: number): MovePlan {
	const before = loadsByHost(fleet);
	const moves: PlannedMove[] = [];
	let now = fleet;
	while (moves.length < most) {
		const move = bestMove(now);
		if (move === null) break;
		moves.push(move);
		now = withMove(now, move);
	}
	return { moves, before, after: loadsByHost(now) };
}

/** Loads as multiples of the mean: 1 is level. */
class Scale {
	readonly #mean: Load;
	readonly #hosts: number;

	constructor(loads: ReadonlyMap<string, Load>) {
		const { bytes, writes } = sumOf(loads.values());
		this.#hosts = loads.size;
		const mean = { bytes: bytes / loads.size, writes: writes / loads.size };
		this.#mean = {
			...mean,
			writes: mean.writes < LEAST_WRITES ? 0 : mean.writes,
		};
	}

	of({ bytes, writes }: Load): Load {
		const { bytes: meanBytes, writes: meanWrites } = this.#mean;
		return {
			bytes: meanBytes === 0 ? 0 : bytes / meanBytes,
			writes: meanWrites === 0 ? 0 : writes / meanWrites,
		};
	}

	/** The sum of squares: least where all are level. */
	unevenness(loads: Iterable<Load>): number {
		const squares = [...loads].map((load) => this.square(load));
		const level = this.square(this.#mean) * this.#hosts;
		return squares.reduce((sum, each) => sum + each, 0) - level;
	}

	square(load: Load): number {
		const { bytes, writes } = this.of(load);
		return bytes ** 2 + writes ** 2;
	}
}

/** Null if all is level enough, or no move makes it better. */
function bestMove(fleet: FleetLoad): PlannedMove | null {
	const loads = loadsByHost(fleet);
	const scale = new Scale(loads);
	const top = Math.max(
		...[...loads.values()].map((load) => peakOf(scale.of(load))),
	);
	if (top <= 1 + TOLERANCE) return null;
	const least = scale.unevenness(loads.values()) * LEAST_GAIN;
	let best: PlannedMove | null = null;
	let bestGain = least;
	for (const range of fleet.ranges) {
		const source = loads.get(range.host) ?? NO_LOAD;
		for (const { first, last, load } of endsOf(range)) {
			const left = scale.square(subtract(source, load));
			const saved = scale.square(source) - left;
			if (saved <= bestGain) continue;
			for (const [to, target] of loads) {
				if (to === range.host || !keepsReplica(fleet, range.host, to)) continue;
				if (peakOf(scale.of(add(target, load))) > top) continue;
				const cost = scale.square(add(target, load)) - scale.square(target);
				const gain = saved - cost;
				if (gain <= bestGain) continue;
				bestGain = gain;
				const { kind, host: from } = range;
				best = { kind, range: [first, last], from, to, ...load };
			}
		}
	}
	return best;
}

function peakOf({ bytes, writes }: Load): number {
	return Math.max(bytes, writes);
}

/** The first shards of a range, of each number, and the last ones. */
function* endsOf({ first, loads }: LoadedRange): Generator<{
	readonly first: number;
	readonly last: number;
	readonly load: Load;
}> {
	const end = first + loads.length - 1;
	let head = NO_LOAD;
	let tail = NO_LOAD;
	for (let at = 0; at < loads.length; at++) {
		head = add(head, loads[at] ?? NO_LOAD);
		yield { first, last: first + at, load: head };
		if (at === loads.length - 1) return;
		tail = add(tail, loads[loads.length - 1 - at] ?? NO_LOAD);
		yield { first: end - at, last: end, load: tail };
	}
}
