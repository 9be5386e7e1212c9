import { CorkboardError } from "../../errors.ts";
import {
	type FleetLoad,
	keepsReplica,
	type Load,
	type LoadedRange,
	loadsByHost,
	type MovePlan,
	NO_LOAD,
	type PlannedMove,
	sumOf,
	withMove,
} from "./load.ts";

/**
 * Moves that take all shards of a primary to the others, so that these end as
 * level as they can with few moves: the largest range first, each to the
 * host with the most room, and cut only if it does not fit there. There are
 * fewer moves than ranges and targets. Throws CONFLICT if nobody can take them.
 */
export function planEmpty(fleet: FleetLoad, host: string): MovePlan {
	const before = loadsByHost(fleet);
	const own = fleet.ranges.filter((range) => range.host === host);
	const targets = [...fleet.hosts.keys()].filter(
		(to) => to !== host && keepsReplica(fleet, host, to),
	);
	if (targets.length === 0) {
		throw new CorkboardError(
			"CONFLICT",
			`No other primary can take what ${host} has: ${fleet.hosts.size === 1 ? "there is no other one" : "the others have no replica, and it has one"}.`,
		);
	}
	const shareOf = shares(sumOf(before.values()));
	const moved = own.flatMap(({ loads }) => loads);
	const filled = new Map(
		targets.map((to) => [to, shareOf(before.get(to) ?? NO_LOAD)]),
	);
	const level = (sum(filled.values()) + shareOf(sumOf(moved))) / targets.length;
	const open = new Map(filled);
	const moves: PlannedMove[] = [];
	let now = fleet;
	for (const range of own.toSorted(
		(a, b) => shareOf(sumOf(b.loads)) - shareOf(sumOf(a.loads)),
	)) {
		let rest = range;
		while (rest.loads.length > 0) {
			const isOpen = open.size > 0;
			const [to, share] = emptiest(isOpen ? open : filled);
			const count = isOpen
				? fitting(rest, level - share, shareOf)
				: rest.loads.length;
			const load = sumOf(rest.loads.slice(0, count));
			const { kind, first, host: from } = rest;
			const move: PlannedMove = {
				kind,
				range: [first, first + count - 1],
				from,
				to,
				...load,
			};
			moves.push(move);
			now = withMove(now, move);
			filled.set(to, share + shareOf(load));
			// A host for which a range was cut is full.
			if (count < rest.loads.length) open.delete(to);
			else if (isOpen) open.set(to, share + shareOf(load));
			rest = {
				...rest,
				first: first + count,
				loads: rest.loads.slice(count),
			};
		}
	}
	return { moves, before, after: loadsByHost(now) };
}

/** Sizes and writes count alike. */
function shares(total: Load): (load: Load) => number {
	const of = (part: number, all: number) => (all === 0 ? 0 : part / all);
	return ({ bytes, writes }) =>
		of(bytes, total.bytes) + of(writes, total.writes);
}

function emptiest(filled: ReadonlyMap<string, number>): [string, number] {
	return [...filled].reduce((least, each) =>
		each[1] < least[1] ? each : least,
	);
}

/** How many shards of a range go where there is so much room, at least one. */
function fitting(
	{ loads }: LoadedRange,
	room: number,
	shareOf: (load: Load) => number,
): number {
	let used = 0;
	let count = 0;
	for (const load of loads) {
		const share = shareOf(load);
		// The one that crosses the level goes where the most of it fits.
		if (used + share / 2 > room + ROUNDING) break;
		used += share;
		count++;
	}
	return Math.max(1, count);
}

const ROUNDING = 1e-9;

function sum(numbers: Iterable<number>): number {
	return [...numbers].reduce((total, each) => total + each, 0);
}
