import { type Random, seededRandom } from "../../src/util/random.ts";

/** A graph as both stores load it: index 0 is the first row, and lists are in the order of their edges. */
export interface Graph {
	readonly users: readonly {
		readonly username: string;
		readonly bio: string;
	}[];
	readonly boards: readonly {
		readonly owner: number;
		readonly name: string;
		readonly description: string;
	}[];
	/** Owned by the owner of their board. */
	readonly pins: readonly {
		readonly board: number;
		readonly details: string;
		readonly link: string;
	}[];
	readonly likes: readonly { readonly user: number; readonly pin: number }[];
	readonly follows: readonly { readonly from: number; readonly to: number }[];
}

/** At scale 1; every number grows with the scale but that of the longest board. */
const USERS = 10_000;
const BOARDS_PER_USER = 4;
const PINS_PER_USER = 50;
const LIKES_PER_USER = 100;
const FOLLOWS_PER_USER = 50;
/** Pins of the longest board, so that its hundredth page of 50 can be read; a tenth of it in tiny graphs. */
const LONGEST_BOARD = 5_050;
const TINY = 0.02;

const WORDS =
	"rustic cozy minimal modern vintage wooden kitchen garden table summer winter easy quick homemade chocolate lemon chicken pasta salad bread recipe ideas for your small living room bedroom bathroom wall decor with natural light and soft linen the best way to build a raised bed planter paper craft tutorial kids birthday party outfit wedding dress lace shoes travel guide hiking trail map sunrise mountain lake cabin design sketch watercolor poster quote yoga workout plan healthy snacks crème brûlée naïve jalapeño “must-try” pallets storage tips before after makeover mood board palette autumn colors knitting pattern".split(
		" ",
	);

/** The same scale and seed give the same graph. Lists have long tails, as in social graphs. */
export function generateGraph(scale: number, seed: number): Graph {
	const random = seededRandom(seed);
	const userCount = Math.max(20, Math.round(USERS * scale));
	const users = Array.from({ length: userCount }, (_, n) => ({
		username: `${word(random).replaceAll(/[^a-z]/g, "")}_${n}`,
		bio: sentence(random, 5, 20),
	}));
	const people = random.shuffled(users.map((_, n) => n));
	const longest = scale < TINY ? LONGEST_BOARD / 10 : LONGEST_BOARD;
	const boards = Array.from(
		{ length: userCount * BOARDS_PER_USER },
		(_, n) => ({
			owner: n < userCount ? n : skewed(random, people, 1.3),
			name: sentence(random, 2, 5),
			description: sentence(random, 6, 18),
		}),
	);
	return {
		users,
		boards,
		pins: pinsOf(random, boards.length, userCount, longest),
		...edgesOf(random, userCount, longest),
	};
}

function pinsOf(
	random: Random,
	boardCount: number,
	userCount: number,
	longest: number,
): Graph["pins"] {
	// Board 0 is the longest; the others share the rest.
	const others = random.shuffled(
		Array.from({ length: boardCount - 1 }, (_, n) => n + 1),
	);
	const rest = userCount * PINS_PER_USER;
	const boards = random.shuffled([
		...Array.from({ length: longest }, () => 0),
		...Array.from({ length: rest }, () => skewed(random, others, 1.7)),
	]);
	return boards.map((board) => ({
		board,
		details: sentence(random, 8, 26),
		link: `https://www.example.com/${random.integer(0, 1e9).toString(36)}`,
	}));
}

function edgesOf(
	random: Random,
	userCount: number,
	longest: number,
): Pick<Graph, "likes" | "follows"> {
	const pinCount = longest + userCount * PINS_PER_USER;
	const pins = random.shuffled(Array.from({ length: pinCount }, (_, n) => n));
	const people = random.shuffled(
		Array.from({ length: userCount }, (_, n) => n),
	);
	const popular = random.shuffled(people);
	const likes = distinct(userCount * LIKES_PER_USER, () => ({
		user: skewed(random, people, 1.6),
		pin: skewed(random, pins, 2.2),
	}));
	const follows = distinct(
		// Fewer people than follows each: a small graph has all pairs soon.
		userCount * Math.min(FOLLOWS_PER_USER, Math.floor(userCount / 8)),
		() => ({
			from: skewed(random, people, 1.6),
			to: skewed(random, popular, 2),
		}),
	).filter(({ from, to }) => from !== to);
	return { likes, follows };
}

function distinct<T extends Record<string, number>>(
	count: number,
	draw: () => T,
): T[] {
	const seen = new Set<string>();
	const found: T[] = [];
	for (let tries = 0; found.length < count && tries < count * 8; tries++) {
		const item = draw();
		const name = Object.values(item).join();
		if (seen.has(name)) continue;
		seen.add(name);
		found.push(item);
	}
	return found;
}

/** The first items are drawn more often, the more so the higher the power. */
function skewed(
	random: Random,
	items: readonly number[],
	power: number,
): number {
	return items[Math.floor(items.length * random.fraction() ** power)] as number;
}

function sentence(random: Random, least: number, most: number): string {
	const words = Array.from({ length: random.integer(least, most) }, () =>
		random.chance(0.004) ? `"${word(random)}"` : word(random),
	);
	const text = words.join(" ");
	return text.charAt(0).toUpperCase() + text.slice(1);
}

function word(random: Random): string {
	return random.pick(WORDS);
}
