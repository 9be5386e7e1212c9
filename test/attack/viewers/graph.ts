import type { Random } from "../../../src/util/random.ts";

/** Who reads and writes. The first ones have lists longer than most heads. */
const VIEWERS = 16;
/** Whom they follow and block, and who likes what they have. */
const OTHERS = 70;
/** Pins of each board: within one head, and behind the heads of first pages. */
const BOARDS = [
	...[400, 270, 180, 140, 110, 90, 70, 60, 50, 45],
	...[40, 36, 33, 30, 26, 20, 12, 5, 1, 0],
];
/** How many the first viewers have, one after another. The others have as many as the last of these. */
const LIKES = [350, 90, 45, 40, 33, 20, 5];
const FOLLOWS = [60, 45, 34, 30, 8];
const BLOCKS = [40, 34, 8, 3, 1, 0];

/** The lines of an import: users with boards of very different lengths, some of them secret, and who likes, follows and blocks whom. */
export function linesOfGraph(random: Random): string {
	const viewers = Array.from({ length: VIEWERS }, (_, n) => `viewer${n}`);
	const others = Array.from({ length: OTHERS }, (_, n) => `other${n}`);
	const users = [...viewers, ...others];
	const lines: object[] = users.map((username) => ({
		type: "User",
		key: username,
		fields: { username },
	}));
	const pins: string[] = [];
	for (const [n, count] of BOARDS.entries()) {
		const owner = viewers[(n * 5) % VIEWERS];
		const fields = { owner, name: `Board ${n}`, secret: n % 4 === 3 };
		lines.push({ type: "Board", key: `board${n}`, fields });
		for (let pin = 0; pin < count; pin++) {
			const key = `pin${n}-${pin}`;
			pins.push(key);
			lines.push({
				type: "Pin",
				key,
				fields: { owner, board: `board${n}`, details: `${pin}` },
			});
		}
	}
	const edges = new Set<string>();
	const edge = (name: string, from: string, to: string) => {
		const key = `${name} ${from} ${to}`;
		if (from === to || edges.has(key)) return;
		edges.add(key);
		lines.push({ edge: name, from, to });
	};
	for (const [n, viewer] of viewers.entries()) {
		const of = (counts: readonly number[]) =>
			counts[Math.min(n, counts.length - 1)];
		for (const pin of random.shuffled(pins).slice(0, of(LIKES))) {
			edge("likePin", viewer, pin);
		}
		for (const user of random.shuffled(users).slice(0, of(FOLLOWS))) {
			edge("followUser", viewer, user);
		}
		for (const user of random.shuffled(others).slice(0, of(BLOCKS))) {
			edge("blockUser", viewer, user);
		}
	}
	for (const user of others) {
		edge("likePin", user, pins[0] as string);
		edge("likePin", user, random.pick(pins));
		edge("followUser", user, viewers[0] as string);
		edge("followUser", user, random.pick(viewers));
	}
	return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}
