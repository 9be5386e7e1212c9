import type { Random } from "corkboard";
import { ASIDES } from "./remarks.ts";
import { SUBJECTS, type Subject } from "./subjects.ts";

/** An invented person, whose name shows it. */
export interface Person {
	readonly key: string;
	readonly username: string;
	readonly name: string;
	readonly bio: string;
	/** What this person collects, favorite first. */
	readonly subjects: readonly Subject[];
	/** Milliseconds since 1970. */
	readonly joined: number;
}

const FIRST_NAMES =
	"Marigold Juniper Basil Clover Sorrel Fennel Bramble Tansy Quince Saffron Yarrow Thistle Cobalt Indigo Pebble Lichen Maple Nettle Ochre Paprika Rhubarb Sesame Tamarind Umber Walnut Zinnia Almond Barley Cinnamon Damson".split(
		" ",
	);

const LAST_NAMES =
	"Testwell Sampleton Mockridge Exampleby Loremford Demoworth Placeholt Fixturely Pretendham Draftmore Stubbington Seedley".split(
		" ",
	);

/** The user that GraphiQL signs in: it has followers, many boards and a secret board. */
export const DEMO_USERNAME = "marigold_01";
/** Others whom one may be there. */
export const OTHER_USERNAMES = ["juniper_01", "basil_01", "clover_01"];

/** In order of joining; the demo user is the first. */
export function makePeople(
	random: Random,
	count: number,
	joinedBetween: readonly [number, number],
): readonly Person[] {
	const [from, until] = joinedBetween;
	const surnames = FIRST_NAMES.map((_, first) =>
		first === 0 ? LAST_NAMES : random.shuffled(LAST_NAMES),
	);
	return Array.from({ length: count }, (_, n) => {
		const first = FIRST_NAMES[n % FIRST_NAMES.length] ?? "";
		const round = Math.floor(n / FIRST_NAMES.length);
		const last = surnames[n % FIRST_NAMES.length]?.[round] ?? "";
		if (last === "") {
			throw new RangeError(
				`There are names for at most ${FIRST_NAMES.length * LAST_NAMES.length} people, got ${count}.`,
			);
		}
		const username = `${first.toLowerCase()}_${String(round + 1).padStart(2, "0")}`;
		const favorite = random.pickPopular(SUBJECTS, 6);
		const second = random.pick(SUBJECTS.filter((other) => other !== favorite));
		return {
			key: `demo:user:${username}`,
			username,
			name: `${first} ${last}`,
			bio: `${favorite.name}, and some ${second.name.toLowerCase()}. ${random.pick(ASIDES)}`,
			subjects: [favorite, second],
			joined: Math.floor(from + ((until - from) * n) / count),
		};
	});
}
