import { createReadStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createGunzip } from "node:zlib";
import { type Random, seededRandom } from "../../src/util/random.ts";
import { UsageError } from "../../tools/namedProgram.ts";
import type { Graph } from "../graph/generate.ts";

/** The files of a real graph: a line of pins for each person who saved them, and pairs of people who follow each other. */
const SAVES = "pinterest-saves.txt.gz";
const FOLLOWS = "github-follows.csv.gz";

/** A generated graph has so many times the people of its cut, as a real one has others around those who are looked at. */
const AROUND = 6;
const PINS = 9_836;
const SAVES_EACH = 27;

/** Lengths of boards by Pareto's law: half of them have more than twice the least. */
const LEAST_PINS = 7;
const MOST_PINS = 200;

const WORDS =
	"linen oak copper fern slate saffron harbour lantern quilt pebble cedar indigo meadow ribbon marble thistle rustic cozy vintage wooden garden table summer winter easy homemade chocolate lemon pasta bread recipe ideas small living bedroom wall decor light soft raised planter paper craft birthday wedding lace travel hiking trail mountain lake cabin sketch watercolor poster healthy crème naïve jalapeño".split(
		" ",
	);

/** A social graph before it is cut and put on boards. */
interface Crowd {
	/** By person: whom they follow, and who follows them. */
	readonly mutual: readonly (readonly number[])[];
	/** Lists of what was saved, in order. */
	readonly saves: readonly (readonly number[])[];
}

export interface Cut {
	/** A folder with a real graph; null: a generated one of the same shape. */
	readonly folder: string | null;
	readonly users: number;
	/** `walk`: whom a random walk with restarts meets; `head`: the first ones. */
	readonly kind: "walk" | "head";
	/** Lists of saves of each person. */
	readonly rows: number;
	readonly seed: number;
}

export async function peopleGraph(cut: Cut): Promise<Graph> {
	const random = seededRandom(cut.seed);
	const crowd =
		cut.folder === null
			? generateCrowd(cut, random)
			: await readCrowd(cut.folder);
	if (crowd.mutual.length < cut.users) {
		throw new UsageError(
			`--users must be at most ${crowd.mutual.length}, of so many the graph is.`,
		);
	}
	const people =
		cut.kind === "walk"
			? walk(crowd, cut.users, random)
			: Array.from({ length: cut.users }, (_, n) => n);
	return onBoards(crowd, people, cut, random);
}

async function readCrowd(folder: string): Promise<Crowd> {
	const mutual: number[][] = [];
	const listOf = (person: number) => {
		mutual[person] ??= [];
		return mutual[person];
	};
	for await (const line of linesOf(folder, FOLLOWS)) {
		const [a = Number.NaN, b = Number.NaN] = line.split(",").map(Number);
		// The first line names the columns.
		if (Number.isNaN(a) || a === b) continue;
		listOf(a).push(b);
		listOf(b).push(a);
	}
	const saves: number[][] = [];
	for await (const line of linesOf(folder, SAVES)) {
		saves.push(line.split(" ").slice(1).map(Number));
	}
	return { mutual: Array.from(mutual, (list) => list ?? []), saves };
}

function linesOf(folder: string, name: string): AsyncIterable<string> {
	const file = createReadStream(join(folder, name));
	const unzipped = createGunzip();
	file.on("error", (error) => unzipped.destroy(error));
	return createInterface({
		input: file.pipe(unzipped),
		crlfDelay: Number.POSITIVE_INFINITY,
	});
}

/** Few with very many, most with a handful; friends of friends are likelier. */
function generateCrowd({ users, rows }: Cut, random: Random): Crowd {
	const count = users * AROUND;
	const mutual: number[][] = [];
	const ends: number[] = [];
	for (let person = 0; person < count; person++) {
		const own = new Set<number>();
		const wanted = person === 0 ? 0 : Math.min(person, pareto(random, 2, 60));
		let friend = 0;
		for (let tries = 0; own.size < wanted && tries < wanted * 4; tries++) {
			const isOfFriend = own.size > 0 && random.chance(0.5);
			const other: number = isOfFriend
				? random.pick(mutual[friend] as number[])
				: (ends[random.integer(0, ends.length - 1)] ?? 0);
			if (other === person || own.has(other)) continue;
			own.add(other);
			if (!isOfFriend) friend = other;
		}
		mutual.push([...own]);
		for (const other of own) {
			(mutual[other] as number[]).push(person);
			ends.push(person, other);
		}
	}
	const pins = Array.from({ length: PINS }, (_, n) => n);
	return {
		mutual,
		saves: Array.from({ length: users * rows }, () =>
			Array.from(
				{ length: Math.min(150, pareto(random, SAVES_EACH / 2, 150)) },
				() => random.pickPopular(pins, 200),
			),
		),
	};
}

function pareto(random: Random, least: number, most: number): number {
	return Math.min(most, Math.floor(least / (1 - random.fraction())));
}

/** Goes back to where it began at every seventh step, and begins elsewhere when it meets nobody new. */
function walk(
	{ mutual }: Crowd,
	count: number,
	random: Random,
): readonly number[] {
	const met = new Set<number>();
	while (met.size < count) {
		const start = random.integer(0, mutual.length - 1);
		let at = start;
		for (let vain = 0; met.size < count && vain < 1_000; ) {
			const before = met.size;
			met.add(at);
			vain = met.size > before ? 0 : vain + 1;
			const next = mutual[at] ?? [];
			at = next.length === 0 || random.chance(0.15) ? start : random.pick(next);
		}
	}
	return [...met];
}

function onBoards(
	{ mutual, saves }: Crowd,
	people: readonly number[],
	{ rows }: Cut,
	random: Random,
): Graph {
	const indexOf = new Map(people.map((person, n) => [person, n]));
	const text = (most: number) =>
		Array.from({ length: random.integer(2, most) }, () =>
			random.pick(WORDS),
		).join(" ");
	const boards: Graph["boards"][number][] = [];
	const pins: Graph["pins"][number][] = [];
	const likes: Graph["likes"][number][] = [];
	const follows: Graph["follows"][number][] = [];
	const firstSave = new Map<number, number>();
	let saved = 0;
	for (const user of people.keys()) {
		let left = 0;
		const liked = new Set<number>();
		for (let row = 0; row < rows; row++) {
			for (const image of saves[(user * rows + row) % saves.length] ?? []) {
				if (left === 0) {
					left = pareto(random, LEAST_PINS, MOST_PINS);
					boards.push({ owner: user, name: text(5), description: text(14) });
				}
				left--;
				const origin = firstSave.get(image);
				if (origin === undefined) firstSave.set(image, pins.length);
				// The user who saved it first is liked for it by every third who saves it too.
				else if (++saved % 3 === 0 && !liked.has(origin)) {
					liked.add(origin);
					likes.push({ user, pin: origin });
				}
				pins.push({
					board: boards.length - 1,
					details: `${text(18)}, image ${image}`,
					link: `https://www.example.com/image/${image}`,
				});
			}
		}
		for (const other of mutual[people[user] as number] ?? []) {
			const to = indexOf.get(other);
			if (to !== undefined) follows.push({ from: user, to });
		}
	}
	return {
		users: people.map((_, n) => ({ username: `pinner_${n}`, bio: text(20) })),
		boards,
		pins,
		likes: random.shuffled(likes),
		follows: random.shuffled(follows),
	};
}
