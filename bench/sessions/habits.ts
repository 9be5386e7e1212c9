import { readFileSync } from "node:fs";
import { UsageError } from "../../tools/namedProgram.ts";

/** What people do next is drawn by these weights, among what they can do then. A visit is one of another profile. */
export interface Habits {
	/** The share of people who are signed in. */
	readonly signedIn: number;
	/** Requests of a session. */
	readonly least: number;
	readonly most: number;
	/** The share of visits that go to followees, if there are any; the others go to people by in-degree. */
	readonly toFollowees: number;
	/** The person at rank n of in-degree is visited 1 / n^zipf as often as the first. */
	readonly zipf: number;
	/** Further pages of a board, at most. */
	readonly morePages: number;
	readonly onProfile: {
		/** The next boards of the profile. */
		readonly boards: number;
		readonly board: number;
		readonly follow: number;
		readonly visit: number;
	};
	readonly onBoard: {
		/** The next page. */
		readonly page: number;
		readonly pin: number;
		readonly visit: number;
	};
	readonly onPin: {
		readonly like: number;
		readonly save: number;
		/** Another pin of the page from which this one was opened. */
		readonly pin: number;
		/** The next page of that board. */
		readonly page: number;
		/** The profile of the owner or of somebody who likes the pin. */
		readonly person: number;
		readonly visit: number;
	};
	/** The share of writes that are read again at once. */
	readonly readsOwn: number;
}

/** Mostly looking, now and then a like. */
const USUAL: Habits = {
	signedIn: 0.85,
	least: 5,
	most: 30,
	toFollowees: 0.5,
	zipf: 0.9,
	morePages: 4,
	onProfile: { boards: 0.24, board: 0.64, follow: 0.07, visit: 0.08 },
	onBoard: { page: 3, pin: 0.45, visit: 0.15 },
	onPin: {
		like: 0.19,
		save: 0.045,
		pin: 0.32,
		page: 0.6,
		person: 0.15,
		visit: 0.25,
	},
	readsOwn: 0.5,
};

/** `usual`, or a JSON file with those that differ from it. */
export function readHabits(name: string): Habits {
	if (name === "usual") return USUAL;
	let given: Partial<Habits>;
	try {
		given = JSON.parse(readFileSync(name, "utf8")) as Partial<Habits>;
	} catch (error) {
		throw new UsageError(
			`--habits must be "usual" or a JSON file: ${(error as Error).message}`,
		);
	}
	const strange = Object.keys(given).filter((key) => !(key in USUAL));
	if (strange.length > 0) {
		throw new UsageError(
			`${name} has ${strange.join(", ")}; habits are ${Object.keys(USUAL).join(", ")}.`,
		);
	}
	return {
		...USUAL,
		...given,
		onProfile: { ...USUAL.onProfile, ...given.onProfile },
		onBoard: { ...USUAL.onBoard, ...given.onBoard },
		onPin: { ...USUAL.onPin, ...given.onPin },
	};
}
