import { type Random, seededRandom } from "../../src/util/random.ts";
import { drawZipf } from "../pools.ts";
import { QUERY_NAMES, type QueryName } from "../queries.ts";
import type { World } from "../world.ts";
import type { WriteName } from "./documents.ts";
import type { Asked, Names, Viewer } from "./systems.ts";
import type { Taken } from "./taken.ts";

/** Shares of all writes. */
const WRITE_SHARES: Readonly<Record<WriteName, number>> = {
	likePin: 0.4,
	followUser: 0.25,
	createPin: 0.2,
	updatePin: 0.15,
};
const PREFIX: Readonly<Record<QueryName, string>> = {
	q1: "p",
	q2: "b",
	q3: "u",
	q4: "u",
};
/** Draws of a like or a follow that is new; then the write is another one. */
const TRIES = 30;

export interface Blend {
	readonly viewers: readonly Viewer[];
	/** Whether also the reads are sent by viewers. */
	readonly isSigned: boolean;
	/** The share of writes in all requests. */
	readonly writes: number;
	readonly count: number;
	readonly seed: number;
}

/** Q1 to Q4, a quarter each, and writes of viewers, all on keys by Zipf's law. */
export function drawBlend(
	world: World,
	taken: Taken,
	{ viewers, isSigned, writes, count, seed }: Blend,
): readonly Asked[] {
	const random = seededRandom(seed);
	const keys = Object.fromEntries(
		QUERY_NAMES.map((name, n) => [
			name,
			drawZipf(world.pools[name].ids.length, count, seed + n),
		]),
	) as Record<QueryName, Uint32Array>;
	const keyOf = (name: QueryName, n: number) =>
		world.pools[name].ids[keys[name][n] as number] as number;
	return Array.from({ length: count }, (_, n): Asked => {
		const viewer = random.pick(viewers);
		if (random.chance(writes)) {
			const row = (name: QueryName) =>
				keyOf(name, random.integer(0, count - 1));
			return drawWrite({ random, viewer, taken, row, n: seed * count + n });
		}
		const name = random.pick(QUERY_NAMES);
		const key = `${PREFIX[name]}:${keyOf(name, n)}`;
		return {
			name,
			isWrite: false,
			viewer: isSigned ? viewer : null,
			variables: ({ id }) => ({ id: id(key) }),
		};
	});
}

interface Draw {
	readonly random: Random;
	readonly viewer: Viewer;
	readonly taken: Taken;
	/** A row of what a query reads, the popular ones more often. */
	readonly row: (name: QueryName) => number;
	readonly n: number;
}

function drawWrite(draw: Draw): Asked {
	let left = draw.random.fraction();
	for (const [name, share] of Object.entries(WRITE_SHARES)) {
		left -= share;
		if (left <= 0) return write(name as WriteName, draw);
	}
	return write("updatePin", draw);
}

function write(name: WriteName, draw: Draw): Asked {
	const { random, viewer, taken, row, n } = draw;
	const details = `Number ${n} of the blend`;
	switch (name) {
		case "likePin": {
			const pin = drawNew(
				() => row("q1"),
				(one) => taken.like(viewer.user, one),
			);
			if (pin === null) return write("createPin", draw);
			return likePin(viewer, pin, n);
		}
		case "followUser": {
			const user = drawNew(
				() => row("q3"),
				(one) => taken.follow(viewer.user, one),
			);
			if (user === null) return write("createPin", draw);
			return followUser(viewer, user, n);
		}
		case "createPin":
			return createPin(viewer, details, n);
		case "updatePin":
			return updatePin(viewer, random.pick(viewer.pins), details);
	}
}

function drawNew(
	draw: () => number,
	take: (drawn: number) => boolean,
): number | null {
	for (let n = 0; n < TRIES; n++) {
		const drawn = draw();
		if (take(drawn)) return drawn;
	}
	return null;
}

/** PostGraphile's clients give the whole row. A later one has the higher sequence number. */
function sequence(n: number): number {
	return Date.now() * 1_000 + (n % 1_000);
}

const isOfRows = ({ system }: Names) => system.flavor === "postgraphile";

export function likePin(viewer: Viewer, pin: number, n: number): Asked {
	return {
		name: "likePin",
		isWrite: true,
		viewer,
		variables: (names) => ({
			input: isOfRows(names)
				? { like: { pinId: pin, userId: viewer.user, seq: sequence(n) } }
				: { pinId: names.id(`p:${pin}`) },
		}),
	};
}

export function followUser(viewer: Viewer, user: number, n: number): Asked {
	return {
		name: "followUser",
		isWrite: true,
		viewer,
		variables: (names) => ({
			input: isOfRows(names)
				? {
						follow: {
							followerId: viewer.user,
							followeeId: user,
							seq: sequence(n),
						},
					}
				: { userId: names.id(`u:${user}`) },
		}),
	};
}

export function createPin(viewer: Viewer, details: string, n: number): Asked {
	const link = `https://example.com/blend/${n}`;
	return {
		name: "createPin",
		isWrite: true,
		viewer,
		variables: (names) => ({
			input: isOfRows(names)
				? {
						pin: {
							boardId: viewer.board,
							ownerId: viewer.user,
							details,
							link,
							seq: sequence(n),
						},
					}
				: { boardId: names.id(`b:${viewer.board}`), details, link },
		}),
	};
}

export function updatePin(viewer: Viewer, pin: number, details: string): Asked {
	return {
		name: "updatePin",
		isWrite: true,
		viewer,
		variables: (names) => ({
			input: isOfRows(names)
				? { rowId: pin, pinPatch: { details } }
				: { pinId: names.id(`p:${pin}`), details },
		}),
	};
}
